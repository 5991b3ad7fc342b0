import {
  type DecimalText,
  decimal,
  type HoldId,
  type Instant,
  smaller,
  textOf,
  zero,
} from '@counterfoil/kernel';
import { afterDraws, type Draw, drawFrom, type Lot, withLot } from './lots.ts';

/**
 * Credits that are set aside for one purpose. They were drawn from their lots when the hold was
 * made, so nothing else can spend them, and they do not expire while they are held.
 */
export interface Hold {
  readonly id: HoldId;
  readonly credits: DecimalText;
  readonly expires_at: Instant | null;
  /** The lots it was drawn from; `remaining` is what the hold has of each. */
  readonly parts: readonly Lot[];
}

/** Whether a hold has ended by itself: the expiry instant itself is already too late. */
export const hasEnded = (hold: Hold, at: Instant): boolean =>
  hold.expires_at !== null && hold.expires_at <= at;

/** The hold that these draws from these lots make. */
export function holdFrom(
  lots: readonly Lot[],
  hold: Omit<Hold, 'parts'>,
  draws: readonly Draw[],
): Hold {
  const parts = draws.flatMap((draw) => {
    const lot = lots.find(({ transaction_id }) => transaction_id === draw.transaction_id);
    return lot ? [{ ...lot, remaining: draw.credits }] : [];
  });
  return { ...hold, parts };
}

/** How the parts of a hold are divided when so many credits of it are captured. */
export interface Division {
  readonly drawn: readonly Draw[];
  /** What goes back, with what its lot has afterwards. */
  readonly returned: readonly Draw[];
}

/** Divides a hold: captured parts in draw-down order, everything else goes back to its lots. */
export function divideHold(lots: readonly Lot[], hold: Hold, captured: DecimalText): Division {
  const drawn = drawFrom(hold.parts, captured);
  const left = afterDraws(hold.parts, drawn);
  const returned = left.map(({ transaction_id, remaining: credits }) => {
    const lot = lots.find((other) => other.transaction_id === transaction_id);
    const before = decimal(lot?.remaining ?? '0');
    return { transaction_id, credits, remaining: textOf(before.plus(decimal(credits))) };
  });
  const remainingOf = (id: string) =>
    returned.find(({ transaction_id }) => transaction_id === id)?.remaining ??
    lots.find(({ transaction_id }) => transaction_id === id)?.remaining ??
    textOf(zero);
  return {
    drawn: drawn.map((draw) => ({ ...draw, remaining: remainingOf(draw.transaction_id) })),
    returned,
  };
}

/** The lots after parts of a hold have come back; a lot that was spent up is there again. */
export function withReturned(
  lots: readonly Lot[],
  hold: Hold,
  returned: readonly Draw[],
): readonly Lot[] {
  let current = lots;
  for (const { transaction_id, remaining } of returned) {
    const part = hold.parts.find((other) => other.transaction_id === transaction_id);
    if (!part) continue;
    const others = current.filter((other) => other.transaction_id !== transaction_id);
    current = withLot(others, { ...part, remaining });
  }
  return current;
}

/** Credits of all holds. */
export const heldCredits = (holds: readonly Hold[]): DecimalText =>
  textOf(holds.reduce((sum, hold) => sum.plus(decimal(hold.credits)), zero));

/** The credits that a capture takes: what is asked for, else the whole hold. */
export const capturedCredits = (hold: Hold, asked: DecimalText | null): DecimalText =>
  asked === null ? hold.credits : textOf(smaller(decimal(asked), decimal(hold.credits)));
