import type { AskingContext } from '@counterfoil/engine/define';
import { type DecimalText, decimal, type Span, textOf, zero } from '@counterfoil/kernel';
import { type LineCommitment, type RatedCommitment, rateCommitment } from '../../rating/index.ts';
import { lineChangeOf, type SubscriptionEvent } from '../events.ts';
import type { LineData } from '../lines/line.ts';
import { closingLines, type Settlement, type SettlementCommitment } from '../settlement/index.ts';
import { type Subscription, subscription } from '../subscription.ts';
import { linesOf, settlementContext } from '../time/due.ts';
import {
  type BilledStretch,
  type Charging,
  exactCostOf,
  ratedUsage,
  type UsedCommitments,
} from './rated-line.ts';

/**
 * The commitments that usage of the period that runs is held against, as its settlement will have it. A span that is not within that
 * period is held against nothing: it is no time that is settled.
 */
export function heldIn(state: Subscription, span: Span): readonly SettlementCommitment[] {
  const { opened, end_date } = state;
  if (opened === null || span.start < opened.start || span.end > opened.end) return [];
  const lines = closingLines(linesOf(state, end_date), settlementContext(state, opened));
  return lines.flatMap((line) => (line.kind === 'commitment' ? [line] : []));
}

/** The commitment of a line in a span of the period that runs, with what was used of it before; null for none. */
export async function usedCommitment(
  context: AskingContext,
  charging: Charging,
  line: Pick<LineData, 'id' | 'commitment'>,
  part: Span,
  held: readonly SettlementCommitment[],
): Promise<UsedCommitments | null> {
  const { state, isClosing = false } = charging;
  const { commitment } = line;
  const { opened } = state;
  const isRunning = opened !== null && part.start >= opened.start;
  if (commitment?.windowed && (isClosing || isRunning)) {
    const windowed: LineCommitment = {
      kind: 'windowed',
      terms: commitment,
      slots: [],
      as_of: isClosing ? part.end : context.now,
    };
    return { gross: windowed, net: windowed };
  }
  const own = held.find(({ line_item_id }) => line_item_id === line.id);
  if (!own) return null;
  const earlier = await usedBefore(context, charging, own, part.start);
  const terms = {
    committed: { kind: 'amount' as const, amount: own.committed },
    overage_factor: own.overage_factor,
    true_up: own.true_up,
  };
  const used = (of: (each: (typeof earlier)[number]) => DecimalText): LineCommitment => ({
    kind: 'term',
    terms,
    prior: sumOf(earlier.map(of)),
    closes_term: isClosing,
  });
  return {
    gross: used(({ gross }) => exactCostOf(gross)),
    net: used(({ net }) => exactCostOf(net)),
  };
}

/** The commitment of all usage over lines that were rated, with what was used of it before; null for none. */
export async function ratedCommitment(
  context: AskingContext,
  charging: Charging,
  span: Span,
  lines: readonly {
    readonly line_id: string;
    readonly gross: DecimalText;
    readonly net: DecimalText;
  }[],
  held: readonly SettlementCommitment[],
): Promise<{ readonly gross: RatedCommitment; readonly net: RatedCommitment } | null> {
  const all = held.find(({ line_item_id }) => line_item_id === null);
  if (!all) return null;
  const earlier = await usedBefore(context, charging, all, span.start);
  const { currency } = charging.state;
  const rated = (which: 'gross' | 'net') =>
    rateCommitment({
      currency,
      committed: all.committed,
      overage_factor: all.overage_factor,
      prior: sumOf(earlier.map((each) => each[which].amount)),
      // The rest is charged when the period is closed.
      trues_up: charging.isClosing === true && all.true_up,
      lines: lines.map((line) => ({ line_id: line.line_id, amount: line[which] })),
    });
  return { gross: rated('gross'), net: rated('net') };
}

const sumOf = (amounts: readonly string[]): DecimalText =>
  textOf(amounts.reduce((sum, amount) => sum.plus(decimal(amount)), zero));

/** Everything that was used of a commitment before an instant, rated as it was billed: period by period, line by line. */
async function usedBefore(
  context: AskingContext,
  charging: Charging,
  { line_item_id, span }: SettlementCommitment,
  until: Span['start'],
) {
  const { state } = charging;
  if (span.start >= until) return [];
  const isOf = (id: string): boolean => line_item_id === null || line_item_id === id;
  const rated = [];
  const before = charging.billed ?? (await billedBy(context, state.id));
  for (const { line, span: billed } of before) {
    if (billed.start >= span.start && isOf(line.id))
      rated.push(await ratedUsage(context, charging, line, billed));
  }
  // Of a period that is over, what comes before the stretch was billed.
  if (charging.isClosing || state.opened === null) return rated;
  for (const line of state.lines.filter(({ id, price }) => price.type === 'USAGE' && isOf(id))) {
    const start = line.start_date > state.opened.start ? line.start_date : state.opened.start;
    const end = line.end_date !== null && line.end_date < until ? line.end_date : until;
    if (start < end) rated.push(await ratedUsage(context, charging, line, { start, end }));
  }
  return rated;
}

/** The usage that settlements have billed by now, each stretch with the line as it was sold. */
async function billedBy(context: AskingContext, id: string): Promise<readonly BilledStretch[]> {
  const lines = new Map<string, LineData>();
  const billed: BilledStretch[] = [];
  for await (const event of context.history(subscription, id)) {
    for (const line of linesBegunBy(event)) lines.set(line.id, line);
    if (event.type === 'SettlementRecorded') billed.push(...billedIn(event.data, lines));
  }
  return billed;
}

/** The usage that a settlement bills. */
export const billedIn = (
  { lines: settled }: Settlement,
  lines: ReadonlyMap<string, LineData>,
): readonly BilledStretch[] =>
  settled.flatMap((each) => {
    const line = each.kind === 'usage' ? lines.get(each.line_item_id) : undefined;
    return each.kind === 'usage' && line ? [{ line, span: each.span }] : [];
  });

/** The lines that begin with an event, as they are sold. */
export const linesBegunBy = (event: SubscriptionEvent): readonly LineData[] =>
  event.type === 'SubscriptionCreated' ? event.data.lines : (lineChangeOf(event)?.begun ?? []);
