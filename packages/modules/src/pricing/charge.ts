import {
  type Decimal,
  type DecimalText,
  decimal,
  divide,
  invariant,
  smaller,
  textOf,
  zero,
  zeroText,
} from '@counterfoil/kernel';
import type { FlatFeeTerms, PackageTerms, PriceTerms, Tier, TieredTerms } from './terms.ts';

/** The part of a quantity that one tier charges for. */
export interface TierCharge {
  /** Place of the tier, from 0. */
  readonly tier: number;
  /** The tier begins above this quantity. */
  readonly above: DecimalText;
  readonly up_to: DecimalText | null;
  readonly quantity: DecimalText;
  readonly unit_amount: DecimalText;
  readonly flat_amount: DecimalText;
  /** `quantity × unit_amount + flat_amount`. */
  readonly amount: DecimalText;
}

interface CommonCharge {
  readonly quantity: DecimalText;
  readonly amount: DecimalText;
}

export interface FlatFeeCharge extends CommonCharge {
  readonly model: 'flat_fee';
  readonly unit_amount: DecimalText;
}

export interface PackageCharge extends CommonCharge {
  readonly model: 'package';
  readonly package_amount: DecimalText;
  readonly divide_by: DecimalText;
  readonly round: 'up' | 'down';
  readonly packages: DecimalText;
  /**
   * The content of the packages less the quantity: paid and unused or, below zero, used and unpaid.
   */
  readonly rounded_by: DecimalText;
}

export interface TieredCharge extends CommonCharge {
  readonly model: 'volume' | 'graduated';
  /** The tiers that were touched, lowest first: at most one of a volume price. */
  readonly tiers: readonly TierCharge[];
}

/**
 * The cost of one quantity with its reasons: exact, in the unit of the terms, nothing rounded but
 * packages.
 */
export type Charge = FlatFeeCharge | PackageCharge | TieredCharge;

/**
 * The charge for one quantity. Nothing costs nothing, whatever the model: no flat amount is charged
 * where no tier is touched.
 *
 * @throws BrokenInvariant for a negative quantity: what a correction below zero means is not a matter
 *   of price
 */
export function chargeFor(terms: PriceTerms, quantity: Decimal): Charge {
  invariant(quantity.cmp(zero) >= 0, 'a quantity that is priced is not negative');
  switch (terms.model) {
    case 'flat_fee':
      return flatFeeCharge(terms, quantity);
    case 'package':
      return packageCharge(terms, quantity);
    case 'volume':
      return tieredCharge(terms, quantity, volumeCharges(terms.tiers, quantity));
    case 'graduated':
      return tieredCharge(terms, quantity, graduatedCharges(terms.tiers, quantity));
  }
}

function flatFeeCharge({ model, unit_amount }: FlatFeeTerms, quantity: Decimal): FlatFeeCharge {
  const amount = textOf(quantity.times(decimal(unit_amount)));
  return { model, quantity: textOf(quantity), unit_amount, amount };
}

function packageCharge(terms: PackageTerms, quantity: Decimal): PackageCharge {
  const { model, package_amount, divide_by, round } = terms;
  const size = decimal(divide_by);
  const packages = packagesIn(quantity, size, round);
  return {
    model,
    quantity: textOf(quantity),
    package_amount,
    divide_by,
    round,
    packages: textOf(packages),
    rounded_by: textOf(packages.times(size).minus(quantity)),
    amount: textOf(packages.times(decimal(package_amount))),
  };
}

/** Whole packages that hold the quantity (up), or that it fills (down). */
function packagesIn(quantity: Decimal, size: Decimal, round: 'up' | 'down'): Decimal {
  // The division rounds to the nearest whole number; which side that was, is settled by multiplying.
  const nearest = divide(quantity, size, 0);
  const side = nearest.times(size).cmp(quantity);
  const one = decimal('1');
  if (round === 'up') return side < 0 ? nearest.plus(one) : nearest;
  return side > 0 ? nearest.minus(one) : nearest;
}

function tieredCharge(
  { model }: TieredTerms,
  quantity: Decimal,
  tiers: readonly TierCharge[],
): TieredCharge {
  const amount = tiers.reduce((sum, tier) => sum.plus(decimal(tier.amount)), zero);
  return { model, quantity: textOf(quantity), tiers, amount: textOf(amount) };
}

/** The whole quantity in the first tier whose bound it does not exceed, else in the last. */
function volumeCharges(tiers: readonly Tier[], quantity: Decimal): readonly TierCharge[] {
  if (quantity.eq(zero)) return [];
  const found = tiers.findIndex(({ up_to }) => up_to === null || quantity.cmp(decimal(up_to)) <= 0);
  return [tierCharge(tiers, found < 0 ? tiers.length - 1 : found, quantity)];
}

/** Fills the tiers from below; what is above the bound of the last one stays in it. */
function graduatedCharges(tiers: readonly Tier[], quantity: Decimal): readonly TierCharge[] {
  const charges: TierCharge[] = [];
  let left = quantity;
  for (const [index, { up_to }] of tiers.entries()) {
    if (left.cmp(zero) <= 0) break;
    const isLast = index === tiers.length - 1;
    const room = up_to === null ? left : decimal(up_to).minus(decimal(boundBelow(tiers, index)));
    const part = isLast ? left : smaller(left, room);
    charges.push(tierCharge(tiers, index, part));
    left = left.minus(part);
  }
  return charges;
}

const boundBelow = (tiers: readonly Tier[], index: number): DecimalText =>
  tiers[index - 1]?.up_to ?? zeroText;

function tierCharge(tiers: readonly Tier[], index: number, quantity: Decimal): TierCharge {
  const tier = tiers[index];
  invariant(tier, 'a tiered price has tiers');
  const { up_to, unit_amount, flat_amount } = tier;
  return {
    tier: index,
    above: boundBelow(tiers, index),
    up_to,
    quantity: textOf(quantity),
    unit_amount,
    flat_amount,
    amount: textOf(quantity.times(decimal(unit_amount)).plus(decimal(flat_amount))),
  };
}
