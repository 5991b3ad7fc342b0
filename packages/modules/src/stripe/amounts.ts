import { type Currency, type DecimalText, decimal, minorUnits } from '@counterfoil/kernel';

/** Currencies whose amounts Stripe counts in other digits than ISO 4217 has. */
const digitsAtStripe: ReadonlyMap<string, number> = new Map([
  ['mga', 0],
  ['isk', 2],
  ['ugx', 2],
]);

/** Three digits after the point at Stripe end with a zero: its networks carry two. */
const threeDigits = 3;

/**
 * An amount in the smallest unit that Stripe counts a currency in, a whole number. Null where Stripe cannot take exactly this
 * amount: it is never rounded.
 */
export function atStripe(amount: DecimalText, currency: Currency): number | null {
  const digits = digitsAtStripe.get(currency) ?? minorUnits(currency);
  const units = decimal(amount).times(decimal('10').pow(digits));
  const step = decimal(digits === threeDigits ? '10' : '1');
  if (!units.mod(step).eq(decimal('0'))) return null;
  const whole = Number(units.toFixed(0));
  return Number.isSafeInteger(whole) ? whole : null;
}
