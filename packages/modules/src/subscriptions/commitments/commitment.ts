import type { DecimalText } from '@counterfoil/kernel';
import { z } from 'zod';
import { priceData } from '../../offers/index.ts';
import { recurringPeriodSchema } from '../values.ts';
import { committedData } from './committed.ts';

const figure = z.string().transform((text) => text as DecimalText);

const termsShape = {
  /** At least 1: usage above the commitment costs so many times its price. */
  overage_factor: figure,
  /** True where the unused rest is charged too. */
  true_up: z.boolean(),
  /** Time that it is committed for; null: each period has it anew. */
  duration: recurringPeriodSchema.nullable(),
} as const;

/** The figures of a price. */
const figuresData = priceData.pick({
  billing_model: true,
  amount: true,
  tier_mode: true,
  tiers: true,
  transform_quantity: true,
  price_unit: true,
});

/** A part of the day with a commitment of its own, for each window that begins in it (E 14.4). */
export const timeBucketData = z.object({
  /** Minutes since midnight, by the clock of the subscription. */
  from_minute: z.number().int(),
  /** Exclusive; below `from_minute` it is on the next day. */
  to_minute: z.number().int(),
  committed: committedData,
  overage_factor: figure,
  true_up: z.boolean(),
  /** Figures in the place of those of the line; null: those of the line. */
  price: figuresData.nullable(),
});
export type TimeBucketData = z.output<typeof timeBucketData>;

/** The commitment of a line of usage, as its events carry it (E 14.1, 14.4). */
export const lineCommitmentData = z.object({
  /** Null: parts of the day have one alone. */
  committed: committedData.nullable(),
  /** True where it holds for each bucket of the meter on its own. */
  windowed: z.boolean(),
  /** Parts of the day in which another one holds. */
  time_buckets: z.array(timeBucketData).default([]),
  ...termsShape,
});
export type LineCommitmentData = z.output<typeof lineCommitmentData>;

/** The commitment of all usage of a subscription together (E 14.2, 14.3). */
export const subscriptionCommitmentData = z.object({
  /** Money: it has the digits of the currency. */
  amount: figure,
  ...termsShape,
});
export type SubscriptionCommitmentData = z.output<typeof subscriptionCommitmentData>;
