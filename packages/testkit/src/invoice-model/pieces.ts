import { type Fraction, minus, rounded } from './fraction.ts';
import type { BilledItem, Moment, Stretch } from './life.ts';
import { common, monthsAfter } from './periods.ts';
import { costOf } from './prices.ts';

/** A line for as long as its quantity stays the same. */
export interface Piece {
  readonly item: BilledItem;
  readonly quantity: number;
  /** The instant from which its own periods are counted, where they are longer. */
  readonly since: Moment;
  from: Moment;
  to: Moment;
}

/** Money that was charged in advance, and what became of it. */
export interface Charge {
  /** The piece that was charged, and the one that stands in its place by now. */
  readonly of: Piece;
  holder: Piece;
  readonly span: Stretch;
  readonly units: bigint;
  /** Credits of it for the invoice that it stands on, as long as that is not final; then null. */
  waiting: Entry[] | null;
  /** Its worth on its invoice, less discounts. */
  net: bigint;
  tax: bigint;
  credited: bigint;
}

/** Something that is settled. */
export type Entry =
  | { readonly kind: 'usage'; readonly piece: Piece; readonly span: Stretch }
  | {
      readonly kind: 'charge';
      readonly piece: Piece;
      readonly span: Stretch;
      readonly quantity: number;
      readonly units: bigint;
      /** Null: it is in arrears, and never given back. */
      readonly charge: Charge | null;
    }
  | {
      readonly kind: 'credit';
      readonly piece: Piece;
      readonly span: Stretch;
      readonly units: bigint;
      readonly tax: bigint;
      readonly of: Charge;
      /** True for what is given back net of the discounts of its own invoice: that was final. */
      readonly isNet: boolean;
    };

export const fullPrice = ({ item, quantity }: Pick<Piece, 'item' | 'quantity'>): Fraction =>
  costOf(item.price, { upper: BigInt(quantity), lower: 1n });

/** A part of a price, in proportion to time, in units of the currency. */
export const partOf = (price: Fraction, span: Stretch, whole: Stretch, digits: number): bigint =>
  rounded({
    upper: price.upper * BigInt(span.to - span.from) * 10n ** BigInt(digits),
    lower: price.lower * BigInt(whole.to - whole.from),
  });

export const chargeOf = (
  piece: Piece,
  span: Stretch,
  units: bigint,
  quantity = piece.quantity,
): Extract<Entry, { kind: 'charge' }> => ({
  ...{ kind: 'charge', piece, span, quantity, units },
  charge: { of: piece, holder: piece, span, units, waiting: [], net: units, tax: 0n, credited: 0n },
});

/** The own periods of a line that is charged for longer ones, as far as they meet a stretch of time. */
export function ownPeriods({ item, since }: Piece, window: Stretch): readonly Stretch[] {
  const at = (number: number): Moment => monthsAfter(since, number * item.months);
  const found: Stretch[] = [];
  for (let number = 0; at(number) < window.to; number += 1) {
    const own = { from: at(number), to: at(number + 1) };
    if (common(own, window) !== null) found.push(own);
  }
  return found;
}

/** The credit of a charge for the time after an instant; null for nothing. */
export function creditOf(charge: Charge, at: Moment): Extract<Entry, { kind: 'credit' }> | null {
  const { of: piece, net, tax, credited } = charge;
  const span = { from: Math.max(charge.span.from, at), to: charge.span.to };
  if (span.from >= span.to || charge.units === 0n) return null;
  const length = BigInt(charge.span.to - charge.span.from);
  const unused = rounded({ upper: net * BigInt(span.to - span.from), lower: length });
  const units = unused - credited < net - credited ? unused - credited : net - credited;
  if (units <= 0n) return null;
  const taxUpTo = (part: bigint): bigint => rounded({ upper: tax * part, lower: net });
  const back = taxUpTo(credited + units) - taxUpTo(credited);
  charge.credited += units;
  return {
    kind: 'credit',
    piece,
    span,
    units,
    tax: back,
    of: charge,
    isNet: charge.waiting === null,
  };
}

/** The difference of two prices of a line, of which the first one is the greater. */
export const dearer = (one: Piece, other: Piece): Fraction =>
  minus(fullPrice(one), fullPrice(other));
