import {
  type DecimalText,
  decimal,
  divide,
  type Instant,
  invalidOperation,
  type Metadata,
  sequencedId,
  textOf,
  zero,
  zeroText,
} from '@counterfoil/kernel';
import type { Entry, TransactionReason, WalletEvent } from './events.ts';
import { divideHold, type Hold } from './holds.ts';
import { drawFrom, type Lot } from './lots.ts';
import { debtOf, type Wallet } from './wallet.ts';

/** How much: by credits, or by an amount of the currency at the top-up rate (decision 22). */
export type Quantity = { readonly credits: DecimalText } | { readonly amount: DecimalText };

/** What a caller says about a movement of credits. */
export interface EntryDetails {
  readonly reason: TransactionReason;
  readonly referenceType: Entry['reference_type'];
  readonly referenceId: string | null;
  readonly description: string | null;
  readonly idempotencyKey: string | null;
  readonly metadata: Metadata;
}

/** Credits to be loaded as one lot. */
export interface Load extends EntryDetails {
  readonly quantity: Quantity;
  readonly priority: number | null;
  readonly expiresAt: Instant | null;
}

/** Credits to be taken. */
export interface Debit extends EntryDetails {
  readonly credits: DecimalText;
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

/** A capture: a debit of the hold's own parts; what is not captured goes back. */
export const captureEvent = (
  wallet: Wallet,
  hold: Hold,
  debit: Debit,
  at: Instant,
): WalletEvent => {
  const { drawn, returned } = divideHold(wallet.lots, hold, debit.credits, debtOf(wallet));
  return {
    type: 'HoldCaptured',
    data: {
      ...entry(wallet, debit, at, debit.credits, out(debit.credits), wallet.conversion_rate),
      hold_id: hold.id,
      drawn: [...drawn],
      returned: [...returned],
    },
  };
};

/** What is left of a lot, booked out: its expiry took effect at one instant, and is booked at another. */
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
      drawn: [{ transaction_id: lot.transaction_id, credits, remaining: '0' as DecimalText }],
      expired_at: expiredAt,
    },
  };
}

export function loadEvents(wallet: Wallet, load: Load, at: Instant): readonly WalletEvent[] {
  const credits = creditsOf(load.quantity, wallet);
  if (decimal(credits).cmp(zero) <= 0) {
    throw invalidOperation('The amount is worth less than the smallest part of a credit.', {
      credits,
    });
  }
  // The request was checked when it arrived; what it waited for since may have used the time up.
  if (load.expiresAt !== null && load.expiresAt <= at) {
    throw invalidOperation('The credits would have expired before they were loaded.', {
      expires_at: load.expiresAt,
    });
  }
  const booked = entry(wallet, load, at, credits, credits, wallet.topup_conversion_rate);
  // A load on a wallet that owes pays the debt first; only the rest can be spent (§3.4).
  const available = decimal(credits).minus(debtOf(wallet));
  return [
    {
      type: 'CreditsLoaded',
      data: {
        ...booked,
        amount: 'amount' in load.quantity ? load.quantity.amount : booked.amount,
        priority: load.priority,
        expires_at: load.expiresAt,
        credits_available: textOf(available.cmp(zero) > 0 ? available : zero),
      },
    },
  ];
}

/** Credits of a quantity: an amount is divided by the top-up rate, half to even at 9 digits. */
const creditsOf = (quantity: Quantity, wallet: Wallet): DecimalText =>
  'credits' in quantity
    ? quantity.credits
    : textOf(divide(decimal(quantity.amount), decimal(wallet.topup_conversion_rate), creditPlaces));

export const debitEvent = (wallet: Wallet, debit: Debit, at: Instant): WalletEvent => ({
  type: 'CreditsDebited',
  data: {
    ...entry(wallet, debit, at, debit.credits, out(debit.credits), wallet.conversion_rate),
    drawn: [...drawFrom(wallet.lots, debit.credits)],
  },
});

const out = (credits: DecimalText): DecimalText => textOf(decimal(credits).neg());

/** The part that all movements share. `change` is signed, `credits` is not. */
function entry(
  wallet: Wallet,
  details: EntryDetails,
  at: Instant,
  credits: DecimalText,
  change: DecimalText,
  rate: DecimalText,
): Entry {
  const sequence = wallet.transactions + 1;
  return {
    transaction_id: sequencedId('wtxn', at, wallet.id, sequence),
    sequence,
    customer_id: wallet.customer_id,
    currency: wallet.currency,
    conversion_rate: wallet.conversion_rate,
    topup_conversion_rate: wallet.topup_conversion_rate,
    credits,
    amount: textOf(decimal(credits).times(decimal(rate))),
    credit_balance_before: wallet.credit_balance,
    credit_balance_after: textOf(decimal(wallet.credit_balance).plus(decimal(change))),
    reason: details.reason,
    reference_type: details.referenceType,
    reference_id: details.referenceId,
    description: details.description,
    idempotency_key: details.idempotencyKey,
    metadata: details.metadata,
  };
}
