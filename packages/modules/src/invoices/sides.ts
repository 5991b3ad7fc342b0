import {
  type Currency,
  type Decimal,
  type DecimalText,
  decimal,
  money,
  moneyText,
  spread,
  textOf,
  zero,
} from '@counterfoil/kernel';

/** The sum that is charged and the sum that is given back: the one at least zero, the other at most. */
export interface Sides {
  readonly charged: Decimal;
  readonly back: Decimal;
}

export const sidesOf = (amounts: readonly Decimal[]): Sides => ({
  charged: sum(amounts.filter((amount) => amount.cmp(zero) > 0)),
  back: sum(amounts.filter((amount) => amount.cmp(zero) < 0)),
});

export const both = ({ charged, back }: Sides): Decimal => charged.plus(back);

/** The same done on each side. */
export const onBoth = (sides: Sides, by: (amount: Decimal) => Decimal): Sides => ({
  charged: by(sides.charged),
  back: by(sides.back),
});

/** A percentage of both sides, each rounded once (D31). */
export const partsOf = (sides: Sides, percentage: DecimalText, currency: Currency): Sides =>
  onBoth(sides, (amount) => percentOf(amount, percentage, currency));

const hundredth = decimal('0.01');

const percentOf = (amount: Decimal, percentage: DecimalText, currency: Currency): Decimal =>
  rounded(amount.times(decimal(percentage)).times(hundredth), currency);

/** An amount as money. */
export const rounded = (amount: Decimal, currency: Currency): Decimal =>
  decimal(moneyText(money(amount, currency)));

/**
 * Spreads both sides of an amount over the lines of each, by what they come to.
 *
 * @param downs where what is given back goes over other lines than what is charged
 */
export function spreadOver(
  { charged, back }: Sides,
  ups: readonly Decimal[],
  currency: Currency,
  downs: readonly Decimal[] = ups,
): readonly Decimal[] {
  const ofUps = spread(textOf(charged), ups.map(notBelowZero), currency);
  const ofDowns = spread(
    textOf(back),
    downs.map((amount) => notBelowZero(amount.neg())),
    currency,
  );
  return ups.map((_, index) => decimal(ofUps[index] ?? '0').plus(decimal(ofDowns[index] ?? '0')));
}

export const sum = (amounts: readonly Decimal[]): Decimal =>
  amounts.reduce((all, amount) => all.plus(amount), zero);

export const notBelowZero = (amount: Decimal): Decimal => (amount.cmp(zero) > 0 ? amount : zero);
