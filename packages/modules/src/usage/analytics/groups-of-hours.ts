import type { AskingContext } from '@counterfoil/engine/define';
import type { WindowRhythm } from '@counterfoil/kernel';
import type { Reading } from '../aggregation/aggregate.ts';
import { keepNoMore } from '../groupings/keep.ts';
import { keptGroups } from '../groupings/queries.ts';
import { type Definition, groupingDefinition } from '../roll-ups/definition.ts';
import { hoursOf } from '../roll-ups/readings.ts';
import { stretchesOf } from '../roll-ups/stretches.ts';
import type { BreakdownQuestion } from './breakdown.ts';
import { edgesOf } from './group-edges.ts';
import { GroupFold, type GroupUsage } from './group-fold.ts';
import { analyticsLimits, tooManyGroups, tooManyPoints } from './limits.ts';
import { WindowIndex } from './window-index.ts';

/** The sums that a question about groups takes, all of them or those of some values. */
interface GroupsWanted {
  readonly definition: Definition;
  readonly values: readonly string[] | null;
}

/** Null where a question is about other than the values of one property, or sums are no answer. */
export function groupsWanted({
  of,
  aggregation,
  filters,
  sources,
  groupings,
}: BreakdownQuestion): GroupsWanted | null {
  const [grouping] = groupings;
  if (groupings.length !== 1 || sources.length > 0 || grouping?.kind !== 'property') return null;
  const { name } = grouping;
  // A filter by the property itself chooses among its groups; of several, one does.
  const own = filters.findLastIndex(({ key }) => key === name);
  const others = filters.filter((_, place) => place !== own);
  const definition = groupingDefinition(of.eventName, aggregation, others, name);
  return definition && { definition, values: filters[own]?.values ?? null };
}

/** The usage of groups from sums that are kept, and from events beside whole hours. Null where these are not kept. */
export async function groupsOfHours(
  context: AskingContext,
  question: BreakdownQuestion,
  windows: WindowRhythm | null,
): Promise<readonly GroupUsage[] | null> {
  const { of, span, windowStarts } = question;
  const wanted = groupsWanted(question);
  const hours = hoursOf(span, windows);
  if (wanted === null || hours === null) return null;
  const place = { customer: of.customer, span: hours, byHour: windows !== null };
  const kept = await keptGroups(context, { ...wanted, ...place });
  if (kept === null) return null;
  const stretches = windows && stretchesOf(windows);
  if (stretches && !kept.every(({ reading }) => stretches.fits(reading.at))) return null;

  const fold = new GroupFold(question);
  const index = new WindowIndex(windowStarts);
  const add = (group: readonly string[], reading: Reading, events: number): void => {
    fold.addToWhole(group, reading, events);
    if (windows !== null) fold.addToWindow(group, index.of(reading.at), reading, events);
  };
  const { early, late } = edgesOf(context, question, { span, hours });
  for await (const { group, reading, events } of early) add(group, reading, events);
  for (const { text, reading, events } of kept) add([text ?? ''], reading, events);
  for await (const { group, reading, events } of late) add(group, reading, events);
  if (fold.size > analyticsLimits.items) {
    await keepNoMore(context, wanted.definition);
    throw tooManyGroups();
  }
  if (fold.points > analyticsLimits.points) throw tooManyPoints();
  return fold.values();
}
