import { type Decimal, type DecimalText, decimal, textOf, zero } from '@counterfoil/kernel';

/** The exact sum of decimals. */
export const sumOf = (parts: readonly DecimalText[]): Decimal =>
  parts.reduce((sum, part) => sum.plus(decimal(part)), zero);

/** The same as text. */
export const sumText = (parts: readonly DecimalText[]): DecimalText => textOf(sumOf(parts));

/** The value, or zero where it is below. */
export const notBelowZero = (value: Decimal): Decimal => (value.cmp(zero) > 0 ? value : zero);
