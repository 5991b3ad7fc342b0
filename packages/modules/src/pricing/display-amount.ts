import {
  type Currency,
  type DecimalText,
  decimal,
  minorUnits,
  money,
  moneyText,
} from '@counterfoil/kernel';

/** The symbol before an amount. A currency without an entry shows its code in upper case. */
const symbols: Readonly<Record<string, string>> = {
  usd: '$',
  eur: '€',
  gbp: '£',
  inr: '₹',
  jpy: '¥',
  aud: 'AUS',
  cad: 'CAD',
};

const signed = (amount: string, symbol: string): string =>
  amount.startsWith('-') ? `-${symbol}${amount.slice(1)}` : `${symbol}${amount}`;

/** The symbol of a currency, such as "$". */
export const symbolOf = (currency: Currency): string => symbols[currency] ?? currency.toUpperCase();

/**
 * An amount of a price as people read it: the symbol and all digits of the amount, none added
 * ("$12.5", "$0.000002"). A price is not rounded, so neither is what is shown of it.
 */
export const displayAmount = (amount: DecimalText, currency: Currency): string =>
  signed(amount, symbolOf(currency));

/** The same for an amount in a unit of its own, with the symbol of the unit. */
export const displayPriceUnitAmount = (amount: DecimalText, symbol: string): string =>
  signed(amount, symbol);

/** An amount of money as people read it: rounded to the digits of its currency, all shown ("$12.50"). */
export const displayTotal = (amount: DecimalText, currency: Currency): string => {
  const rounded = decimal(moneyText(money(decimal(amount), currency)));
  return signed(rounded.toFixed(minorUnits(currency)), symbolOf(currency));
};
