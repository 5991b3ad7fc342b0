import {
  type Instant,
  invalidOperation,
  notFound,
  refusal,
  type TransactionId,
} from '@counterfoil/kernel';
import { open, type WalletDecision } from '../decisions.ts';
import type { WalletEvent } from '../events.ts';
import { chain } from '../ledger/chain.ts';
import { dueEvents } from '../ledger/due.ts';
import { completionEvent, failureEvent, type Load, requestEvent } from '../ledger/entries.ts';
import type { Wallet, WalletState } from '../wallet.ts';
import { concluded } from './automatic.ts';
import type { PendingTopUp } from './topups.ts';

/** The most top-ups of one wallet that may wait for their payment: each is part of its state. */
const topupsMaximum = 100;

/** Orders credits that are loaded when they are paid for. It changes no balance. */
export const requestTopUp =
  (id: string, load: Load, transactionId: TransactionId): WalletDecision =>
  (state, at) => {
    const wallet = open(state, id, 'take credits');
    return chain(wallet, [
      (current) => dueEvents(current, at),
      (current) => {
        if (current.topups.length >= topupsMaximum) {
          throw refusal(
            `Wallet ${id} has ${topupsMaximum} top-ups that wait for their payment. ` +
              'Complete or cancel some first.',
          );
        }
        return [requestEvent(current, load, transactionId, at)];
      },
      ...concluded(at),
    ]);
  };

/**
 * Loads the ordered credits exactly as they were ordered, into a frozen wallet too (D25). No events for
 * an order that is no longer open: its end is in the log. Throws 400 when the credits would have
 * expired.
 */
export const completeTopUp =
  (id: string, transactionId: string): WalletDecision =>
  (state, at) => {
    const wallet = existing(state, id);
    const topup = topUpOf(wallet, transactionId);
    if (topup?.expires_at && topup.expires_at <= at) {
      throw invalidOperation(
        `The credits of transaction ${transactionId} would have expired before they were loaded.`,
        { expires_at: topup.expires_at },
      );
    }
    return endTopUp(wallet, topup, at, completionEvent);
  };

/** Ends an order without a load. No events for an order that is no longer open. */
export const cancelTopUp =
  (id: string, transactionId: string): WalletDecision =>
  (state, at) => {
    const wallet = existing(state, id);
    return endTopUp(wallet, topUpOf(wallet, transactionId), at, (current, topup) =>
      failureEvent(current, topup, 'cancelled', at),
    );
  };

function existing(state: WalletState, id: string): Wallet {
  if (!state) throw notFound('wallet', id);
  return state;
}

const topUpOf = ({ topups }: Wallet, id: string): PendingTopUp | undefined =>
  topups.find(({ transaction_id }) => transaction_id === id);

function endTopUp(
  wallet: Wallet,
  topup: PendingTopUp | undefined,
  at: Instant,
  end: (wallet: Wallet, topup: PendingTopUp) => WalletEvent,
): readonly WalletEvent[] {
  if (!topup) return [];
  return chain(wallet, [
    (current) => dueEvents(current, at),
    // An order whose time was over has just ended by itself.
    (current) => (current.topups.includes(topup) ? [end(current, topup)] : []),
    ...concluded(at),
  ]);
}
