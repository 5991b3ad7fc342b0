import {
  type Currency,
  type DecimalText,
  decimal,
  money,
  moneyText,
  type Span,
  shareOf,
  zero,
} from '@counterfoil/kernel';
import { billableLength } from './spans.ts';

/**
 * The share of an amount that a stretch of time has of a whole one (E 12.1 B): both half-open, counted in
 * milliseconds without the pauses in them, the ratio exact, and rounded once.
 *
 * @param amount exact, for `whole`
 * @param whole of one that a pause takes entirely, such as a period that is cut at the end of its subscription, nothing is a part
 */
export const prorated = (
  amount: DecimalText,
  span: Span,
  whole: Span,
  pauses: readonly Span[],
  currency: Currency,
): DecimalText => {
  const used = billableLength(span, pauses);
  return used === 0n
    ? moneyText(money(zero, currency))
    : shareOf(decimal(amount), used, billableLength(whole, pauses), currency);
};
