import {
  currencySchema,
  type EventOf,
  existing,
  type Instant,
  instantSchema,
  type PriceId,
  referenceSchema,
  type Stamped,
} from '@counterfoil/kernel';
import { z } from 'zod';
import { taxBehaviorSchema } from '../../taxes/index.ts';
import { ownerData } from '../owner.ts';
import { changedRecord, createdRecord, type Kept } from '../records.ts';
import {
  billingCadenceSchema,
  billingModelSchema,
  billingPeriodSchema,
  invoiceCadenceSchema,
  priceTypeSchema,
  tierModeSchema,
} from './schema.ts';

const tierData = z.object({
  up_to: z.number().int().nullable(),
  unit_amount: z.string(),
  flat_amount: z.string().nullable(),
});
export type TierData = z.output<typeof tierData>;

/**
 * The figures that decide the cost of a quantity, in the currency; those in a unit stand beside
 * them.
 */
const figuresData = {
  billing_model: billingModelSchema,
  amount: z.string().nullable(),
  tier_mode: tierModeSchema.nullable(),
  tiers: z.array(tierData).nullable(),
  transform_quantity: z
    .object({ divide_by: z.number().int(), round: z.enum(['up', 'down']) })
    .nullable(),
  /** The unit of its own that the price is set in, as it was then; null: in the currency. */
  price_unit: z
    .object({
      id: referenceSchema('price_unit'),
      code: z.string(),
      symbol: z.string(),
      conversion_rate: z.string(),
      amount: z.string().nullable(),
      tiers: z.array(tierData).nullable(),
    })
    .nullable(),
} as const;

/** The labels of a price, by which it is named and found: they may be edited in place. */
const labelsData = {
  lookup_key: z.string().nullable(),
  display_name: z.string().nullable(),
  description: z.string().nullable(),
  group_id: referenceSchema('group').nullable(),
  metadata: z.record(z.string(), z.string()),
} as const;

const figures = z.object(figuresData);
export type Figures = z.output<typeof figures>;
const labels = z.object(labelsData);
export type Labels = z.output<typeof labels>;

/** A price as its event carries it, and as those keep it who sell under its terms. */
export const priceData = z.object({
  id: referenceSchema('price'),
  ...ownerData,
  type: priceTypeSchema,
  currency: currencySchema,
  billing_period: billingPeriodSchema,
  billing_period_count: z.number().int(),
  billing_cadence: billingCadenceSchema,
  invoice_cadence: invoiceCadenceSchema,
  /** The place of its tax: in its amounts, or on top of them, which is what none says. */
  tax_behavior: taxBehaviorSchema.exactOptional(),
  meter_id: referenceSchema('meter').nullable(),
  min_quantity: z.string().nullable(),
  trial_period_days: z.number().int().nullable(),
  ...figuresData,
  ...labelsData,
  /** The first price of a chain of re-pricings. */
  parent_price_id: referenceSchema('price').nullable(),
  /** In force from here on. */
  start_date: instantSchema,
  /** In force until right before here; null: without end. */
  end_date: instantSchema.nullable(),
});
export type PriceData = z.output<typeof priceData>;

export const priceEvents = {
  PriceCreated: priceData,
  PriceUpdated: z.object({ id: referenceSchema('price'), changes: labels.partial() }),
  /**
   * `is_final`: nothing about the price changes any more, because its time is over. Its lookup_key is
   * free, unless another price of its chain has it.
   */
  PriceEnded: z.object({
    id: referenceSchema('price'),
    end_date: instantSchema,
    is_final: z.boolean(),
  }),
} as const;
export type PriceEvent = EventOf<typeof priceEvents>;

export interface PriceRecord extends PriceData, Kept {
  readonly id: PriceId;
  readonly is_final: boolean;
}

/** A price after one of its events. */
export function priceAfter(before: PriceRecord | null, event: Stamped<PriceEvent>): PriceRecord {
  const { stamp } = event;
  switch (event.type) {
    case 'PriceCreated':
      return createdRecord({ ...event.data, is_final: false }, stamp);
    case 'PriceUpdated':
      return changedRecord(existing(before, 'price'), event.data.changes, stamp);
    case 'PriceEnded': {
      const { end_date, is_final } = event.data;
      return changedRecord(existing(before, 'price'), { end_date, is_final }, stamp);
    }
    default:
      return event satisfies never;
  }
}

/** Tells whether the time of a price is over, or nothing about it changes any more. */
export const hasEnded = ({ is_final, end_date }: PriceRecord, at: Instant): boolean =>
  is_final || (end_date !== null && end_date <= at);

/**
 * Tells whether a price is in force or will be. One that is followed by another at a later date
 * counts until then; one that was deleted before it began does not.
 */
export const willBeInForce = ({ start_date, end_date }: PriceRecord, at: Instant): boolean =>
  end_date === null || (end_date > at && end_date > start_date);
