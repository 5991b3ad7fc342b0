import { type Decimal, type DecimalText, decimal, divide, textOf, zero } from '@counterfoil/kernel';

const hundred = decimal('100');
const fractionDigits = 2;

/**
 * The part of a limit that is used, in percent: 100 is all of it, and more is possible (D36). Half to even at two
 * digits. Of nothing, any use is all of it. Corrections below zero use nothing.
 *
 * @param limit a whole number
 */
export function usagePercent(used: Decimal, limit: number): DecimalText {
  if (used.cmp(zero) <= 0) return textOf(zero);
  if (limit <= 0) return textOf(hundred);
  return textOf(divide(used.times(hundred), decimal(String(limit)), fractionDigits));
}
