import { invalidField, invariant, type PriceUnitId } from '@counterfoil/kernel';
import {
  creationPointers,
  inCurrency,
  type PriceFields,
  type PricePointers,
  priceTermsOf,
  repricingPointers,
  type TierFields,
  tiersInCurrency,
} from '../../pricing/index.ts';
import type { Figures, PriceRecord, TierData } from './price.ts';
import type { CreatePrice, UpdatePrice } from './schema.ts';

/** A pricing unit as a price remembers it: what it was worth when the price was set. */
export interface UnitSnapshot {
  readonly id: PriceUnitId;
  readonly code: string;
  readonly symbol: string;
  readonly conversion_rate: string;
}

/** The figures of a request, in the currency or in a unit. */
interface Asked {
  readonly billing_model: Figures['billing_model'];
  readonly amount: string | null;
  readonly tier_mode: Figures['tier_mode'];
  readonly tiers: readonly TierFields[] | null;
  readonly transform_quantity: PriceFields['transform_quantity'];
}

const tierData = ({ up_to, unit_amount, flat_amount }: TierFields): TierData => ({
  up_to: up_to ?? null,
  unit_amount,
  flat_amount: flat_amount ?? null,
});

const tiersData = (tiers: readonly TierFields[] | null): TierData[] | null =>
  tiers?.map(tierData) ?? null;

/** Returns the figures that a price of this model needs; the others would say nothing. */
function ofModel(asked: Asked): Asked {
  const { billing_model } = asked;
  const isTiered = billing_model === 'TIERED';
  return {
    billing_model,
    amount: isTiered ? null : asked.amount,
    tier_mode: isTiered ? asked.tier_mode : null,
    tiers: isTiered ? asked.tiers : null,
    transform_quantity: billing_model === 'PACKAGE' ? asked.transform_quantity : null,
  };
}

/** Returns the fields that decide the cost of a price, under the names of the wire. */
export function priceFieldsOf(
  price: Figures & Pick<PriceRecord, 'type' | 'min_quantity'>,
): PriceFields {
  const { price_unit, ...figures } = price;
  if (!price_unit) return { ...figures, price_unit_type: 'FIAT' };
  return {
    ...figures,
    price_unit_type: 'CUSTOM',
    price_unit: price_unit.code,
    price_unit_amount: price_unit.amount,
    price_unit_tiers: price_unit.tiers,
    conversion_rate: price_unit.conversion_rate,
  };
}

type Kind = Pick<PriceRecord, 'type' | 'min_quantity'>;

/** The figures as the record keeps them: checked, and those in a unit in the currency as well. */
function figuresOf(
  asked: Asked,
  unit: UnitSnapshot | null,
  kind: Kind,
  pointers: PricePointers,
): Figures {
  const { amount, tiers, billing_model, tier_mode, transform_quantity } = ofModel(asked);
  const fields: PriceFields = {
    ...kind,
    billing_model,
    tier_mode,
    transform_quantity,
    ...(unit
      ? {
          price_unit_type: 'CUSTOM',
          price_unit: unit.code,
          conversion_rate: unit.conversion_rate,
          price_unit_amount: amount,
          price_unit_tiers: tiers,
        }
      : { amount, tiers }),
  };
  priceTermsOf(fields, pointers);
  const { divide_by, round } = transform_quantity ?? {};
  const common = {
    billing_model,
    tier_mode,
    transform_quantity: divide_by ? { divide_by, round: round ?? ('up' as const) } : null,
  };
  if (!unit) return { ...common, amount, tiers: tiersData(tiers), price_unit: null };
  const rate = unit.conversion_rate;
  return {
    ...common,
    amount: amount && inCurrency(amount, rate),
    tiers: tiers && tiersData(tiersInCurrency(tiers, rate)),
    price_unit: { ...unit, amount, tiers: tiersData(tiers) },
  };
}

/**
 * The figures of a price that is to be created. `unit` is the unit that it names, null when it is
 * in its currency. `price` is the JSON pointer to it in the request.
 *
 * @throws a Problem that points at the field that is missing or wrong
 */
