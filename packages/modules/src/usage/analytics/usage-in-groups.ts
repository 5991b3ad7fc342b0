import type { AskingContext } from '@counterfoil/engine/define';
import type { WindowRhythm } from '@counterfoil/kernel';
import { keepForTheNext } from '../groupings/keep.ts';
import { definitionOf } from '../roll-ups/definition.ts';
import { rolledUpReadings } from '../roll-ups/readings.ts';
import type { BreakdownQuestion } from './breakdown.ts';
import { foldedEvents } from './folded-events.ts';
import { GroupFold, type GroupUsage } from './group-fold.ts';
import { groupedEvents } from './grouped-events.ts';
import { groupsOfHours, groupsWanted } from './groups-of-hours.ts';
import { windowStartsOf } from './limits.ts';
import { canBeSummed, summedInTables } from './summing-queries.ts';
import { WindowIndex } from './window-index.ts';

/** A question about usage in groups, with the rhythm of its windows; null for none. */
export type GroupQuestion = Omit<BreakdownQuestion, 'windowStarts'> & {
  readonly windows: WindowRhythm | null;
};

/**
 * The usage of each group in which something was counted: from what is kept of whole hours where something is, else
 * summed up by the database, and event by event where that knows no way.
 */
export async function usageInGroups(
  context: AskingContext,
  asked: GroupQuestion,
): Promise<readonly GroupUsage[]> {
  const { windows } = asked;
  const question = inWindows(asked);
  const kept =
    (await keptOfHours(context, question, windows)) ??
    (await groupsOfHours(context, question, windows));
  if (kept) return kept;
  const groups = await groupsOfEvents(context, question);
  const { of, span } = question;
  const events = groups.reduce((sum, group) => sum + group.events, 0);
  await keepForTheNext(context, groupsWanted(question)?.definition ?? null, { of, span, events });
  return groups;
}

/** A question with the beginnings of its windows. */
export const inWindows = ({ windows, ...question }: GroupQuestion): BreakdownQuestion => ({
  ...question,
  windowStarts: windows === null ? [] : windowStartsOf(windows, question.span),
});

const groupsOfEvents = (
  context: AskingContext,
  question: BreakdownQuestion,
): Promise<readonly GroupUsage[]> =>
  canBeSummed(question.aggregation)
    ? summedInTables(context, question)
    : foldedEvents(question, groupedEvents(context, question, question.span));

/** Null where nothing is kept for such a question that tells the events too. */
async function keptOfHours(
  context: AskingContext,
  question: BreakdownQuestion,
  windows: WindowRhythm | null,
): Promise<readonly GroupUsage[] | null> {
  const { of, aggregation, filters, sources, groupings, span, windowStarts } = question;
  const { keeps } = definitionOf(of.eventName, aggregation, filters);
  if (keeps !== 'sums' || sources.length > 0 || groupings.length > 0) return null;
  const readings = await rolledUpReadings(context, { ...question, windows, fills: false }, span);
  if (readings === null) return null;
  const fold = new GroupFold(question);
  const index = new WindowIndex(windowStarts);
  for await (const reading of readings) {
    const { measured, at } = reading;
    const events = measured.kind === 'sums' ? measured.count : measured.kind === 'bad' ? 0 : 1;
    if (events === 0) continue;
    fold.addToWhole([], reading, events);
    if (windows !== null) fold.addToWindow([], index.of(at), reading, events);
  }
  return fold.values();
}
