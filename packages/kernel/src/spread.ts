import { type Decimal, type DecimalText, decimal, fractionDigits, textOf } from './decimal.ts';
import { type Currency, minorUnits } from './money.ts';

/**
 * Spreads an amount of money over parts in proportion to their weights, by largest remainder: each part gets its
 * exact share cut to the digits of the currency, and the smallest units that are left go one each to the parts of which
 * most was cut, the first ones where that is equal. The parts add up to the amount.
 *
 * @param amount with no more digits than the currency has; may be negative
 * @param weights not negative, and not all zero unless the amount is
 * @throws RangeError for any other
 */
export function spread(
  amount: DecimalText,
  weights: readonly Decimal[],
  currency: Currency,
): DecimalText[] {
  const digits = minorUnits(currency);
  const units = inUnits(decimal(amount), digits);
  const places = Math.max(0, ...weights.map(fractionDigits));
  const shares = sharesOf(
    units < 0n ? -units : units,
    weights.map((weight) => inUnits(weight, places)),
  );
  return shares.map((share) => fromUnits(units < 0n ? -share : share, digits));
}

/**
 * Returns `part ÷ whole` of an exact amount as money: the share is exact, and rounded once, half away from zero, at the
 * digits of the currency (D31).
 *
 * @param whole greater than zero
 * @throws RangeError for any other
 */
export function shareOf(
  amount: Decimal,
  part: bigint,
  whole: bigint,
  currency: Currency,
): DecimalText {
  if (whole <= 0n) throw new RangeError('a share is a part of something');
  const places = Math.max(fractionDigits(amount), minorUnits(currency));
  const shared = inUnits(amount, places) * part;
  const unit = whole * 10n ** BigInt(places - minorUnits(currency));
  const size = shared < 0n ? -shared : shared;
  const units = (2n * size + unit) / (2n * unit);
  return fromUnits(shared < 0n ? -units : units, minorUnits(currency));
}

function sharesOf(units: bigint, weights: readonly bigint[]): bigint[] {
  const whole = weights.reduce((sum, weight) => sum + weight, 0n);
  if (weights.some((weight) => weight < 0n)) throw new RangeError('no weight is negative');
  if (whole === 0n && units !== 0n) throw new RangeError('there is nothing to spread it over');
  if (whole === 0n) return weights.map(() => 0n);
  const shares = weights.map((weight) => (units * weight) / whole);
  let left = units - shares.reduce((sum, share) => sum + share, 0n);
  const cut = weights.map((weight, index) => ({ index, rest: (units * weight) % whole }));
  for (const { index } of cut.sort((one, other) => descending(one.rest, other.rest))) {
    if (left === 0n) break;
    shares[index] = (shares[index] ?? 0n) + 1n;
    left -= 1n;
  }
  return shares;
}

/** Equal ones stay in their order. */
const descending = (one: bigint, other: bigint): number => (one > other ? -1 : one < other ? 1 : 0);

function inUnits(value: Decimal, digits: number): bigint {
  if (fractionDigits(value) > digits)
    throw new RangeError(`${value} has more than ${digits} digits`);
  return BigInt(value.times(decimal(`1${'0'.repeat(digits)}`)).toFixed(0));
}

const fromUnits = (units: bigint, digits: number): DecimalText =>
  textOf(decimal(`${units}e-${digits}`));
