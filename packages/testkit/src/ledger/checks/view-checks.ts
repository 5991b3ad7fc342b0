import { isDeepStrictEqual } from 'node:util';
import { inOrder } from '../books.ts';
import { type Data, type History, isCredit, isEntry } from '../history.ts';
import { amountPlaces, ratePlaces, shownCredits, shownUnits, unitsOf } from '../units.ts';
import { checker, must } from './fault.ts';
import type { PastAnswer, PeriodAnswer } from './past-checks.ts';
import { Replay } from './replay.ts';

/** The state of a wallet as the read models and the balance show it. */
export interface Reads {
  readonly wallet: Data;
  /** All entries, in any order. */
  readonly entries: readonly Data[];
  readonly holds: readonly Data[];
  /** The answer of GET /wallets/{id}/balance. */
  readonly balance: Data;
  /** Balances of the past. */
  readonly past: readonly PastAnswer[];
  /** Entries of some periods. */
  readonly periods: readonly PeriodAnswer[];
}

/** I7: reads show what the log adds up to, for the wallet, its entries, its holds and its lots. */
export const checkReads = checker(
  'I7',
  ({ history, reads }: { readonly history: History; readonly reads: Reads }) => {
    const replay = new Replay();
    for (const event of history) replay.take(event);
    assertWallet(replay, reads);
    assertEntries(replay, history, reads.entries);
    const holds = reads.holds.map(({ id, hold_status }) => [id, hold_status]).sort();
    const right = [...replay.ends].sort();
    must(isDeepStrictEqual(holds, right), null, `holds are ${holds}, should be ${right}`);
  },
);

function assertWallet(replay: Replay, { wallet, balance }: Reads): void {
  const { created, status, alert } = replay;
  const part = (isPurchased: boolean) => {
    const lots = replay.openLots().filter((lot) => lot.isPurchased === isPurchased);
    return shownCredits(lots.reduce((sum, { left }) => sum + left, 0n));
  };
  const rate = unitsOf(created.conversion_rate, ratePlaces);
  const right: Data = {
    credit_balance: shownCredits(replay.balance),
    balance: shownUnits(replay.balance * rate, amountPlaces),
    credits_held: shownCredits(replay.held()),
    wallet_status: status,
    alert_state: alert,
    credits_available_breakdown: { free: part(false), purchased: part(true) },
  };
  for (const [name, value] of Object.entries(right)) {
    const seen: unknown = wallet[name];
    const message = `${name} is ${JSON.stringify(seen)}, should be ${JSON.stringify(value)}`;
    must(isDeepStrictEqual(seen, value), null, message);
  }
  must(balance.credit_balance === right.credit_balance, null, 'the balance is another one');
  const lots = balance.lots.map(({ transaction_id, credits }: Data) => [transaction_id, credits]);
  const open = inOrder(replay.openLots());
  const rightLots = open.map(({ id, left }) => [id, shownCredits(left)]);
  must(isDeepStrictEqual(lots, rightLots), null, `lots are ${lots}, should be ${rightLots}`);
}

function assertEntries(replay: Replay, history: History, rows: readonly Data[]): void {
  const events = history.filter(isEntry);
  const orders = [...replay.orders].filter(([, status]) => status !== 'completed');
  const count = events.length + orders.length;
  must(rows.length === count, null, `${rows.length} entries, should be ${count}`);
  const byId = new Map(rows.map((row) => [row.id, row]));
  for (const event of events) {
    const { data } = event;
    const row = byId.get(data.transaction_id) ?? {};
    const lot = replay.lots.get(data.transaction_id);
    const right: Data = {
      effective_at: data.effective_at,
      recorded_at: data.requested?.at ?? event.metadata.occurred_at,
      completed_at: event.metadata.occurred_at,
      transaction_status: 'completed',
      type: isCredit(event) ? 'credit' : 'debit',
      transaction_reason: data.reason,
      credit_amount: data.credits,
      amount: data.amount,
      credit_balance_before: data.credit_balance_before,
      credit_balance_after: data.credit_balance_after,
      credits_available: shownCredits(lot?.left ?? 0n),
    };
    for (const [name, value] of Object.entries(right)) {
      must(row[name] === value, event, `${name} is read as ${row[name]}, should be ${value}`);
    }
  }
  for (const [id, status] of orders) {
    const row = byId.get(id);
    must(row?.completed_at === undefined, null, `the order ${id} has become final without a load`);
    const seen: unknown = row?.transaction_status;
    must(seen === status, null, `the order ${id} is read as ${seen}, should be ${status}`);
  }
}
