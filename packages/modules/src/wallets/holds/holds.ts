import {
  type DebitId,
  type DecimalText,
  decimal,
  type HoldId,
  type Instant,
  type InvoiceId,
  type Metadata,
  smaller,
  textOf,
  zero,
  zeroText,
} from '@counterfoil/kernel';
import type { WalletEvent } from '../events.ts';
import {
  afterDraws,
  type Draw,
  drawFrom,
  drawnCredits,
  inDrawOrder,
  inOneEach,
  type Lot,
  partOf,
  refilledAt,
  sumOf,
} from '../ledger/lots.ts';

/**
 * Credits that are set aside for one purpose. They were drawn from their lots when the hold was
 * made, so nothing else can spend them, and they do not expire while they are held.
 */
export interface Hold {
  readonly id: HoldId;
  /** Set where a debit of the customer holds them, and alone ends it (D76). */
  readonly debit_id?: DebitId;
  /** Set where an invoice holds them, and alone ends it (ADR 44). */
  readonly invoice_id?: InvoiceId;
  readonly credits: DecimalText;
  readonly expires_at: Instant | null;
  readonly description: string | null;
  readonly metadata: Metadata;
  readonly created_at: Instant;
  readonly created_by: string;
  /** Credits that were captured so far, and the number of captures. */
  readonly captured: DecimalText;
  readonly captures: number;
  /** The lots it was drawn from; `remaining` is the part that the hold has of each. */
  readonly parts: readonly Lot[];
}

/** The hold that these draws from these lots make. */
export function holdFrom(
  lots: readonly Lot[],
  hold: Omit<Hold, 'parts'>,
  draws: readonly Pick<Draw, 'transaction_id' | 'credits'>[],
): Hold {
  const parts = draws.flatMap((draw) => {
    const lot = lots.find(({ transaction_id }) => transaction_id === draw.transaction_id);
    return lot ? [partOf(lot, draw.credits)] : [];
  });
  return { ...hold, parts };
}

/** The division of the parts of a hold when a number of its credits is captured. */
export interface Division {
  /** The captured parts, each with the remaining credits of its lot afterwards. */
  readonly drawn: readonly Draw[];
  /** The returned parts, each with the remaining credits of its lot afterwards. */
  readonly returned: readonly Draw[];
}

/**
 * Divides a hold: captured parts in draw-down order; credits that the hold had promised beyond its parts
 * come out of the lots that exist by now. Where that ends the hold, the rest pays `debt` first, and only the
 * remainder returns to its lots. The lots must not be expired.
 */
export function divideHold(
  lots: readonly Lot[],
  hold: Hold,
  captured: DecimalText,
  debt: DecimalText,
  isFinal = true,
): Division {
  const own = drawFrom(hold.parts, captured);
  const beyond = drawFrom(lots, textOf(decimal(captured).minus(decimal(drawnCredits(own)))));
  const left = afterDraws(hold.parts, own);
  const back = isFinal ? afterDraws(left, drawFrom(left, debt)) : [];
  const lotsLeft = afterDraws(lots, beyond);
  const leftIn = (parts: readonly Lot[], id: string) =>
    decimal(parts.find(({ transaction_id }) => transaction_id === id)?.remaining ?? '0');
  const remaining = (id: string) => textOf(leftIn(lotsLeft, id).plus(leftIn(back, id)));
  return {
    drawn: inOneEach([...own, ...beyond]).map((draw) => ({
      ...draw,
      remaining: remaining(draw.transaction_id),
    })),
    returned: back.map(({ transaction_id, remaining: credits }) => ({
      transaction_id,
      credits,
      remaining: remaining(transaction_id),
    })),
  };
}

/** A hold after a capture that did not end it. */
export const afterCapture = (hold: Hold, credits: DecimalText): Hold => ({
  ...hold,
  credits: textOf(decimal(hold.credits).minus(decimal(credits))),
  captured: textOf(decimal(hold.captured).plus(decimal(credits))),
  captures: hold.captures + 1,
  parts: afterDraws(hold.parts, drawFrom(hold.parts, credits)),
});

/** A hold that is raised: more of the lots, which must hold that much unless the wallet may owe. */
export function raised(lots: readonly Lot[], hold: Hold, credits: DecimalText): Change {
  const drawn = drawFrom(lots, textOf(decimal(credits).minus(decimal(hold.credits))));
  const more = holdFrom(lots, hold, drawn).parts;
  const parts = [...hold.parts, ...more].sort(inDrawOrder);
  return { drawn: [...drawn], returned: [], parts: inOneEach(parts.map(asDraw)).map(asPart) };
}

/**
 * A hold that is lowered: what it had promised beyond its parts goes first, then the part that would be captured
 * last. Whatever comes back pays `debt` first.
 */
export function lowered(
  lots: readonly Lot[],
  hold: Hold,
  credits: DecimalText,
  debt: DecimalText,
): Change {
  const promised = decimal(hold.credits).minus(decimal(sumOf(hold.parts)));
  const less = decimal(hold.credits).minus(decimal(credits)).minus(promised);
  const last = hold.parts.toReversed();
  const given = drawFrom(last, textOf(less.cmp(zero) > 0 ? less : zero));
  const parts = afterDraws(hold.parts, given);
  const free = holdFrom(last, hold, given).parts.toSorted(inDrawOrder);
  const back = afterDraws(free, drawFrom(free, debt));
  const leftIn = (id: string) =>
    decimal(lots.find(({ transaction_id }) => transaction_id === id)?.remaining ?? zeroText);
  const returned = back.map(({ transaction_id, remaining }) => ({
    transaction_id,
    credits: remaining,
    remaining: textOf(leftIn(transaction_id).plus(decimal(remaining))),
  }));
  return { drawn: [], returned, parts: parts.map(asDraw).map(asPart) };
}

/** The draws of a change of a hold, and the parts that it has then. */
type Change = Pick<
  Extract<WalletEvent, { type: 'HoldChanged' }>['data'],
  'drawn' | 'returned' | 'parts'
>;

const asDraw = ({ transaction_id, remaining }: Lot): Draw => ({
  transaction_id,
  credits: remaining,
  remaining,
});
const asPart = ({ transaction_id, credits }: Draw) => ({ transaction_id, credits });

/** The lots to which parts of a hold return, each with what it has then. */
export const partsReturned = (
  lots: readonly Lot[],
  { parts }: Hold,
  returned: readonly Draw[],
): readonly Lot[] =>
  returned.flatMap(({ transaction_id, remaining }) => {
    const isIt = (other: Lot) => other.transaction_id === transaction_id;
    const [lot, part] = [lots.find(isIt), parts.find(isIt)];
    // The lot itself where it is open: a reversal may have renewed its expiry (D42).
    if (!part) return [];
    if (!lot) return [{ ...part, remaining }];
    const isLater = part.effective_at > lot.effective_at;
    return [{ ...lot, ...(isLater ? refilledAt(lot, part.effective_at) : {}), remaining }];
  });

/** Credits of all holds. */
export const heldCredits = (holds: readonly Hold[]): DecimalText =>
  textOf(holds.reduce((sum, hold) => sum.plus(decimal(hold.credits)), zero));

/** The credits that a capture takes: those asked for, else the whole hold. */
export const capturedCredits = (hold: Hold, asked: DecimalText | null): DecimalText =>
  asked === null ? hold.credits : textOf(smaller(decimal(asked), decimal(hold.credits)));
