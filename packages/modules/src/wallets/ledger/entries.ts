import {
  type DecimalText,
  decimal,
  derivedId,
  digitsFault,
  divide,
  type HoldId,
  type Instant,
  invalidField,
  invalidOperation,
  invariant,
  type Metadata,
  sequencedId,
  type TransactionId,
  textOf,
  zero,
  zeroText,
} from '@counterfoil/kernel';
import type {
  AutomaticTopUp,
  Entry,
  Order,
  PurchaseBonus,
  TransactionReason,
  WalletEvent,
} from '../events.ts';
import { divideHold, type Hold } from '../holds/holds.ts';
import type { PendingTopUp } from '../topups/topups.ts';
import { debtOf, type Wallet } from '../wallet.ts';
import { type Draw, drawFrom, drawSince, type Lot } from './lots.ts';

/** A quantity: credits, or an amount of the currency at the top-up rate (D22), or both when they agree. */
export type Quantity =
  | { readonly credits: DecimalText; readonly amount?: DecimalText }
  | { readonly amount: DecimalText };

/** The details that a caller gives of a movement of credits. */
export interface EntryDetails {
  readonly reason: TransactionReason;
  readonly referenceType: Entry['reference_type'];
  readonly referenceId: string | null;
  readonly description: string | null;
  readonly idempotencyKey: string | null;
  readonly metadata: Metadata;
  /** Set on an entry that is dated back: the instant from which it counts (D73). */
  readonly effectiveAt?: Instant;
}

/** Credits to be loaded as one lot. */
export interface Load extends EntryDetails {
  readonly quantity: Quantity;
  readonly priority: number | null;
  readonly expiresAt: Instant | null;
  /** Set when the wallet loads or orders them by itself. */
  readonly automatic?: AutomaticTopUp;
}

/** Credits to be taken. */
export interface Debit extends EntryDetails {
  readonly credits: DecimalText;
}

/** A debit of which the wallet takes as much as is there (D26). */
export interface PartialDebit extends Debit {
  /** The credits that were asked for, of which `credits` are there. */
  readonly requested: DecimalText;
}

const creditPlaces = 9;

/** The end of a hold without a capture. */
export const releaseEvent = (
  wallet: Wallet,
  hold: Hold,
  cause: 'voided' | 'expired',
  releasedAt: Instant,
): WalletEvent => ({
  type: 'HoldReleased',
  data: {
    hold_id: hold.id,
    cause,
    released_at: releasedAt,
    returned: [...divideHold(wallet.lots, hold, zeroText, debtOf(wallet)).returned],
  },
});

/** The id of a capture, which follows from its hold and its key, else its number (D75). */
export const captureId = (holdId: HoldId, key: string | null, number: number): TransactionId =>
  derivedId('wtxn', `${holdId}\n${key === null ? `number ${number}` : `key ${key}`}`);

/** A capture: a debit of the hold's own parts. One that is final returns the rest to its lots. */
export const captureEvent = (
  wallet: Wallet,
  hold: Hold,
  debit: Debit,
  isFinal: boolean,
  at: Instant,
): WalletEvent => {
  const { drawn, returned } = divideHold(wallet.lots, hold, debit.credits, debtOf(wallet), isFinal);
  return {
    type: 'HoldCaptured',
    data: {
      ...entry(wallet, debit, at, debit.credits, out(debit.credits), wallet.conversion_rate),
      transaction_id: captureId(hold.id, debit.idempotencyKey, hold.captures + 1),
      hold_id: hold.id,
      is_final: isFinal,
      drawn: [...drawn],
      returned: [...returned],
    },
  };
};

/** Books out the rest of a lot: its expiry took effect at one instant and is booked at another. */
export function expiryEvent(
  wallet: Wallet,
  lot: Lot,
  expiredAt: Instant,
  at: Instant,
): WalletEvent {
  const credits = lot.remaining;
  const details = {
    reason: 'CREDIT_EXPIRED' as const,
    referenceType: null,
    referenceId: lot.transaction_id,
    description: null,
    idempotencyKey: null,
    metadata: {},
  };
  return {
    type: 'CreditsExpired',
    data: {
      ...entry(wallet, details, at, credits, out(credits), wallet.conversion_rate),
      effective_at: expiredAt,
      drawn: [{ transaction_id: lot.transaction_id, credits, remaining: '0' as DecimalText }],
    },
  };
}

