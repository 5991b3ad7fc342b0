import { type Currency, type DecimalText, decimal, type Span, shareOf } from '@counterfoil/kernel';
import { billableLength } from './spans.ts';

/**
 * The share of an amount that a stretch of time has of a whole one (E 12.1 B): both half-open, counted in
 * milliseconds without the pauses in them, the ratio exact, and rounded once.
 *
 * @param amount exact, for `whole`
 * @param whole has time outside the pauses
 */
export const prorated = (
  amount: DecimalText,
  span: Span,
  whole: Span,
  pauses: readonly Span[],
  currency: Currency,
): DecimalText =>
  shareOf(decimal(amount), billableLength(span, pauses), billableLength(whole, pauses), currency);
