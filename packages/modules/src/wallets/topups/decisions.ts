import {
  type DecimalText,
  decimal,
  derivedId,
  type Instant,
  type InvoiceId,
  invalidOperation,
  invariant,
  money,
  moneyText,
  notFound,
  refusal,
  type TransactionId,
} from '@counterfoil/kernel';
import { open, type WalletDecision } from '../decisions.ts';
import type { WalletEvent } from '../events.ts';
import { chain } from '../ledger/chain.ts';
import { dueEvents } from '../ledger/due.ts';
import { completionEvent, failureEvent, type Load, requestEvent } from '../ledger/entries.ts';
import { invoicedReason, type TransactionResource } from '../schema.ts';
import type { Wallet, WalletState } from '../wallet.ts';
import { concluded } from './automatic.ts';
import { type BonusSlabs, bonusEvents, bonusFor } from './bonus.ts';
import type { PendingTopUp } from './topups.ts';

/** The most top-ups of one wallet that may wait for their payment: each is part of its state. */
const topupsMaximum = 100;

/** Orders credits that are loaded when they are paid for, with the bonus that they have now. It changes no balance. */
export const requestTopUp =
  (id: string, load: Load, transactionId: TransactionId, slabs: BonusSlabs = []): WalletDecision =>
  (state, at) => {
    const wallet = open(state, id, 'take credits');
    return chain(wallet, [
      (current) => dueEvents(current, at),
      (current) => {
        if (current.topups.length >= topupsMaximum) {
          throw refusal(
            `Wallet ${id} has ${topupsMaximum} top-ups that wait for their payment. ` +
              'Complete or cancel some first.',
            { reason: 'limit_reached', limit: topupsMaximum },
          );
        }
        const bonusOf = (credits: DecimalText) => bonusFor(slabs, credits);
        return [requestEvent(current, load, transactionId, at, bonusOf)];
      },
      ...concluded(at),
    ]);
  };

/** An entry that does not wait for a payment: how it ended, and why it was made. */
export type EndedEntry = Pick<TransactionResource, 'transaction_status' | 'transaction_reason'>;

/**
 * Loads the ordered credits exactly as they were ordered, into a frozen wallet too (D25). No events for
 * an order that was completed before. Throws 400 for one that has ended otherwise, and when the credits
 * would have expired.
 *
 * @param ended the end of the order, if it had ended when it was looked up
 */
export const completeTopUp =
  (id: string, transactionId: string, ended: EndedEntry | null = null): WalletDecision =>
  (state, at) => {
    const wallet = existing(state, id);
    const topup = topUpOf(wallet, transactionId);
    if (!topup) return endedSo('completed', wallet, transactionId, ended);
    if (topup.expires_at && topup.expires_at <= at) {
      throw invalidOperation(
        `The credits of transaction ${transactionId} would have expired before they were loaded.`,
        { reason: 'credits_expired', expires_at: topup.expires_at },
      );
    }
    return endTopUp(wallet, topup, at, (current, open) => completionEvent(current, open, at));
  };

/**
 * Ends an order without a load. No events for an order that has failed before. Throws 400 for one that was
 * completed.
 *
 * @param ended the end of the order, if it had ended when it was looked up
 */
export const cancelTopUp =
  (id: string, transactionId: string, ended: EndedEntry | null = null): WalletDecision =>
  (state, at) => {
    const wallet = existing(state, id);
    const topup = topUpOf(wallet, transactionId);
    if (!topup) return endedSo('failed', wallet, transactionId, ended);
    return endTopUp(wallet, topup, at, (current, open) =>
      failureEvent(current, open, 'cancelled', at),
    );
  };

/** The end of an order, as its invoice brings it about. */
export type OrderEnd = 'completed' | 'failed';

/**
 * Ends an order because of its invoice: the credits are loaded as soon as that is paid, and never when it is void. No event
 * for an order that has ended; one whose time is over ends as expired.
 */
export const endOrder =
  (id: string, transactionId: string, end: OrderEnd): WalletDecision =>
  (state, at) => {
    if (!state || state.id !== id || state.wallet_status === 'closed') return [];
    const topup = topUpOf(state, transactionId);
    if (!topup) return [];
    return endTopUp(state, topup, at, (current, open) =>
      end === 'completed'
        ? completionEvent(current, open, at)
        : failureEvent(current, open, 'cancelled', at),
    );
  };

/** The end of an order, as far as its wallet remembers: null while it waits, or where that was long ago. */
export const endOfOrder = (state: WalletState, transactionId: string): OrderEnd | null =>
  state?.ended_topups.find(({ transaction_id }) => transaction_id === transactionId)
    ?.transaction_status ?? null;

/** The id of the invoice of an order, which follows from it. */
export const invoiceOfOrder = (transactionId: string): InvoiceId =>
  derivedId('inv', `purchase ${transactionId}`);

/** The price of an order, as money that can be paid (D43); nobody is asked for one that comes to nothing. */
export const priceOfOrder = ({ amount, currency }: Pick<PendingTopUp, 'amount' | 'currency'>) =>
  moneyText(money(decimal(amount), currency));

function existing(state: WalletState, id: string): Wallet {
  if (!state) throw notFound('wallet', id);
  return state;
}

const topUpOf = ({ topups }: Wallet, id: string): PendingTopUp | undefined =>
  topups.find(({ transaction_id }) => transaction_id === id);

/** No events for an order that has ended as it is wanted; refuses every other entry. */
function endedSo(
  wanted: 'completed' | 'failed',
  { ended_topups }: Wallet,
  id: string,
  ended: EndedEntry | null,
): readonly WalletEvent[] {
  const lately = ended_topups.find(({ transaction_id }) => transaction_id === id);
  const end = lately ? { ...lately, transaction_reason: invoicedReason } : ended;
  invariant(end, `${id} has ended since it was looked up, and its wallet does not know how`);
  const { transaction_status, transaction_reason } = end;
  if (transaction_status === wanted && transaction_reason === invoicedReason) return [];
  throw invalidOperation(
    `Transaction ${id} has ${transaction_status} and does not wait for a payment.`,
    { reason: 'transaction_ended', transaction_status, transaction_reason },
  );
}

/** The bonus of an order whose credits were loaded right now. */
function bonusOfOrder(
  wallet: Wallet,
  { transaction_id: transactionId, bonus, ...order }: PendingTopUp,
  at: Instant,
): readonly WalletEvent[] {
  if (!bonus || endOfOrder(wallet, transactionId) !== 'completed') return [];
  const { reference_type: referenceType, reference_id: referenceId, priority } = order;
  const purchase = { transactionId, referenceType, referenceId, priority };
  return bonusEvents(wallet, { ...purchase, idempotencyKey: order.idempotency_key }, bonus, at);
}

const endTopUp = (
  wallet: Wallet,
  topup: PendingTopUp,
  at: Instant,
  end: (wallet: Wallet, topup: PendingTopUp) => WalletEvent,
): readonly WalletEvent[] =>
  chain(wallet, [
    (current) => dueEvents(current, at),
    // An order whose time was over has just ended by itself.
    (current) => (current.topups.includes(topup) ? [end(current, topup)] : []),
    (current) => bonusOfOrder(current, topup, at),
    ...concluded(at),
  ]);
