import type { DecimalText } from '@counterfoil/kernel';

/** Quantities above the bound of the tier before, up to and with the bound of this one. */
export interface Tier {
  /** Inclusive; null: open. A bound of the last tier does not end it: its rate goes on. */
  readonly up_to: DecimalText | null;
  readonly unit_amount: DecimalText;
  /** Charged once when the tier is touched. */
  readonly flat_amount: DecimalText;
}

/** A unit of its own that a price is expressed in, and what one of it was worth when it was set. */
export interface PriceUnitRate {
  readonly code: string;
  /** Amount of the currency for one unit. */
  readonly conversion_rate: DecimalText;
}

interface CommonTerms {
  /** The quantity that is billed at least; "0" when there is no minimum. */
  readonly minimum_quantity: DecimalText;
  /** Null: the amounts are in the currency. */
  readonly price_unit: PriceUnitRate | null;
}

/** So much for each. */
export interface FlatFeeTerms extends CommonTerms {
  readonly model: 'flat_fee';
  readonly unit_amount: DecimalText;
}

/** So much for every package of `divide_by`; a part of a package counts whole, or not at all. */
export interface PackageTerms extends CommonTerms {
  readonly model: 'package';
  readonly package_amount: DecimalText;
  readonly divide_by: DecimalText;
  readonly round: 'up' | 'down';
}

/**
 * Tiers in ascending order. `volume`: the whole quantity at the rate of the one tier it lies in
 * (VOLUME on the wire). `graduated`: each part at the rate of its own tier (SLAB on the wire).
 */
export interface TieredTerms extends CommonTerms {
  readonly model: 'volume' | 'graduated';
  readonly tiers: readonly Tier[];
}

/**
 * The part of a price that decides cost, whatever record it stands in. Amounts are exact and not
 * negative; those of a price in a unit of its own are in that unit.
 */
export type PriceTerms = FlatFeeTerms | PackageTerms | TieredTerms;
