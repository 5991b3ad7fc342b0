import type { Outcome } from '@counterfoil/engine/define';
import {
  type DecimalText,
  decimal,
  decimalPlaces,
  derivedId,
  divide,
  type HoldId,
  invariant,
  type TransactionId,
  textOf,
  type WalletId,
  zero,
} from '@counterfoil/kernel';
import { fundsOf, type WalletDecision } from '../decisions.ts';
import type { WalletEvent } from '../events.ts';
import type { Hold } from '../holds/holds.ts';
import { chain, type Step } from '../ledger/chain.ts';
import { dueEvents } from '../ledger/due.ts';
import {
  captureEvent,
  debitEvent,
  drawsOf,
  type EntryDetails,
  releaseEvent,
} from '../ledger/entries.ts';
import { isMovement } from '../ledger/transaction.ts';
import { concluded } from '../topups/automatic.ts';
import type { Wallet, WalletState } from '../wallet.ts';
import type { DebitRequest } from './customer-debits.ts';

/** The hold of a debit in a wallet: its id follows from both. */
export const holdIdOf = (
  { debit_id }: Pick<DebitRequest, 'debit_id'>,
  walletId: WalletId,
): HoldId => derivedId('hold', `${debit_id}\n${walletId}`);

/** The entry of a debit in each of its wallets refers to it. */
const detailsOf = (debit: DebitRequest): EntryDetails => ({
  reason: debit.reason,
  referenceType: 'REQUEST',
  referenceId: debit.debit_id,
  description: debit.description,
  idempotencyKey: debit.idempotency_key,
  metadata: debit.metadata,
  ...(debit.effective_at === undefined ? {} : { effectiveAt: debit.effective_at }),
});

const smallest = decimal('0.000000001');

/** The credits that pay an amount at a rate. The last digit is rounded up, so that all of it is paid. */
export function creditsPaying(amount: DecimalText, rate: DecimalText): DecimalText {
  const near = divide(decimal(amount), decimal(rate), decimalPlaces.credits);
  const isEnough = near.times(decimal(rate)).cmp(decimal(amount)) >= 0;
  return textOf(isEnough ? near : near.plus(smallest));
}

/**
 * The wallet pays what is missing of a debit, if it can: that is the commit point of the debit. Otherwise it
 * holds all that it has. A wallet that is frozen, closed or empty does neither.
 *
 * What is held is not judged: alerts and automatic top-up look at it when the debit has ended.
 */
export const payOrHold =
  (id: WalletId, debit: DebitRequest, missing: DecimalText): WalletDecision =>
  (state, at) => {
    if (state?.wallet_status !== 'active') return [];
    const due: Step = (current) => dueEvents(current, at);
    const share: Step = (current) => {
      const credits = creditsPaying(missing, current.conversion_rate);
      const available = fundsOf(current, debit.effective_at);
      const isEnough = decimal(credits).cmp(decimal(available)) <= 0;
      if (isEnough || current.wallet_type === 'POST_PAID') {
        return [debitEvent(current, { ...detailsOf(debit), credits }, at)];
      }
      return decimal(available).cmp(zero) > 0 ? [holdEvent(current, id, debit, available)] : [];
    };
    const events = chain(state, [due, share]);
    const isHeld = events.some(({ type }) => type === 'CreditsHeld');
    return isHeld ? events : chain(state, [due, share, ...concluded(at)]);
  };

const holdEvent = (
  wallet: Wallet,
  id: WalletId,
  debit: DebitRequest,
  credits: DecimalText,
): WalletEvent => ({
  type: 'CreditsHeld',
  data: {
    hold_id: holdIdOf(debit, id),
    debit_id: debit.debit_id,
    ...(debit.effective_at === undefined ? {} : { debit_effective_at: debit.effective_at }),
    customer_id: wallet.customer_id,
    credits,
    expires_at: null,
    description: debit.description,
    metadata: debit.metadata,
    drawn: [...drawsOf(wallet, { ...detailsOf(debit), credits })],
  },
});

/** Turns the hold of a debit that was committed into its entry, also in a wallet that was frozen meanwhile. */
export const captureShare =
  (id: WalletId, debit: DebitRequest): WalletDecision =>
  (state, at) => {
    const hold = ownHold(state, id, debit);
    invariant(state && hold, `${id}: what ${debit.debit_id} held is gone`);
    const share = { ...detailsOf(debit), credits: hold.credits };
    return chain(state, [
      (current) => dueEvents(current, at),
      (current) => [captureEvent(current, hold, share, true, at)],
      ...concluded(at),
    ]);
  };

/**
 * Gives back what a debit held that is refused, and lets the wallet top itself up, as after any refused
 * debit (D72).
 */
export const giveUpShare =
  (id: WalletId, debit: DebitRequest): WalletDecision =>
  (state, at) => {
    if (!state || state.wallet_status === 'closed') return [];
    const release: Step = (current) => {
      const hold = ownHold(current, id, debit);
      return hold ? [releaseEvent(current, hold, 'voided', at)] : [];
    };
    return chain(state, [
      (current) => dueEvents(current, at),
      release,
      // The returned credits may have expired while they were held.
      (current) => dueEvents(current, at, at),
      ...concluded(at, debit.effective_at === undefined ? 'refused_debit' : null),
    ]);
  };

const ownHold = (state: WalletState, id: WalletId, debit: DebitRequest): Hold | undefined =>
  state?.holds.find((hold) => hold.id === holdIdOf(debit, id));

/** The part of a debit that a wallet has taken on. */
export interface Share {
  readonly walletId: WalletId;
  readonly credits: DecimalText;
  /** The same in money, exactly. */
  readonly amount: DecimalText;
  /** True for the wallet that paid all that was missing. */
  readonly isLast: boolean;
}

type WalletOutcome = Outcome<WalletState, WalletEvent>;

/** The share that a wallet took on by an outcome of `payOrHold`; null for none. */
export function shareIn(
  { state, events }: WalletOutcome,
  walletId: WalletId,
  debit: DebitRequest,
): Share | null {
  const paid = events.find((event) => event.type === 'CreditsDebited');
  if (paid) {
    const { credits, amount } = paid.data;
    return { walletId, credits, amount, isLast: true };
  }
  const held = events.find(
    (event) => event.type === 'CreditsHeld' && event.data.debit_id === debit.debit_id,
  );
  if (held?.type !== 'CreditsHeld' || !state) return null;
  const { credits } = held.data;
  const amount = textOf(decimal(credits).times(decimal(state.conversion_rate)));
  return { walletId, credits, amount, isLast: false };
}

/** The entry that an outcome made, with its place in the stream of its wallet. */
export function entryIn(
  { events, revision }: WalletOutcome,
  wallet_id: WalletId,
): {
  readonly wallet_id: WalletId;
  readonly transaction_id: TransactionId;
  readonly credits: DecimalText;
  readonly amount: DecimalText;
  readonly revision: number;
} {
  const taking = (event: WalletEvent) =>
    event.type === 'CreditsDebited' || event.type === 'HoldCaptured';
  const index = events.findIndex(taking);
  const entry = events[index];
  invariant(entry && isMovement(entry), `${wallet_id}: a share was taken without its entry`);
  const { transaction_id, credits, amount } = entry.data;
  const place = revision - (events.length - 1 - index);
  return { wallet_id, transaction_id, credits, amount, revision: place };
}