export function createdFigures(
  request: CreatePrice,
  unit: UnitSnapshot | null,
  price: string,
): Figures {
  const { billing_model, tier_mode, transform_quantity, price_unit_config } = request;
  const pointers = creationPointers(price);
  if (unit && (request.amount || request.tiers?.length)) {
    const pointer = request.amount ? pointers.amount : pointers.tiers;
    throw invalidField(pointer, 'follows from the price unit: give it in price_unit_config');
  }
  const asked = {
    billing_model,
    amount: (unit ? price_unit_config?.amount : request.amount) ?? null,
    tier_mode: tier_mode ?? null,
    tiers: (unit ? price_unit_config?.price_unit_tiers : request.tiers) ?? null,
    transform_quantity,
  };
  const { type, min_quantity = null } = request;
  return figuresOf(asked, unit, { type, min_quantity }, pointers);
}

const figureFields = [
  'billing_model',
  'amount',
  'tier_mode',
  'tiers',
  'transform_quantity',
  'price_unit_amount',
  'price_unit_tiers',
] as const;

/** Tells whether a request says anything about what a quantity costs. */
export const asksForFigures = (
  request: Readonly<Partial<Record<(typeof figureFields)[number], unknown>>>,
): boolean => figureFields.some((field) => request[field] !== undefined && request[field] !== null);

/**
 * The figures of the price that follows on another: what the request leaves out stays as it was. A
 * price in a unit keeps its unit and the rate that it was set at.
 *
 * @throws a Problem that points at the field that is missing or wrong
 */
export function repricedFigures(before: PriceRecord, request: UpdatePrice): Figures {
  const unit = before.price_unit;
  refuseOtherUnit(unit !== null, request);
  const old = unit ?? before;
  const billing_model = request.billing_model ?? before.billing_model;
  refuseOtherModel(billing_model, request);
  const asked = {
    billing_model,
    amount: (unit ? request.price_unit_amount : request.amount) ?? old.amount,
    tier_mode: request.tier_mode ?? before.tier_mode,
    tiers: (unit ? request.price_unit_tiers : request.tiers) ?? old.tiers,
    transform_quantity: request.transform_quantity ?? before.transform_quantity,
  };
  const { type, min_quantity } = before;
  return figuresOf(asked, unit && snapshotOf(unit), { type, min_quantity }, repricingPointers);
}

function snapshotOf(unit: NonNullable<Figures['price_unit']>): UnitSnapshot {
  invariant(unit.conversion_rate, 'a price in a unit has its rate');
  const { id, code, symbol, conversion_rate } = unit;
  return { id, code, symbol, conversion_rate };
}

const tierFields = ['tier_mode', 'tiers', 'price_unit_tiers'] as const;

/** The fields of a request that a price of a model has no use for. */
const foreignFields = {
  FLAT_FEE: [...tierFields, 'transform_quantity'],
  PACKAGE: tierFields,
  TIERED: ['amount', 'price_unit_amount', 'transform_quantity'],
} as const satisfies Record<Figures['billing_model'], readonly (keyof UpdatePrice)[]>;

/** Empty lists and objects say nothing. */
const saysSomething = (value: unknown): boolean =>
  typeof value === 'object' && value !== null
    ? Object.values(value).length > 0
    : value !== undefined && value !== null;

/** New figures that would not count are refused: else a price would seem changed and is not. */
function refuseOtherModel(model: Figures['billing_model'], request: UpdatePrice): void {
  const given = foreignFields[model].find((field) => saysSomething(request[field]));
  if (given === undefined) return;
  throw invalidField(`/${given}`, `a ${model} price has none: give billing_model to change it`);
}

/** A price stays in its currency or in its unit. */
function refuseOtherUnit(isInUnit: boolean, request: UpdatePrice): void {
  const wrong = isInUnit
    ? (['amount', 'tiers'] as const)
    : (['price_unit_amount', 'price_unit_tiers'] as const);
  const given = wrong.find((field) => request[field] !== undefined);
  if (given === undefined) return;
  const message = isInUnit
    ? 'the price is in a pricing unit: give price_unit_amount or price_unit_tiers'
    : 'the price is in its currency: give amount or tiers';
  throw invalidField(`/${given}`, message);
}
