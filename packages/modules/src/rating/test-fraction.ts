/** Fractions of whole numbers: the arithmetic of the oracle, which shares none with the code that it judges. */

/** The lower part is positive. */
export interface Fraction {
  readonly upper: bigint;
  readonly lower: bigint;
}

export const nothing: Fraction = { upper: 0n, lower: 1n };
export const one: Fraction = { upper: 1n, lower: 1n };

/** The fraction of a plain decimal text. */
export function fraction(text: string): Fraction {
  const [whole = '', digits = ''] = text.split('.');
  return { upper: BigInt(whole + digits), lower: 10n ** BigInt(digits.length) };
}

export const plus = (a: Fraction, b: Fraction): Fraction => ({
  upper: a.upper * b.lower + b.upper * a.lower,
  lower: a.lower * b.lower,
});

export const minus = (a: Fraction, b: Fraction): Fraction =>
  plus(a, { upper: -b.upper, lower: b.lower });

export const times = (a: Fraction, b: Fraction): Fraction => ({
  upper: a.upper * b.upper,
  lower: a.lower * b.lower,
});

export const isLess = (a: Fraction, b: Fraction): boolean => a.upper * b.lower < b.upper * a.lower;

export const equals = (a: Fraction, b: Fraction): boolean => !isLess(a, b) && !isLess(b, a);

export const least = (a: Fraction, b: Fraction): Fraction => (isLess(b, a) ? b : a);

export const most = (a: Fraction, b: Fraction): Fraction => (isLess(a, b) ? b : a);

export const total = (parts: readonly Fraction[]): Fraction => parts.reduce(plus, nothing);

/** The least whole number that is not below a fraction. */
export const ceiling = ({ upper, lower }: Fraction): bigint => -floorOf(-upper, lower);

/** The greatest whole number that is not above a fraction. */
export const floor = ({ upper, lower }: Fraction): bigint => floorOf(upper, lower);

const floorOf = (upper: bigint, lower: bigint): bigint =>
  upper / lower - (upper % lower !== 0n && upper < 0n ? 1n : 0n);

/** Half away from zero at so many digits after the point. */
export function roundedTo(digits: number, value: Fraction): Fraction {
  const scale = 10n ** BigInt(digits);
  if (value.upper < 0n) {
    const size = roundedTo(digits, { upper: -value.upper, lower: value.lower });
    return { upper: -size.upper, lower: size.lower };
  }
  const units = floor({ upper: 2n * value.upper * scale + value.lower, lower: 2n * value.lower });
  return { upper: units, lower: scale };
}
