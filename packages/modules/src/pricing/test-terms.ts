import type { DecimalText } from '@counterfoil/kernel';
import type { FlatFeeTerms, PackageTerms, PriceTerms, TieredTerms } from './terms.ts';

/** A bound (null: open), what each costs, and what is charged once. */
export type TierText = readonly [up_to: string | null, unit_amount: string, flat_amount?: string];

/** A decimal as a test writes it. */
export const text = (value: string): DecimalText => value as DecimalText;

const common = { minimum_quantity: text('0'), price_unit: null } as const;

export const flatFee = (unit_amount: string): FlatFeeTerms => ({
  ...common,
  model: 'flat_fee',
  unit_amount: text(unit_amount),
});

export const packages = (
  package_amount: string,
  divide_by: string,
  round: 'up' | 'down' = 'up',
): PackageTerms => ({
  ...common,
  model: 'package',
  package_amount: text(package_amount),
  divide_by: text(divide_by),
  round,
});

const tiered = (model: TieredTerms['model'], tiers: readonly TierText[]): TieredTerms => ({
  ...common,
  model,
  tiers: tiers.map(([up_to, unit_amount, flat_amount = '0']) => ({
    up_to: up_to === null ? null : text(up_to),
    unit_amount: text(unit_amount),
    flat_amount: text(flat_amount),
  })),
});

export const volume = (...tiers: TierText[]): TieredTerms => tiered('volume', tiers);

export const graduated = (...tiers: TierText[]): TieredTerms => tiered('graduated', tiers);

/** The same terms in a unit of its own. */
export const inUnit = (terms: PriceTerms, code: string, rate: string): PriceTerms => ({
  ...terms,
  price_unit: { code, conversion_rate: text(rate) },
});

/** The same terms with a minimum quantity. */
export const atLeast = (terms: PriceTerms, quantity: string): PriceTerms => ({
  ...terms,
  minimum_quantity: text(quantity),
});
