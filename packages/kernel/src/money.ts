import { type Dinero, type DineroCurrency, dinero, toDecimal } from 'dinero.js/bigint';
import * as currencyTable from 'dinero.js/bigint/currencies';
import { z } from 'zod';
import type { Brand } from './brand.ts';
import { type Decimal, type DecimalText, decimal, textOf } from './decimal.ts';

/** An ISO 4217 code in lower case (D10). */
export type Currency = Brand<string, 'Currency'>;

/** An amount of money at the exponent of its currency. */
export type Money = Dinero<bigint>;

/**
 * ISO 4217 gives two fraction digits to ariary (mga) and ouguiya (mru). The library counts their
 * coins instead, which are fifths and have no decimal text.
 */
const asDecimal = (currency: DineroCurrency<bigint>): DineroCurrency<bigint> =>
  currency.base === 10n ? currency : { ...currency, base: 10n, exponent: 2n };

const byCode: ReadonlyMap<string, DineroCurrency<bigint>> = new Map(
  Object.values(currencyTable).map((currency) => [
    currency.code.toLowerCase(),
    asDecimal(currency),
  ]),
);

const definition = (currency: Currency): DineroCurrency<bigint> => {
  const known = byCode.get(currency);
  if (!known) throw new RangeError(`${currency} is not a currency`);
  return known;
};

/** Digits after the point that the currency has: 2 for usd, 0 for jpy, 3 for kwd. */
export const minorUnits = (currency: Currency): number => Number(definition(currency).exponent);

/**
 * Returns what is wrong with an amount that nobody could pay, because it has more digits than its
 * currency; null for all others (D43).
 */
export function digitsFault(amount: DecimalText, currency: Currency): string | null {
  const digits = minorUnits(currency);
  const exact = decimal(amount);
  if (exact.round(digits, 0).cmp(exact) === 0) return null;
  return `must have at most ${digits} digits after the point, like every amount in ${currency}`;
}

/** Any case in, lower case out; what ISO 4217 does not list is refused (D10). */
export const currencySchema = z
  .string()
  .max(16)
  .refine(
    (code) => byCode.has(code.toLowerCase()),
    'must be an ISO 4217 currency code such as "usd"',
  )
  .transform((code) => code.toLowerCase() as Currency)
  .meta({ example: 'usd' });

/**
 * The only way from an exact quantity to money: rounds once, half away from zero, at the exponent
 * of the currency (D31).
 */
export function money(amount: Decimal, currency: Currency): Money {
  const scale = minorUnits(currency);
  const rounded = amount.round(scale, 1);
  const minor = rounded.times(decimal(`1${'0'.repeat(scale)}`)).toFixed(0);
  return dinero({ amount: BigInt(minor), currency: definition(currency), scale: BigInt(scale) });
}

/** Canonical decimal text of an amount of money. */
export const moneyText = (amount: Money): DecimalText => textOf(decimal(toDecimal(amount)));

export { add, compare, subtract } from 'dinero.js/bigint';
