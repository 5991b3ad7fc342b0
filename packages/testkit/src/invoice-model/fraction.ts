/** A number of any size, exactly. The lower part is greater than zero. */
export interface Fraction {
  readonly upper: bigint;
  readonly lower: bigint;
}

export const nothing: Fraction = { upper: 0n, lower: 1n };

/** The number that a decimal text such as `-0.025` says. */
export function fraction(text: string): Fraction {
  const [whole = '0', digits = ''] = text.replace('-', '').split('.');
  const upper = BigInt(whole + digits);
  return { upper: text.startsWith('-') ? -upper : upper, lower: 10n ** BigInt(digits.length) };
}

export const plus = (one: Fraction, other: Fraction): Fraction => ({
  upper: one.upper * other.lower + other.upper * one.lower,
  lower: one.lower * other.lower,
});

export const minus = (one: Fraction, other: Fraction): Fraction =>
  plus(one, { upper: -other.upper, lower: other.lower });

export const times = (one: Fraction, other: Fraction): Fraction => ({
  upper: one.upper * other.upper,
  lower: one.lower * other.lower,
});

export const isLess = (one: Fraction, other: Fraction): boolean =>
  one.upper * other.lower < other.upper * one.lower;

export const least = (one: Fraction, other: Fraction): Fraction =>
  isLess(one, other) ? one : other;

export const most = (one: Fraction, other: Fraction): Fraction =>
  isLess(one, other) ? other : one;

/** The greatest whole number that is not above it. */
export function below({ upper, lower }: Fraction): bigint {
  const quotient = upper / lower;
  return upper % lower < 0n ? quotient - 1n : quotient;
}

/** A whole number of units, half of one away from zero. */
export function rounded({ upper, lower }: Fraction): bigint {
  const size = upper < 0n ? -upper : upper;
  const units = (2n * size + lower) / (2n * lower);
  return upper < 0n ? -units : units;
}

/** The number as a decimal text: one that ends, without zeros that say nothing. */
export function shown({ upper, lower }: Fraction): string {
  let [size, digits] = [upper < 0n ? -upper : upper, 0];
  while (size % lower !== 0n) {
    size *= 10n;
    digits += 1;
    if (digits > 30) throw new Error(`${upper}/${lower} does not end`);
  }
  return `${upper < 0n ? '-' : ''}${inUnits(size / lower, digits)}`;
}

/** So many units of the last of some digits as a decimal text. */
export function inUnits(units: bigint, digits: number): string {
  const size = String(units < 0n ? -units : units).padStart(digits + 1, '0');
  const whole = size.slice(0, size.length - digits);
  const rest = digits === 0 ? '' : size.slice(-digits).replace(/0+$/, '');
  return `${units < 0n ? '-' : ''}${whole}${rest === '' ? '' : `.${rest}`}`;
}
