import Big from 'big.js';
import { z } from 'zod';
import type { Brand } from './brand.ts';

/**
 * Exact decimals for quantities, credits, rates and unit prices. Addition, subtraction and
 * multiplication never round; `divide` is the only place where a division may stand.
 */
const Exact = Big();
Exact.strict = true;
Exact.NE = -1_000_000;
Exact.PE = 1_000_000;

export type Decimal = Big;

/** A decimal as it travels: canonical text, no exponent, no trailing zeros, no "-0" (D7). */
export type DecimalText = Brand<string, 'DecimalText'>;

/** The most whole digits that an amount may have, so that no sum of 10⁹ entries gets near a limit. */
export const maximumWholeDigits = 29;

const plainDecimal = /^-?\d+(\.\d+)?$/;

/** The exact decimal of a text. Throws on anything else, numbers included. */
export const decimal = (text: string): Decimal => new Exact(text);

/** Canonical text of a decimal (D7). */
export const textOf = (value: Decimal): DecimalText => {
  const text = value.toFixed();
  const trimmed = text.includes('.') ? text.replace(/\.?0+$/, '') : text;
  return (trimmed === '-0' ? '0' : trimmed) as DecimalText;
};

export const zero: Decimal = decimal('0');
export const zeroText = '0' as DecimalText;

const dividers = new Map<number, typeof Exact>();

/** A constructor whose division rounds half to even at `places` digits, exactly once. */
function dividerAt(places: number): typeof Exact {
  const known = dividers.get(places);
  if (known) return known;
  const divider = Big();
  divider.strict = true;
  divider.DP = places;
  divider.RM = Big.roundHalfEven;
  dividers.set(places, divider);
  return divider;
}

/**
 * The quotient, rounded half to even at `places` fraction digits.
 * Used for credits from an amount of money (D22). Throws on division by zero.
 */
export function divide(dividend: Decimal, divisor: Decimal, places: number): Decimal {
  const divider = dividerAt(places);
  return decimal(new divider(dividend.toFixed()).div(divisor.toFixed()).toFixed());
}

/** The smaller of two decimals. */
export const smaller = (left: Decimal, right: Decimal): Decimal =>
  left.cmp(right) <= 0 ? left : right;

/** Fraction digits that the value really needs ("1.50" needs one). */
export const fractionDigits = (value: Decimal): number => Math.max(0, value.c.length - 1 - value.e);

const wholeDigits = (value: Decimal): number => Math.max(1, value.e + 1);

const decimalCharacters = 64;

/**
 * Reads a decimal from a JSON string or number. A JSON number is read by its shortest decimal
 * text, which is what its sender wrote up to 15 digits. Returns what is wrong as a text, else
 * the canonical decimal.
 */
function readDecimal(value: string | number, places: number): { text: DecimalText } | string {
  const text = typeof value === 'number' ? textOf(decimal(String(value))) : value;
  if (text.length > decimalCharacters || !plainDecimal.test(text)) {
    return 'must be a decimal such as "12.5"';
  }
  const parsed = decimal(text);
  if (wholeDigits(parsed) > maximumWholeDigits) {
    return `must have at most ${maximumWholeDigits} digits before the point`;
  }
  if (fractionDigits(parsed) > places) return `must have at most ${places} fraction digits`;
  return { text: textOf(parsed) };
}

/** The form of a decimal, for documents: JSON Schema knows no figures in strings. */
const decimalPattern = (start: string, places: number): string =>
  `^${start}0*\\d{1,${maximumWholeDigits}}(\\.\\d{1,${places}}0*)?$`;

/**
 * Schema of a decimal in a request: JSON string or number in, canonical text out.
 * More fraction digits than `places` are refused, never cut off (D7).
 */
export const decimalSchema = (places: number) =>
  z
    .union([z.string(), z.number()])
    .transform((value, context): DecimalText => {
      const read = readDecimal(value, places);
      if (typeof read !== 'string') return read.text;
      context.issues.push({ code: 'custom', message: read, input: value });
      return z.NEVER;
    })
    .meta({
      example: '12.5',
      pattern: decimalPattern('-?', places),
      maxLength: decimalCharacters,
    });

/** The same, and greater than zero. */
export const positiveDecimalSchema = (places: number) =>
  decimalSchema(places)
    .refine((text) => decimal(text).cmp(zero) > 0, 'must be greater than zero')
    .meta({ pattern: decimalPattern('(?=.*[1-9])', places), exclusiveMinimum: 0 });

/** The same, and not below zero. */
export const nonNegativeDecimalSchema = (places: number) =>
  decimalSchema(places)
    .refine((text) => decimal(text).cmp(zero) >= 0, 'must not be negative')
    .meta({ pattern: decimalPattern('', places), minimum: 0 });

const whole = decimal('100');

const percentageSchema = <Schema extends z.ZodType<DecimalText>>(schema: Schema, start: string) =>
  schema
    .refine((text) => decimal(text).cmp(whole) <= 0, 'must be at most 100')
    .meta({
      pattern: `^${start}0*(100(\\.0+)?|\\d{1,2}(\\.\\d{1,${decimalPlaces.rate}}0*)?)$`,
      maximum: 100,
    });

/** Schema of a percentage in a request: a decimal above zero and at most 100. */
export const positivePercentageSchema = () =>
  percentageSchema(positiveDecimalSchema(decimalPlaces.rate), '(?=.*[1-9])');

/** The same, and zero too. */
export const nonNegativePercentageSchema = () =>
  percentageSchema(nonNegativeDecimalSchema(decimalPlaces.rate), '');

/** Fraction digits that the kinds of figures may carry (D7). */
export const decimalPlaces = { credits: 9, rate: 10, price: 15, quantity: 15 } as const;
