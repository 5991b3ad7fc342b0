import { type Currency, type DecimalText, decimal, minorUnits, zero } from '@counterfoil/kernel';
import type { Charge, PackageCharge, TierCharge, TieredCharge } from './charge.ts';
import type { Cost } from './cost.ts';
import { displayAmount, displayTotal } from './display-amount.ts';

/** Writes an amount of a charge: in the currency, or in the unit of the price. */
type Write = (amount: DecimalText) => string;

/**
 * Returns the function that writes the amounts of a cost's charges: "$0.5", or "0.5 credits" by the
 * code of a unit.
 */
export const writerOf = (cost: Cost): Write => {
  const { price_unit, currency } = cost;
  if (price_unit) return (amount) => `${amount} ${price_unit.code}`;
  return (amount) => displayAmount(amount, currency);
};

/** A charge as sentences for people, one per step of the computation. */
export function explainCharge(charge: Charge, write: Write): string[] {
  if (charge.quantity === '0') return [`0 costs ${write(charge.amount)}`];
  switch (charge.model) {
    case 'flat_fee': {
      const { quantity, unit_amount, amount } = charge;
      return [`${quantity} × ${write(unit_amount)} = ${write(amount)}`];
    }
    case 'package':
      return [explainPackages(charge, write)];
    case 'volume':
    case 'graduated':
      return explainTiers(charge, write);
  }
}

/**
 * A whole cost in sentences: the minimum, the charges, their sum, the conversion, the rounding.
 *
 * @param charges the sentences of each charge
 */
export function explainCost(cost: Cost, charges: readonly string[][]): string[] {
  const { quantity, billed_quantity, price_unit, currency } = cost;
  const write = writerOf(cost);
  const sum = price_unit?.amount ?? cost.unrounded_amount;
  return [
    ...(quantity === billed_quantity
      ? []
      : [`${quantity} is below the minimum quantity: ${billed_quantity} is billed`]),
    ...labelled(charges),
    ...(charges.length === 1 ? [] : [`${charges.length} buckets cost ${write(sum)} together`]),
    ...(price_unit ? [explainConversion(price_unit, cost.unrounded_amount, currency)] : []),
    explainRounding(cost),
  ];
}

/** The sentences of all charges; those of several are told apart by their bucket. */
const labelled = (charges: readonly string[][]): string[] =>
  charges.flatMap((lines, index) =>
    charges.length === 1 ? lines : lines.map((line) => `bucket ${index + 1}: ${line}`),
  );

function explainPackages(charge: PackageCharge, write: Write): string {
  const { quantity, divide_by, round, packages, package_amount, amount } = charge;
  const rounded = charge.rounded_by === '0' ? '' : `, rounded ${round}`;
  return `${quantity} in packages of ${divide_by}${rounded}: ${packages} × ${write(package_amount)} = ${write(amount)}`;
}

function explainTiers({ model, tiers, amount }: TieredCharge, write: Write): string[] {
  const lines = tiers.map((tier) => {
    const range = rangeOf(model, tier);
    const graduated = range || 'any quantity';
    const volume = `all in the ${range ? `tier ${range}` : 'only tier'}`;
    const flat = tier.flat_amount === '0' ? '' : ` + ${write(tier.flat_amount)} flat`;
    const what = `${tier.quantity} × ${write(tier.unit_amount)}${flat} = ${write(tier.amount)}`;
    return `${model === 'volume' ? volume : graduated}: ${what}`;
  });
  if (tiers.length < 2) return lines;
  const parts = tiers.map((tier) => write(tier.amount)).join(' + ');
  return [...lines, `${parts} = ${write(amount)}`];
}

/** The quantities of a tier in words; empty for an open tier that is the only one. */
function rangeOf(model: TieredCharge['model'], { above, up_to, quantity }: TierCharge): string {
  const from = above === '0' ? '' : `above ${above}`;
  if (up_to === null) return from;
  const top = model === 'volume' ? decimal(quantity) : decimal(above).plus(decimal(quantity));
  // Only a quantity in a last tier gets beyond its bound.
  const beyond = top.cmp(decimal(up_to)) > 0 ? ' and beyond, at the same rate' : '';
  return `${from}${from && ' '}up to ${up_to}${beyond}`;
}

function explainConversion(
  unit: NonNullable<Cost['price_unit']>,
  amount: DecimalText,
  currency: Currency,
): string {
  const rate = displayAmount(unit.conversion_rate, currency);
  return `${unit.amount} ${unit.code} × ${rate} = ${displayAmount(amount, currency)}`;
}

function explainRounding({ amount, unrounded_amount, rounding, currency }: Cost): string {
  const total = displayTotal(amount, currency);
  if (decimal(rounding).eq(zero)) return `total ${total}`;
  const exact = displayAmount(unrounded_amount, currency);
  return `total ${exact}, rounded half away from zero at ${minorUnits(currency)} digits: ${total}`;
}
