import { type DecimalText, decimal, textOf } from '@counterfoil/kernel';
import type { TierFields } from './tiers.ts';

/**
 * An amount in a unit of its own as an amount of the currency: `amount × rate`, exact. Prices keep it
 * unrounded; only a line is rounded.
 */
export const inCurrency = (amount: string, conversionRate: string): DecimalText =>
  textOf(decimal(amount).times(decimal(conversionRate)));

/** Tiers in a unit of their own with the amounts in the currency; the bounds are quantities and stay. */
export const tiersInCurrency = (
  tiers: readonly TierFields[],
  conversionRate: string,
): readonly TierFields[] =>
  tiers.map(({ flat_amount, unit_amount, ...rest }) => ({
    ...rest,
    unit_amount: inCurrency(unit_amount, conversionRate),
    ...(flat_amount ? { flat_amount: inCurrency(flat_amount, conversionRate) } : {}),
  }));
