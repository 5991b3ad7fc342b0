import {
  type DecimalText,
  decimal,
  type Instant,
  laterOf,
  smaller,
  type TransactionId,
  textOf,
  zero,
  zeroText,
} from '@counterfoil/kernel';
import type { TransactionReason, WalletEvent } from '../events.ts';

/** The class of credits, given or paid for: the two parts of the available credits. */
export type LotClass = 'free' | 'purchased';

const purchasedReasons: readonly TransactionReason[] = [
  'PURCHASED_CREDIT_DIRECT',
  'PURCHASED_CREDIT_INVOICED',
];

/** Every reason is one or the other, so that the two always add up to the balance. */
export const lotClassOf = (reason: TransactionReason): LotClass =>
  purchasedReasons.includes(reason) ? 'purchased' : 'free';

/** Credits of one load that are not spent yet (D23). A lot that is spent completely is gone. */
export interface Lot {
  readonly transaction_id: TransactionId;
  readonly remaining: DecimalText;
  readonly class: LotClass;
  /** Lower is spent first; null last. */
  readonly priority: number | null;
  /** The instant from which its credits count; a debit that is dated back to before it cannot draw them. */
  readonly effective_at: Instant;
  /** Set when credits came back that had not been there before: of what it has, only `kept` was there before `at`. */
  readonly refilled?: { readonly at: Instant; readonly kept: DecimalText };
  /** From this instant on the lot cannot be spent; null: never expires. */
  readonly expires_at: Instant | null;
  /** Number of the load in its wallet: the age of the lot. */
  readonly sequence: number;
}

/** A part taken out of a lot, and the rest in it. */
export interface Draw {
  readonly transaction_id: TransactionId;
  readonly credits: DecimalText;
  readonly remaining: DecimalText;
}

const nullsLast = <Value extends number | string>(a: Value | null, b: Value | null): number => {
  if (a === b) return 0;
  if (a === null) return 1;
  if (b === null) return -1;
  return a < b ? -1 : 1;
};

const classOrder = { free: 0, purchased: 1 } as const;

/**
 * Draw-down order: priority, then expiry, then free before purchased, then age (D23).
 * Total, because no two lots of a wallet have the same age.
 */
export const inDrawOrder = (a: Lot, b: Lot): number =>
  nullsLast(a.priority, b.priority) ||
  nullsLast(a.expires_at, b.expires_at) ||
  classOrder[a.class] - classOrder[b.class] ||
  a.sequence - b.sequence;

/** Tells whether a lot can no longer be spent: the expiry instant itself is already too late. */
export const isExpired = (lot: Lot, at: Instant): boolean =>
  lot.expires_at !== null && lot.expires_at <= at;

/** The credits of a lot that were there at an instant and at every one since. */
function thereSince({ remaining, effective_at, refilled }: Lot, instant: Instant): DecimalText {
  if (effective_at > instant) return zeroText;
  if (!refilled || refilled.at <= instant) return remaining;
  return textOf(smaller(decimal(refilled.kept), decimal(remaining)));
}

/** The lots with the credits that were there at an instant and at every one since (D73). */
export const lotsSince = (lots: readonly Lot[], instant: Instant): readonly Lot[] =>
  lots.flatMap((lot) => {
    const remaining = thereSince(lot, instant);
    return remaining === zeroText ? [] : [{ ...lot, remaining }];
  });

/** The instant from which credits that come back to a lot count, and what the lot has kept until then. */
export function refilledAt({ remaining, refilled }: Lot, at: Instant): Pick<Lot, 'refilled'> {
  const kept = refilled ? smaller(decimal(refilled.kept), decimal(remaining)) : decimal(remaining);
  return { refilled: { at: refilled ? laterOf(refilled.at, at) : at, kept: textOf(kept) } };
}

/**
 * A part of a lot that is taken out of it and may come back. It counts from the instant from which all of the lot
 * does: what the lot has kept from before stays with the lot, so that it cannot be drawn twice.
 */
export function partOf({ refilled, ...lot }: Lot, credits: DecimalText): Lot {
  return { ...lot, remaining: credits, effective_at: refilled?.at ?? lot.effective_at };
}

/** The lots after a debit that counts from an instant. Dated back to before a lot was refilled it takes of what that has kept. */
export const afterDebit = (
  lots: readonly Lot[],
  draws: readonly Draw[],
  instant: Instant,
): readonly Lot[] =>
  afterDraws(
    lots.map((lot) => lessKept(lot, draws, instant)),
    draws,
  );

