import type { AskingContext } from '@counterfoil/engine/define';
import { millisecondsOf, Problem, type Span } from '@counterfoil/kernel';
import { type Definition, digestOf } from '../roll-ups/definition.ts';
import type { UsageOf } from '../usage-of.ts';
import { valuesAmong } from './queries.ts';
import {
  isSettled,
  type KeptDefinition,
  keepGrouping,
  leaveGroupingOut,
  usageGrouping,
} from './usage-grouping.ts';

/** Events that a question may count before sums are kept for the next one of its kind. */
const eventsMaximum = 20_000;
/** A question on less than that has few whole hours. */
const shortMilliseconds = 86_400_000;

/** Events that are looked at for their values, and different values among them with which sums are of use. */
const sampled = 20_000;
const valuesMaximum = 500;

/** A question that was answered from events. */
export interface AnsweredQuestion {
  readonly of: UsageOf;
  readonly span: Span;
  /** The events that it counted. */
  readonly events: number;
}

/**
 * Has sums kept for questions like one that has just counted many events. Neither the answer nor its position depends on it: where it
 * cannot be done now, the next such question is counted from events too, and asks again.
 */
export async function keepForTheNext(
  context: AskingContext,
  definition: Definition | null,
  { of, span, events }: AnsweredQuestion,
): Promise<void> {
  if (definition === null || events < eventsMaximum) return;
  if (millisecondsOf(span.end) - millisecondsOf(span.start) <= shortMilliseconds) return;
  await note(context, definition, async (data, id) => {
    if (isSettled(await context.recalled.load(usageGrouping, id), data)) return null;
    const values = await valuesAmong(context, data.group_by, { of, span, events: sampled });
    return values <= valuesMaximum ? keepGrouping(data) : leaveGroupingOut(data);
  });
}

/** Has a grouping kept no more: it has more values than an answer has groups. */
export const keepNoMore = (context: AskingContext, definition: Definition): Promise<void> =>
  note(context, definition, async (data) => leaveGroupingOut(data));

type Decide = ReturnType<typeof keepGrouping>;

async function note(
  context: AskingContext,
  { event_name, field, expression, filters, group_by }: Definition,
  decisionOn: (data: KeptDefinition, id: string) => Promise<Decide | null>,
): Promise<void> {
  if (group_by === null) return;
  const data: KeptDefinition = { event_name, field, expression, filters, group_by };
  const id = digestOf(event_name);
  try {
    const decide = await decisionOn(data, id);
    if (decide) await context.beside().execute(usageGrouping, id, decide);
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
  }
}
