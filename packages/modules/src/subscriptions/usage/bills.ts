import type { AskingContext } from '@counterfoil/engine/define';
import type { Span } from '@counterfoil/kernel';
import { lineChangeOf, type SubscriptionEvent } from '../events.ts';
import type { LineData } from '../lines/line.ts';
import {
  closingLines,
  type SettlementCommitment,
  type SettlementLine,
} from '../settlement/index.ts';
import { type Subscription, subscription } from '../subscription.ts';
import { linesOf, settlementContext } from '../time/due.ts';

/** A stretch of usage that is billed, under a line as it was sold. */
export interface BilledUsage {
  readonly line: LineData;
  readonly span: Span;
}

/** The usage that one settlement bills, and what it is held against. */
export interface Bill {
  readonly usage: readonly BilledUsage[];
  readonly held: readonly SettlementCommitment[];
}

/** The bills of the settlements that a subscription has had, in their order. */
export async function pastBills(context: AskingContext, id: string): Promise<readonly Bill[]> {
  const lines = new Map<string, LineData>();
  const bills: Bill[] = [];
  for await (const event of context.history(subscription, id)) {
    for (const line of linesBegunBy(event)) lines.set(line.id, line);
    // What was billed by amount is billed again with its period, less what it was.
    if (event.type === 'SettlementRecorded' && event.data.reason !== 'threshold_reached') {
      bills.push(billOf(lines, event.data.lines));
    }
  }
  return bills.filter(({ usage, held }) => usage.length + held.length > 0);
}

/** The bill with which the period that runs would close, as things are; null while none runs. */
export function runningBill(state: Subscription): Bill | null {
  if (state.opened === null) return null;
  const settled = closingLines(
    linesOf(state, state.end_date),
    settlementContext(state, state.opened),
  );
  return billOf(new Map(state.lines.map((line) => [line.id, line])), settled);
}

const billOf = (
  lines: ReadonlyMap<string, LineData>,
  settled: readonly SettlementLine[],
): Bill => ({
  usage: billedIn(settled, lines),
  held: settled.filter((each) => each.kind === 'commitment'),
});

/** The usage that a settlement bills. */
export const billedIn = (
  settled: readonly SettlementLine[],
  lines: ReadonlyMap<string, LineData>,
): readonly BilledUsage[] =>
  settled.flatMap((each) => {
    const line = each.kind === 'usage' ? lines.get(each.line_item_id) : undefined;
    return each.kind === 'usage' && line ? [{ line, span: each.span }] : [];
  });

/** The lines that begin with an event, as they are sold. */
export const linesBegunBy = (event: SubscriptionEvent): readonly LineData[] =>
  event.type === 'SubscriptionCreated' ? event.data.lines : (lineChangeOf(event)?.begun ?? []);