function lessKept(lot: Lot, draws: readonly Draw[], instant: Instant): Lot {
  const { refilled } = lot;
  const draw = draws.find(({ transaction_id }) => transaction_id === lot.transaction_id);
  if (!refilled || !draw || refilled.at <= instant) return lot;
  const taken = smaller(decimal(refilled.kept), decimal(draw.credits));
  const kept = textOf(decimal(refilled.kept).minus(taken));
  return { ...lot, refilled: { ...refilled, kept } };
}

/** Credits in lots, expired or not. */
export const sumOf = (lots: readonly Lot[]): DecimalText =>
  textOf(lots.reduce((sum, lot) => sum.plus(decimal(lot.remaining)), zero));

/**
 * Takes credits from lots in draw-down order. Draws less than `credits` when the lots hold less: the
 * caller refuses the rest or books it as debt. The lots must not be expired and must be in draw-down
 * order.
 */
export function drawFrom(lots: readonly Lot[], credits: DecimalText): readonly Draw[] {
  const draws: Draw[] = [];
  let missing = decimal(credits);
  for (const lot of lots) {
    if (missing.cmp(zero) <= 0) break;
    const remaining = decimal(lot.remaining);
    const taken = remaining.cmp(missing) <= 0 ? remaining : missing;
    draws.push({
      transaction_id: lot.transaction_id,
      credits: textOf(taken),
      remaining: textOf(remaining.minus(taken)),
    });
    missing = missing.minus(taken);
  }
  return draws;
}

/**
 * Takes credits for a debit that is dated back: first what was there at its instant and ever since, then the
 * rest, which pays only where the wallet may owe.
 */
export function drawSince(
  lots: readonly Lot[],
  instant: Instant,
  credits: DecimalText,
): readonly Draw[] {
  const has = new Map(lots.map((lot) => [lot.transaction_id, decimal(lot.remaining)]));
  const first = drawFrom(lotsSince(lots, instant), credits).map((draw) => ({
    ...draw,
    remaining: textOf((has.get(draw.transaction_id) ?? zero).minus(decimal(draw.credits))),
  }));
  const missing = textOf(decimal(credits).minus(decimal(drawnCredits(first))));
  return inOneEach([...first, ...drawFrom(afterDraws(lots, first), missing)]);
}

/** Credits of all draws. */
export const drawnCredits = (draws: readonly Draw[]): DecimalText =>
  textOf(draws.reduce((sum, { credits }) => sum.plus(decimal(credits)), zero));

/** One draw per lot, with what the last of them left: a lot can be drawn from more than once. */
export function inOneEach(draws: readonly Draw[]): readonly Draw[] {
  const byLot = new Map<string, Draw>();
  for (const draw of draws) {
    const known = byLot.get(draw.transaction_id);
    const credits = known ? drawnCredits([known, draw]) : draw.credits;
    byLot.set(draw.transaction_id, { ...draw, credits });
  }
  return [...byLot.values()];
}

/** The lots after draws: reduced, and without those that are spent completely. */
export function afterDraws(lots: readonly Lot[], draws: readonly Draw[]): readonly Lot[] {
  const left = new Map(draws.map((draw) => [draw.transaction_id, draw.remaining]));
  return lots.flatMap((lot) => {
    const remaining = left.get(lot.transaction_id);
    if (remaining === undefined) return [lot];
    return remaining === '0' ? [] : [{ ...lot, remaining }];
  });
}

/** The lots with one more, at its place in draw-down order. */
export function withLot(lots: readonly Lot[], lot: Lot): readonly Lot[] {
  // From the end: the newest lot is the last one as a rule.
  const place = lots.findLastIndex((other) => inDrawOrder(other, lot) < 0) + 1;
  return lots.toSpliced(place, 0, lot);
}

/**
 * The lots after credits have come back to some of them, each given with what it has then. A lot that was
 * spent completely exists again.
 */
export function withReturned(lots: readonly Lot[], returned: readonly Lot[]): readonly Lot[] {
  return returned.reduce<readonly Lot[]>((current, lot) => {
    const others = current.filter(({ transaction_id }) => transaction_id !== lot.transaction_id);
    return withLot(others, lot);
  }, lots);
}

/** The lot that a load becomes. */
export const lotOfLoad = (load: Extract<WalletEvent, { type: 'CreditsLoaded' }>['data']): Lot => ({
  transaction_id: load.transaction_id,
  class: lotClassOf(load.reason),
  priority: load.priority,
  effective_at: load.effective_at,
  expires_at: load.expires_at,
  sequence: load.sequence,
  // What changes with every entry comes last: see `often` of a column.
  remaining: load.credits_available,
});