type Loaded = Extract<WalletEvent, { type: 'CreditsLoaded' }>;

/** `loadEvent`, as a step of a decision. */
export const loadEvents = (wallet: Wallet, load: Load, at: Instant): readonly WalletEvent[] => [
  loadEvent(wallet, load, at),
];

/** The load of credits as a lot of its own. Throws 400 for credits that are worth nothing or have expired. */
export function loadEvent(wallet: Wallet, load: Load, at: Instant): Loaded {
  const credits = loadableCredits(wallet, load, at);
  const booked = entry(wallet, load, at, credits, credits, wallet.topup_conversion_rate);
  const credits_available = beyondDebt(wallet, credits);
  return { type: 'CreditsLoaded', data: { ...booked, ...ownOf(load, booked), credits_available } };
}

/** The members that a load has of its own, loaded or ordered: of an amount that was asked for, exactly that one. */
const ownOf = (
  { quantity, priority, expiresAt: expires_at, automatic }: Load,
  { amount }: { readonly amount: DecimalText },
) => ({
  amount: 'amount' in quantity ? quantity.amount : amount,
  priority,
  expires_at,
  ...(automatic ? { automatic } : {}),
});

/** The order of credits that are loaded once they are paid for. Throws 400 as a load does. */
export function requestEvent(
  wallet: Wallet,
  load: Load,
  transactionId: TransactionId,
  at: Instant,
  bonusOf: ((credits: DecimalText) => PurchaseBonus | null) | null = null,
): WalletEvent {
  const credits = loadableCredits(wallet, load, at);
  const ordered = order(wallet, load, transactionId, credits, wallet.topup_conversion_rate);
  const bonus = bonusOf?.(credits) ?? null;
  return {
    type: 'TopUpRequested',
    data: {
      ...ordered,
      ...ownOf(load, ordered),
      credit_balance: wallet.credit_balance,
      ...(bonus ? { bonus } : {}),
    },
  };
}

/** The load of credits that were ordered before, exactly as they were ordered. */
export function completionEvent(wallet: Wallet, topup: PendingTopUp, at: Instant): WalletEvent {
  const { credit_balance: _then, bonus: _bonus, ...ordered } = topup;
  const credits_available = beyondDebt(wallet, topup.credits);
  return {
    type: 'CreditsLoaded',
    data: { ...ordered, ...place(wallet, topup.credits, at), credits_available },
  };
}

/** The end of an order without a load. */
export const failureEvent = (
  wallet: Wallet,
  topup: PendingTopUp,
  cause: Extract<WalletEvent, { type: 'TopUpFailed' }>['data']['cause'],
  failedAt: Instant,
): WalletEvent => ({
  type: 'TopUpFailed',
  data: { ...topup, credit_balance: wallet.credit_balance, cause, failed_at: failedAt },
});

function loadableCredits(wallet: Wallet, load: Load, at: Instant): DecimalText {
  const credits = creditsOf(load.quantity, wallet);
  if (decimal(credits).cmp(zero) <= 0) {
    throw invalidOperation('The amount is worth less than the smallest part of a credit.', {
      reason: 'amount_too_small',
      credits,
    });
  }
  // The request was checked when it arrived; it may have expired while it waited.
  if (load.expiresAt !== null && load.expiresAt <= at) {
    throw invalidOperation('The credits would have expired before they were loaded.', {
      reason: 'credits_expired',
      expires_at: load.expiresAt,
    });
  }
  return credits;
}

/** A load on a wallet that owes pays the debt first; only the rest can be spent. */
function beyondDebt(wallet: Wallet, credits: DecimalText): DecimalText {
  const available = decimal(credits).minus(decimal(debtOf(wallet)));
  return textOf(available.cmp(zero) > 0 ? available : zero);
}

/**
 * Credits of a quantity: an amount is divided by the top-up rate, half to even at 9 digits. Throws 400 for
 * an amount that cannot be paid in the currency (D43), and for credits beside one that is worth others.
 */
