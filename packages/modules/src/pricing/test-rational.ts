/**
 * A calculator of costs that shares nothing with the pricing engine but its input: fractions of BigInt,
 * tiers by the overlap of intervals, packages and rounding by integer division. Tests compare the two.
 */
import type { PriceTerms, Tier } from './terms.ts';

/** A fraction; the lower part is positive. */
export interface Fraction {
  readonly upper: bigint;
  readonly lower: bigint;
}

const none: Fraction = { upper: 0n, lower: 1n };

/** The fraction of a plain decimal text. */
export function fraction(text: string): Fraction {
  const [whole = '', digits = ''] = text.split('.');
  return { upper: BigInt(whole + digits), lower: 10n ** BigInt(digits.length) };
}

export const plus = (a: Fraction, b: Fraction): Fraction => ({
  upper: a.upper * b.lower + b.upper * a.lower,
  lower: a.lower * b.lower,
});

export const times = (a: Fraction, b: Fraction): Fraction => ({
  upper: a.upper * b.upper,
  lower: a.lower * b.lower,
});

export const minus = (a: Fraction, b: Fraction): Fraction =>
  plus(a, { upper: -b.upper, lower: b.lower });

/** Below, equal to or above zero, as a number of that sign. */
export const compare = (a: Fraction, b: Fraction): number => {
  const difference = a.upper * b.lower - b.upper * a.lower;
  return difference === 0n ? 0 : difference < 0n ? -1 : 1;
};

export const equals = (a: Fraction, b: Fraction): boolean => compare(a, b) === 0;

const least = (a: Fraction, b: Fraction): Fraction => (compare(a, b) < 0 ? a : b);

/** Computes what terms ask for a quantity, in the currency. */
export function plainCost(terms: PriceTerms, quantity: string): Fraction {
  const asked = fraction(quantity);
  const minimum = fraction(terms.minimum_quantity);
  const inUnit = plainCharge(terms, compare(asked, minimum) < 0 ? minimum : asked);
  return terms.price_unit ? times(inUnit, fraction(terms.price_unit.conversion_rate)) : inUnit;
}

function plainCharge(terms: PriceTerms, quantity: Fraction): Fraction {
  if (quantity.upper === 0n) return none;
  switch (terms.model) {
    case 'flat_fee':
      return times(quantity, fraction(terms.unit_amount));
    case 'package': {
      const dividend = quantity.upper;
      const divisor = quantity.lower * BigInt(terms.divide_by);
      const full = dividend / divisor;
      const isStarted = dividend % divisor !== 0n && terms.round === 'up';
      return times(
        { upper: isStarted ? full + 1n : full, lower: 1n },
        fraction(terms.package_amount),
      );
    }
    case 'volume':
      return plainVolume(terms.tiers, quantity);
    case 'graduated':
      return plainGraduated(terms.tiers, quantity);
  }
}

function plainVolume(tiers: readonly Tier[], quantity: Fraction): Fraction {
  const fitting = tiers.filter(
    ({ up_to }) => up_to === null || compare(quantity, fraction(up_to)) <= 0,
  );
  const tier = fitting[0] ?? (tiers[tiers.length - 1] as Tier);
  return plus(times(quantity, fraction(tier.unit_amount)), fraction(tier.flat_amount));
}

/** Computes, for each tier, the part of the quantity that lies in its interval. */
function plainGraduated(tiers: readonly Tier[], quantity: Fraction): Fraction {
  return tiers.reduce((sum, tier, index) => {
    const below = tiers[index - 1]?.up_to;
    const from = below ? fraction(below) : none;
    const isLast = index === tiers.length - 1;
    const to = tier.up_to === null || isLast ? quantity : least(quantity, fraction(tier.up_to));
    const part = minus(to, from);
    if (part.upper <= 0n) return sum;
    return plus(sum, plus(times(part, fraction(tier.unit_amount)), fraction(tier.flat_amount)));
  }, none);
}

/** Half away from zero at so many fraction digits, as a fraction. */
export function roundedAt({ upper, lower }: Fraction, digits: number): Fraction {
  const scale = 10n ** BigInt(digits);
  const size = upper < 0n ? -upper : upper;
  const rounded = (2n * size * scale + lower) / (2n * lower);
  return { upper: upper < 0n ? -rounded : rounded, lower: scale };
}
