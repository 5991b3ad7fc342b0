/**
 * Figures as whole numbers of their smallest part, for the code that judges the ledger: none of it
 * comes from the code under test.
 */

/** Fraction digits of credits and amounts (D22), and of rates (D7). */
export const creditPlaces = 9;
export const ratePlaces = 10;
/** Fraction digits of credits × rate. */
export const amountPlaces = creditPlaces + ratePlaces;

/**
 * A decimal as a whole number of 10^-places. Throws on a text that is no decimal or has more
 * digits.
 */
export function unitsOf(text: string, places: number): bigint {
  const parts = /^(-?)(\d+)(?:\.(\d+))?$/.exec(text);
  if (!parts) throw new Error(`${text} is no decimal`);
  const [, sign, whole = '', fraction = ''] = parts;
  if (fraction.length > places) throw new Error(`${text} has more than ${places} fraction digits`);
  const size = BigInt(whole + fraction.padEnd(places, '0'));
  return sign === '-' ? -size : size;
}

/** A whole number of 10^-places as the decimal that the API writes: no zeros at its end, no "-0". */
export function shownUnits(units: bigint, places: number): string {
  const digits = String(units < 0n ? -units : units).padStart(places + 1, '0');
  const fraction = digits.slice(-places).replace(/0+$/, '');
  const text = digits.slice(0, -places) + (fraction && `.${fraction}`);
  return units < 0n ? `-${text}` : text;
}

/** Credits of a decimal, in billionths. */
export const creditsOf = (text: string): bigint => unitsOf(text, creditPlaces);

/** Billionths of a credit as a decimal. */
export const shownCredits = (units: bigint): string => shownUnits(units, creditPlaces);

/** The quotient rounded half to even. Both are positive. */
export function halfEven(dividend: bigint, divisor: bigint): bigint {
  const whole = dividend / divisor;
  const twice = (dividend % divisor) * 2n;
  const isUp = twice > divisor || (twice === divisor && whole % 2n === 1n);
  return isUp ? whole + 1n : whole;
}
