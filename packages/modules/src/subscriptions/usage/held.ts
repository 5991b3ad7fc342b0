import type { AskingContext } from '@counterfoil/engine/define';
import {
  type DecimalText,
  decimal,
  type Instant,
  type Span,
  textOf,
  zero,
} from '@counterfoil/kernel';
import { type LineCommitment, type RatedCommitment, rateCommitment } from '../../rating/index.ts';
import { slotsOf } from '../commitments/time-buckets.ts';
import type { LineData } from '../lines/line.ts';
import type { SettlementCommitment } from '../settlement/index.ts';
import type { Subscription } from '../subscription.ts';
import { pastBills, runningBill } from './bills.ts';
import { type Charging, exactCostOf, ratedUsage, type UsedCommitments } from './rated-line.ts';

/**
 * The commitments that usage of the period that runs is held against, as its settlement will have it. A span that is not within that
 * period is held against nothing: it is no time that is settled.
 */
export function heldIn(state: Subscription, span: Span): readonly SettlementCommitment[] {
  const { opened } = state;
  if (opened === null || span.start < opened.start || span.end > opened.end) return [];
  return runningBill(state)?.held ?? [];
}

/** The commitment of a line that holds in each window of its meter, as rating takes it. */
export const windowedCommitment = (
  price: LineData['price'],
  { committed, overage_factor, true_up, time_buckets }: NonNullable<LineData['commitment']>,
  as_of: Instant,
): LineCommitment => ({
  kind: 'windowed',
  terms: committed && { committed, overage_factor, true_up },
  slots: slotsOf(time_buckets, price),
  as_of,
});

/** The commitment of a line in a span of the period that runs, with what was used of it before; null for none. */
export async function usedCommitment(
  context: AskingContext,
  charging: Charging,
  line: Pick<LineData, 'id' | 'commitment' | 'price'>,
  part: Span,
  held: readonly SettlementCommitment[],
): Promise<UsedCommitments | null> {
  const { state, isClosing = false } = charging;
  const { commitment } = line;
  const { opened } = state;
  const isRunning = opened !== null && part.start >= opened.start;
  if (commitment?.windowed && (isClosing || isRunning)) {
    const end = isClosing ? part.end : context.now;
    const windowed = windowedCommitment(line.price, commitment, end);
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
    rateCommitment(
      {
        currency,
        committed: all.committed,
        overage_factor: all.overage_factor,
        prior: sumOf(earlier.map((each) => each[which].amount)),
        // The rest is charged when the period is closed.
        trues_up: charging.isClosing === true && all.true_up,
        lines: lines.map((line) => ({ line_id: line.line_id, amount: line[which] })),
      },
      charging.rules,
    );
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
  const before =
    charging.billed ?? (await pastBills(context, state.id)).flatMap(({ usage }) => usage);
  for (const { line, span: own } of before) {
    if (!isOf(line.id) || own.start < span.start) continue;
    rated.push(await ratedUsage(context, charging, line, own));
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