function creditsOf(quantity: Quantity, { topup_conversion_rate, currency }: Wallet): DecimalText {
  const fault = quantity.amount && digitsFault(quantity.amount, currency);
  if (fault) throw invalidField('/amount', fault);
  const worth = ({ amount }: { readonly amount: DecimalText }): DecimalText =>
    textOf(divide(decimal(amount), decimal(topup_conversion_rate), creditPlaces));
  if (!('credits' in quantity)) return worth(quantity);
  const { credits, amount } = quantity;
  if (amount !== undefined && decimal(worth({ amount })).cmp(decimal(credits)) !== 0) {
    throw invalidField('/amount', `is worth ${worth({ amount })} credits, not credits_to_add`);
  }
  return credits;
}

export const debitEvent = (
  wallet: Wallet,
  debit: Debit | PartialDebit,
  at: Instant,
): WalletEvent => ({
  type: 'CreditsDebited',
  data: {
    ...entry(wallet, debit, at, debit.credits, out(debit.credits), wallet.conversion_rate),
    ...('requested' in debit ? { credits_requested: debit.requested } : {}),
    drawn: [...drawsOf(wallet, debit)],
  },
});

/** A debit of one lot, whatever the draw-down order says: what is taken back is taken where it lies. */
export const takeBackEvent = (
  wallet: Wallet,
  { transaction_id: takes_back, remaining }: Lot,
  { transactionId, ...debit }: Debit & { readonly transactionId: TransactionId },
  at: Instant,
): WalletEvent => {
  const { credits } = debit;
  const left = textOf(decimal(remaining).minus(decimal(credits)));
  return {
    type: 'CreditsDebited',
    data: {
      ...entry(wallet, debit, at, credits, out(credits), wallet.conversion_rate),
      transaction_id: transactionId,
      takes_back,
      drawn: [{ transaction_id: takes_back, credits, remaining: left }],
    },
  };
};

/** The credits that a debit takes of each lot; one that is dated back takes first what was there then and since. */
export const drawsOf = ({ lots }: Wallet, { credits, effectiveAt }: Debit): readonly Draw[] =>
  effectiveAt === undefined ? drawFrom(lots, credits) : drawSince(lots, effectiveAt, credits);

const out = (credits: DecimalText): DecimalText => textOf(decimal(credits).neg());

/** Refuses an entry that would count from before the wallet was created. */
export function assertExisted({ id, created_at }: Wallet, effectiveAt: Instant): void {
  if (effectiveAt >= created_at) return;
  const message = `Wallet ${id} did not exist yet at ${effectiveAt}.`;
  throw invalidOperation(message, { reason: 'before_creation', created_at });
}

/** The instant from which an entry counts. Throws 400 for one before the wallet was created. */
function effectiveAtOf(wallet: Wallet, { effectiveAt }: EntryDetails, at: Instant): Instant {
  if (effectiveAt === undefined) return at;
  invariant(effectiveAt <= at, `${wallet.id}: an entry was to count from the future`);
  assertExisted(wallet, effectiveAt);
  return effectiveAt;
}

/** The part that all movements share. `change` is signed, `credits` is not. */
export const entry = (
  wallet: Wallet,
  details: EntryDetails,
  at: Instant,
  credits: DecimalText,
  change: DecimalText,
  rate: DecimalText,
): Entry => ({
  ...order(
    wallet,
    details,
    sequencedId('wtxn', at, wallet.id, wallet.transactions + 1),
    credits,
    rate,
  ),
  ...place(wallet, change, effectiveAtOf(wallet, details, at)),
});

/** The members of an entry beside its place in the ledger. */
const order = (
  wallet: Wallet,
  details: EntryDetails,
  transactionId: TransactionId,
  credits: DecimalText,
  rate: DecimalText,
): Order => ({
  transaction_id: transactionId,
  customer_id: wallet.customer_id,
  currency: wallet.currency,
  conversion_rate: wallet.conversion_rate,
  topup_conversion_rate: wallet.topup_conversion_rate,
  credits,
  amount: textOf(decimal(credits).times(decimal(rate))),
  reason: details.reason,
  reference_type: details.referenceType,
  reference_id: details.referenceId,
  description: details.description,
  idempotency_key: details.idempotencyKey,
  metadata: details.metadata,
});

/** The place of the next entry in the ledger, when it changes the balance by `change`. */
const place = (wallet: Wallet, change: DecimalText, effective_at: Instant) => ({
  effective_at,
  sequence: wallet.transactions + 1,
  credit_balance_before: wallet.credit_balance,
  credit_balance_after: textOf(decimal(wallet.credit_balance).plus(decimal(change))),
});
