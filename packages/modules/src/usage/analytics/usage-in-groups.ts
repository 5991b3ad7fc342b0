import type { RequestContext } from '@counterfoil/engine/define';
import type { WindowRhythm } from '@counterfoil/kernel';
import { definitionOf } from '../roll-ups/definition.ts';
import { rolledUpReadings } from '../roll-ups/readings.ts';
import type { BreakdownQuestion } from './breakdown.ts';
import { foldedEvents } from './folded-events.ts';
import { GroupFold, type GroupUsage } from './group-fold.ts';
import { groupedEvents } from './grouped-events.ts';
import { windowStartsOf } from './limits.ts';
import { canBeSummed, summedInTables } from './summing-queries.ts';
import { WindowIndex } from './window-index.ts';

/** A question about usage in groups, with the rhythm of its windows; null for none. */
export type GroupQuestion = Omit<BreakdownQuestion, 'windowStarts'> & {
  readonly windows: WindowRhythm | null;
};

/**
 * The usage of each group in which something was counted: from what is kept of whole hours where no group, source or
 * property is asked for, else summed up by the database, and event by event where that knows no way.
 */
export async function usageInGroups(
  context: RequestContext,
  asked: GroupQuestion,
): Promise<readonly GroupUsage[]> {
  const { windows, ...rest } = asked;
  const question = {
    ...rest,
    windowStarts: windows === null ? [] : windowStartsOf(windows, asked.span),
  };
  const kept = await keptOfHours(context, question, windows);
  if (kept) return kept;
  if (canBeSummed(question.aggregation)) return await summedInTables(context, question);
  return await foldedEvents(question, groupedEvents(context, question, question.span));
}

/** Null where nothing is kept for such a question that tells the events too. */
async function keptOfHours(
  context: RequestContext,
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
