import { invariant, Problem, type Stamped } from '@counterfoil/kernel';
import { type AskedDebit, open, payable, spendable, type WalletDecision } from '../decisions.ts';
import type { WalletEvent } from '../events.ts';
import { debitEvent, type Load, loadEvents } from '../ledger/entries.ts';
import { isMovement, transactionOf } from '../ledger/transaction.ts';
import { taking } from '../topups/automatic.ts';
import type { Wallet } from '../wallet.ts';
import type { BulkResult } from './schema.ts';

/** One entry of a bulk: a load or a debit, as it could be sent alone. */
export type BulkEntry =
  | { readonly type: 'credit'; readonly load: Load }
  | { readonly type: 'debit'; readonly debit: AskedDebit };

type Recorded = Extract<WalletEvent, { type: 'BulkRecorded' }>['data']['results'][number];

/**
 * Runs entries one after the other as one change. When atomic, the first failure refuses all of them
 * and is named by its index. Otherwise each entry succeeds or fails by itself, and failures are recorded
 * beside successes.
 */
export const moveInBulk =
  (id: string, entries: readonly BulkEntry[], isAtomic: boolean): WalletDecision =>
  (state, at) => {
    const wallet = open(state, id, 'take part in a bulk');
    const results: Recorded[] = [];
    const move = (entry: BulkEntry) => (current: Wallet) => {
      const events = attempt(() => {
        if (entry.type === 'credit') return loadEvents(current, entry.load, at);
        spendable(current, id);
        return [debitEvent(current, payable(current, entry.debit), at)];
      });
      if (events instanceof Problem) {
        if (isAtomic) throw atIndex(events, results.length);
        const { code, message, details } = events;
        results.push({ code, message, details: details ?? null });
        return [];
      }
      const movement = events.find(isMovement);
      invariant(movement, 'an entry of a bulk moved nothing');
      results.push({ transaction_id: movement.data.transaction_id });
      return events;
    };
    return taking(wallet, at, [
      ...entries.map(move),
      () => [{ type: 'BulkRecorded', data: { results } }],
    ]);
  };

function attempt(work: () => readonly WalletEvent[]): readonly WalletEvent[] | Problem {
  try {
    return work();
  } catch (error) {
    if (error instanceof Problem) return error;
    throw error;
  }
}

/** The refusal of a whole bulk by one of its entries. */
const atIndex = (problem: Problem, index: number): Problem =>
  new Problem(problem.code, `Entry ${index}: ${problem.message}`, {
    details: { index, ...problem.details },
    isRemembered: problem.isRemembered,
  });

/** The result of each entry, in order, from the events of the request. */
export function bulkResults(
  events: readonly Stamped<WalletEvent>[],
  walletId: string,
): BulkResult[] {
  const movements = new Map(
    events.flatMap((event) => (isMovement(event) ? [[event.data.transaction_id, event]] : [])),
  );
  const recorded = events.find((event) => event.type === 'BulkRecorded');
  invariant(recorded, 'a bulk was answered without its record');
  return recorded.data.results.map((result, index) => {
    if (!('transaction_id' in result)) {
      const { details, ...error } = result;
      return { index, status: 'failed', error: details ? { ...error, details } : error };
    }
    const movement = movements.get(result.transaction_id);
    invariant(movement, `entry ${index} of a bulk has no event`);
    return {
      index,
      status: 'completed',
      wallet_transaction: transactionOf(movement, walletId),
    };
  });
}
