import {
  decimal,
  type FieldProblem,
  invalidField,
  invariant,
  zero,
  zeroText,
} from '@counterfoil/kernel';
import type { PriceTerms, PriceUnitRate, TieredTerms } from './terms.ts';
import {
  amountProblems,
  canonical,
  invalidFields,
  type TierFields,
  tiersOf,
  validateTiers,
} from './tiers.ts';

type Absent = null | undefined;

/**
 * The fields of a price that decide its cost, under their names on the wire (specification §2.3). A
 * record as well as a request can be given; what is absent may be null. Decimals are canonical.
 */
export interface PriceFields {
  readonly type: 'USAGE' | 'FIXED';
  readonly billing_model: 'FLAT_FEE' | 'PACKAGE' | 'TIERED';
  readonly amount?: string | Absent;
  readonly tier_mode?: 'VOLUME' | 'SLAB' | Absent;
  readonly tiers?: readonly TierFields[] | Absent;
  /** Empty when there is nothing to transform. */
  readonly transform_quantity?:
    | { readonly divide_by?: number | Absent; readonly round?: 'up' | 'down' | Absent }
    | Absent;
  readonly min_quantity?: string | Absent;
  readonly price_unit_type?: 'FIAT' | 'CUSTOM' | Absent;
  /** Code of the unit of a CUSTOM price. */
  readonly price_unit?: string | Absent;
  readonly price_unit_amount?: string | Absent;
  readonly price_unit_tiers?: readonly TierFields[] | Absent;
  /** The rate of the unit at the time the price was set; later changes do not reprice. */
  readonly conversion_rate?: string | Absent;
}

/** The places of the fields in a request: the JSON pointers that problems name. */
export interface PricePointers {
  readonly amount: string;
  readonly tiers: string;
  readonly price_unit_amount: string;
  readonly price_unit_tiers: string;
  /** Pointer to the price itself, such as `/items/3`; the other fields lie below it. */
  readonly price: string;
}

/** Pointers into a request that creates a price, or into an item of one that creates many. */
export const creationPointers = (price = ''): PricePointers => ({
  price,
  amount: `${price}/amount`,
  tiers: `${price}/tiers`,
  price_unit_amount: `${price}/price_unit_config/amount`,
  price_unit_tiers: `${price}/price_unit_config/price_unit_tiers`,
});

/** Pointers into a request that changes a price, where the amounts in the unit stand on top. */
export const repricingPointers: PricePointers = {
  ...creationPointers(),
  price_unit_amount: '/price_unit_amount',
  price_unit_tiers: '/price_unit_tiers',
};

/**
 * The terms that a price states. Checks what they need on the way: at creation this is the validation of
 * the figures of a price, and for a stored price it does not fail.
 *
 * @throws a Problem that points at the field that is missing or wrong
 */
export function priceTermsOf(
  fields: PriceFields,
  pointers: PricePointers = creationPointers(),
): PriceTerms {
  const common = {
    minimum_quantity: minimumQuantityOf(fields, pointers),
    price_unit: priceUnitOf(fields),
  };
  switch (fields.billing_model) {
    case 'FLAT_FEE':
      return { ...common, model: 'flat_fee', unit_amount: amountOf(fields, pointers) };
    case 'PACKAGE':
      return {
        ...common,
        model: 'package',
        package_amount: amountOf(fields, pointers),
        divide_by: divideByOf(fields, pointers),
        round: fields.transform_quantity?.round ?? 'up',
      };
    case 'TIERED':
      return { ...common, model: modelOf(fields, pointers), tiers: tiersIn(fields, pointers) };
  }
}

const isInUnit = ({ price_unit_type }: PriceFields): boolean => price_unit_type === 'CUSTOM';

function priceUnitOf(fields: PriceFields): PriceUnitRate | null {
  if (!isInUnit(fields)) return null;
  const { price_unit, conversion_rate } = fields;
  // Both come from the unit itself, never from the request.
  invariant(price_unit && conversion_rate, 'a price in a unit of its own has its code and rate');
  invariant(decimal(conversion_rate).cmp(zero) > 0, 'the rate of a unit is greater than zero');
  return { code: price_unit, conversion_rate: canonical(conversion_rate) };
}

function amountOf(fields: PriceFields, pointers: PricePointers) {
  const amount = isInUnit(fields) ? fields.price_unit_amount : fields.amount;
  const pointer = isInUnit(fields) ? pointers.price_unit_amount : pointers.amount;
  if (!amount) throw invalidField(pointer, `is required for a ${fields.billing_model} price`);
  refuse(amountProblems(amount, pointer));
  return canonical(amount);
}

function tiersIn(fields: PriceFields, pointers: PricePointers) {
  const tiers = isInUnit(fields) ? fields.price_unit_tiers : fields.tiers;
  const pointer = isInUnit(fields) ? pointers.price_unit_tiers : pointers.tiers;
  if (!tiers) throw invalidField(pointer, 'is required for a TIERED price');
  validateTiers(tiers, pointer);
  return tiersOf(tiers);
}

function modelOf({ tier_mode }: PriceFields, { price }: PricePointers): TieredTerms['model'] {
  switch (tier_mode) {
    case 'VOLUME':
      return 'volume';
    case 'SLAB':
      return 'graduated';
    default:
      throw invalidField(`${price}/tier_mode`, 'is required for a TIERED price: VOLUME or SLAB');
  }
}

function divideByOf({ transform_quantity }: PriceFields, { price }: PricePointers) {
  const pointer = `${price}/transform_quantity/divide_by`;
  const divideBy = transform_quantity?.divide_by ?? null;
  if (divideBy === null) throw invalidField(pointer, 'is required for a PACKAGE price');
  if (!Number.isSafeInteger(divideBy) || divideBy <= 0) {
    throw invalidField(pointer, 'must be a whole number greater than zero');
  }
  return canonical(String(divideBy));
}

function minimumQuantityOf({ type, min_quantity }: PriceFields, { price }: PricePointers) {
  if (!min_quantity || decimal(min_quantity).eq(zero)) return zeroText;
  const pointer = `${price}/min_quantity`;
  if (type !== 'FIXED') throw invalidField(pointer, 'only a FIXED price has a minimum quantity');
  refuse(amountProblems(min_quantity, pointer));
  return canonical(min_quantity);
}

function refuse(problems: readonly FieldProblem[]): void {
  if (problems.length > 0) throw invalidFields(problems);
}
