import {
  type Currency,
  type Decimal,
  type DecimalText,
  decimal,
  invariant,
  money,
  moneyText,
  textOf,
  zero,
} from '@counterfoil/kernel';
import { type Charge, chargeFor } from './charge.ts';
import type { PriceTerms } from './terms.ts';

/** The exact cost of a line, with every figure that led there. */
export interface ExactCost {
  readonly currency: Currency;
  /** As it was measured; of several buckets their sum. */
  readonly quantity: DecimalText;
  /**
   * The quantity that is charged for: the one used, or the minimum of the price where that is more.
   */
  readonly billed_quantity: DecimalText;
  /** One, or one per bucket in the order of the buckets; exact, in the price unit if there is one. */
  readonly charges: readonly Charge[];
  /** The charges in the unit of the price and its rate; null for a price in its currency. */
  readonly price_unit: {
    readonly code: string;
    readonly amount: DecimalText;
    readonly conversion_rate: DecimalText;
  } | null;
  /** Exact, in the currency. */
  readonly unrounded_amount: DecimalText;
}

/** An exact amount as money. */
export interface RoundedAmount {
  readonly unrounded_amount: DecimalText;
  /** The one rounding: half away from zero, at the digits of the currency (D31). */
  readonly amount: DecimalText;
  /** `amount − unrounded_amount`. */
  readonly rounding: DecimalText;
}

/** The cost of a line that nothing but its price decides. */
export interface Cost extends ExactCost, RoundedAmount {}

/**
 * The cost of a quantity.
 *
 * @param quantity not negative; zero costs nothing, unless the price has a minimum quantity
 * @throws BrokenInvariant for a negative quantity
 */
export const cost = (terms: PriceTerms, quantity: DecimalText, currency: Currency): Cost =>
  rounded(exactCost(terms, quantity, currency));

/**
 * The cost of a bucketed meter: every bucket is priced on its own, so that tiers and packages start
 * again in each, and the sum is rounded once. Empty buckets cost nothing.
 *
 * @throws BrokenInvariant for a negative quantity, and for a price with a minimum quantity, which is
 *   never one of usage
 */
export const costOfBuckets = (
  terms: PriceTerms,
  quantities: readonly DecimalText[],
  currency: Currency,
): Cost => rounded(exactCostOfBuckets(terms, quantities, currency));

/** The same as `cost` before its rounding, for a line that more than the price decides. */
export function exactCost(terms: PriceTerms, quantity: DecimalText, currency: Currency): ExactCost {
  const [measured, minimum] = [decimal(quantity), decimal(terms.minimum_quantity)];
  invariant(measured.cmp(zero) >= 0, 'a quantity that is priced is not negative');
  const billed = measured.cmp(minimum) < 0 ? minimum : measured;
  return costOf(terms, currency, measured, [chargeFor(terms, billed)]);
}

/** The same as `costOfBuckets` before its rounding. */
export function exactCostOfBuckets(
  terms: PriceTerms,
  quantities: readonly DecimalText[],
  currency: Currency,
): ExactCost {
  invariant(decimal(terms.minimum_quantity).eq(zero), 'a price of buckets has no minimum quantity');
  const charges = quantities.map((quantity) => chargeFor(terms, decimal(quantity)));
  return costOf(terms, currency, sumOf(quantities), charges);
}

function costOf(
  { price_unit }: PriceTerms,
  currency: Currency,
  quantity: Decimal,
  charges: readonly Charge[],
): ExactCost {
  const charged = sumOf(charges.map(({ amount }) => amount));
  const unrounded = price_unit ? charged.times(decimal(price_unit.conversion_rate)) : charged;
  return {
    currency,
    quantity: textOf(quantity),
    billed_quantity: textOf(sumOf(charges.map((charge) => charge.quantity))),
    charges,
    price_unit: price_unit && { ...price_unit, amount: textOf(charged) },
    unrounded_amount: textOf(unrounded),
  };
}

const rounded = (exact: ExactCost): Cost => ({
  ...exact,
  ...roundedAmount(decimal(exact.unrounded_amount), exact.currency),
});

/** The one rounding of a line, with what it added (D31). */
export function roundedAmount(unrounded: Decimal, currency: Currency): RoundedAmount {
  const amount = moneyText(money(unrounded, currency));
  return {
    unrounded_amount: textOf(unrounded),
    amount,
    rounding: textOf(decimal(amount).minus(unrounded)),
  };
}

const sumOf = (parts: readonly DecimalText[]): Decimal =>
  parts.reduce((sum, part) => sum.plus(decimal(part)), zero);
