import type { Span } from '@counterfoil/kernel';
import type { Reading } from '../aggregation/aggregate.ts';
import { type Definition, groupingDefinition } from '../roll-ups/definition.ts';
import {
  type Beside,
  besideHours,
  hoursOf,
  inOrder,
  type Readings,
  wholeHours,
} from '../roll-ups/readings.ts';
import { stretchesOf } from '../roll-ups/stretches.ts';
import type { UsageQuestion } from '../usage-question.ts';
import type { UsageReads } from '../usage-reads.ts';
import { keptGroups } from './queries.ts';

/** The sums of which a question with filters takes some groups. */
interface FilteredGroups {
  readonly definition: Definition;
  readonly values: readonly string[];
}

/** Sums by the property that is filtered last, which others choose the events of; null where sums are no answer. */
export function groupsOfFilters({
  of,
  aggregation,
  filters,
}: Pick<UsageQuestion, 'of' | 'aggregation' | 'filters'>): FilteredGroups | null {
  const last = filters.at(-1);
  if (!last) return null;
  const definition = groupingDefinition(of.eventName, aggregation, filters.slice(0, -1), last.key);
  return definition && { definition, values: last.values };
}

/**
 * The readings of a span of a question with filters, from sums by a property that they choose values of. Null where these are
 * not kept.
 */
export async function filteredReadings(
  context: UsageReads,
  question: UsageQuestion,
  span: Span,
  beside?: Beside,
): Promise<Readings | null> {
  const { of, windows } = question;
  const groups = groupsOfFilters(question);
  const hours = hoursOf(span, windows);
  if (groups === null || hours === null) return null;
  const { customer } = of;
  const byHour = windows !== null;
  const kept = await keptGroups(context, { ...groups, customer, span: hours, byHour });
  if (kept === null) return null;
  const { edges, raw } = besideHours(context, question, { span, hours, beside });
  const sums = kept.map(({ reading }) => reading);
  const stretches = windows === null ? [] : [stretchesOf(windows)];
  const within = await wholeHours(onePage(sums), stretches, (reading) => [reading], raw);
  return within && inOrder([edges.before, within, edges.after]);
}

async function* onePage(rows: readonly Reading[]): AsyncGenerator<readonly Reading[], void> {
  yield rows;
}
