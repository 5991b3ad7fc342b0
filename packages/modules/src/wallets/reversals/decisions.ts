import {
  type DecimalText,
  decimal,
  type Instant,
  invalidOperation,
  refusal,
  shiftedBy,
  smaller,
  textOf,
  zero,
  zeroText,
} from '@counterfoil/kernel';
import { open, type WalletDecision } from '../decisions.ts';
import type { ReturnedLot, WalletEvent } from '../events.ts';
import { chain } from '../ledger/chain.ts';
import { dueEvents } from '../ledger/due.ts';
import { type EntryDetails, entry } from '../ledger/entries.ts';
import { afterDraws, drawFrom, inDrawOrder, isExpired, type Lot, sumOf } from '../ledger/lots.ts';
import { concluded } from '../topups/automatic.ts';
import { debtOf, type Wallet } from '../wallet.ts';
import { type ReversibleEntry, reversedBy } from './reversals.ts';

/** A reversal as it is asked for. */
export interface Reverse extends EntryDetails {
  /** Null for all that is left of the entry. */
  readonly credits: DecimalText | null;
  /** The expiry of lots that have expired meanwhile; null for the usual one. */
  readonly expiresAt: Instant | null;
}

/** The life of a lot that has expired before its credits come back, unless the request says otherwise (D42). */
const renewedMilliseconds = 30 * 86_400_000;

/**
 * Gives the credits of a debit or a capture back to the lots that it drew from, the one that was drawn last
 * first, with their class, priority and expiry (D42, D74). Refuses more than is left of the entry.
 */
export const reverseEntry =
  (id: string, reversible: ReversibleEntry, reverse: Reverse): WalletDecision =>
  (state, at) => {
    const wallet = open(state, id, 'take credits back');
    return chain(wallet, [
      (current) => dueEvents(current, at),
      (current) => [reversalEvent(current, reversible, reverse, at)],
      ...concluded(at),
    ]);
  };

function reversalEvent(
  wallet: Wallet,
  reversible: ReversibleEntry,
  { credits: asked, expiresAt, ...details }: Reverse,
  at: Instant,
): WalletEvent {
  const before = reversedBy(wallet.reversals, reversible);
  const credits = reversibleCredits(reversible, before, asked);
  const renewed = renewedExpiry(expiresAt, at);
  const back = partsBack(reversible, before, credits, at).map((part) =>
    part.transaction_id === reversible.transactionId ? part : presentLot(wallet, part, renewed, at),
  );
  const [own, lots] = withoutDebt(back, reversible, debtOf(wallet));
  return {
    type: 'DebitReversed',
    data: {
      ...entry(wallet, details, at, credits, credits, wallet.conversion_rate),
      reverses: reversible.transactionId,
      reversed: textOf(decimal(before).plus(decimal(credits))),
      renewed_until: renewed,
      returned: lots.map((lot) => returnedLot(wallet, lot)),
      credits_available: own,
    },
  };
}

/** The credits to be given back: those asked for, else all that are left. Refuses more than that. */
function reversibleCredits(
  { transactionId, credits }: ReversibleEntry,
  reversed: DecimalText,
  asked: DecimalText | null,
): DecimalText {
  const left = decimal(credits).minus(decimal(reversed));
  const wanted = asked === null ? left : decimal(asked);
  if (left.cmp(zero) > 0 && wanted.cmp(left) <= 0) return textOf(wanted);
  throw refusal(
    `${textOf(left)} credits of transaction ${transactionId} are left to be reversed.`,
    { reason: 'reversal_exceeded', left: textOf(left), requested: textOf(wanted) },
  );
}

function renewedExpiry(asked: Instant | null, at: Instant): Instant {
  const expiry = asked ?? shiftedBy(at, renewedMilliseconds);
  if (expiry > at) return expiry;
  throw invalidOperation('The credits would have expired before they came back.', {
    reason: 'credits_expired',
    expires_at: expiry,
  });
}

/**
 * The parts of an entry that come back, the last drawn first. What it had taken beyond its lots was the last of
 * all; that part bears the id of the entry.
 */
function partsBack(
  { transactionId, credits, parts }: ReversibleEntry,
  reversed: DecimalText,
  wanted: DecimalText,
  at: Instant,
): readonly Lot[] {
  const beyond: Lot = {
    transaction_id: transactionId,
    remaining: textOf(decimal(credits).minus(decimal(sumOf(parts)))),
    class: 'purchased',
    priority: null,
    effective_at: at,
    expires_at: null,
    sequence: 0,
  };
  const all = [...(beyond.remaining === '0' ? [] : [beyond]), ...parts.toReversed()];
  const left = afterDraws(all, drawFrom(all, reversed));
  return drawFrom(left, wanted).flatMap(({ transaction_id, credits: remaining }) =>
    left
      .filter((part) => part.transaction_id === transaction_id)
      .map((part) => ({ ...part, remaining })),
  );
}

/** A part as the lot to which it returns is by now; one that has expired gets another expiry. */
function presentLot(wallet: Wallet, part: Lot, renewed: Instant, at: Instant): Lot {
  const lot = wallet.lots.find(({ transaction_id }) => transaction_id === part.transaction_id);
  const present = { ...(lot ?? part), remaining: part.remaining };
  return isExpired(present, at) ? { ...present, expires_at: renewed } : present;
}

/**
 * The parts that remain when a debt has been paid: what was taken beyond lots pays first, then the others in
 * draw-down order. Returns the credits that belong to no lot, and the parts of lots.
 */
function withoutDebt(
  back: readonly Lot[],
  { transactionId }: ReversibleEntry,
  debt: DecimalText,
): readonly [own: DecimalText, lots: readonly Lot[]] {
  const isOwn = ({ transaction_id }: Lot) => transaction_id === transactionId;
  const own = sumOf(back.filter(isOwn));
  const paid = textOf(smaller(decimal(own), decimal(debt)));
  const lots = back.filter((part) => !isOwn(part)).sort(inDrawOrder);
  const rest = drawFrom(lots, textOf(decimal(debt).minus(decimal(paid))));
  return [textOf(decimal(own).minus(decimal(paid))), afterDraws(lots, rest)];
}

function returnedLot(
  wallet: Wallet,
  { remaining: credits, effective_at: _from, ...lot }: Lot,
): ReturnedLot {
  const open = wallet.lots.find(({ transaction_id }) => transaction_id === lot.transaction_id);
  const remaining = textOf(decimal(credits).plus(decimal(open?.remaining ?? zeroText)));
  return { ...lot, credits, remaining };
}
