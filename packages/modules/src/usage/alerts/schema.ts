import {
  decimalPlaces,
  instantSchema,
  positiveDecimalSchema,
  recordStampsShape,
  recordStatusSchema,
  requiredTextSchema,
  withConditions,
} from '@counterfoil/kernel';
import { z } from 'zod';
import { resetPeriodSchema } from '../../entitlements/index.ts';
import { usageLimits } from '../schema.ts';

/** Thresholds of one alert. */
export const thresholdsMaximum = 10;

const name = requiredTextSchema(usageLimits.text);

const thresholdTypeSchema = z.enum(['absolute', 'percent']).meta({
  description: 'So much usage, or percent of `usage_limit`',
});

const thresholdSchema = z
  .object({ type: thresholdTypeSchema, value: positiveDecimalSchema(decimalPlaces.rate) })
  .meta({ id: 'ChangeUsageThreshold' });

const usageLimitSchema = positiveDecimalSchema(decimalPlaces.quantity).nullish();

const thresholdsSchema = z.array(thresholdSchema).min(1).max(thresholdsMaximum);

/** Body of POST /usage/alerts. */
export const createUsageAlertSchema = withConditions(
  z.object({
    customer_id: name.optional(),
    external_customer_id: name.optional(),
    feature_id: name.optional(),
    meter_id: name.optional(),
    reset_period: resetPeriodSchema.optional().meta({
      description: 'MONTHLY when absent; NEVER where the meter never starts over',
    }),
    usage_limit: usageLimitSchema,
    thresholds: thresholdsSchema,
  }),
  [
    { oneOf: ['feature_id', 'meter_id'], says: 'either feature_id or meter_id is needed' },
    {
      someOf: ['customer_id', 'external_customer_id'],
      says: 'customer_id or external_customer_id is needed',
    },
  ],
).meta({ id: 'CreateUsageAlert' });
export type CreateUsageAlert = z.output<typeof createUsageAlertSchema>;

/** Body of PUT /usage/alerts/{id}. */
export const updateUsageAlertSchema = z
  .object({
    usage_limit: usageLimitSchema,
    thresholds: thresholdsSchema.optional().meta({ description: 'Replace those before' }),
  })
  .meta({ id: 'UpdateUsageAlert' });

/** A threshold on the wire, and how it was crossed in the period. */
export const placedThresholdSchema = z
  .object({
    type: thresholdTypeSchema,
    value: z.string(),
    level: z.string().meta({ description: 'Usage at which it is crossed' }),
    usage: z.string().optional().meta({
      description: 'Absent until it is crossed',
    }),
    position: z.string().optional().meta({ description: 'Counted up to here' }),
    crossed_at: instantSchema.optional(),
  })
  .meta({ id: 'UsageThreshold' });

/** A usage alert on the wire, with what was crossed in its period. */
export const usageAlertSchema = z
  .object({
    ...recordStampsShape,
    status: recordStatusSchema,
    customer_id: z.string(),
    feature_id: z.string().optional(),
    meter_id: z.string(),
    reset_period: resetPeriodSchema,
    usage_limit: z.string().optional(),
    thresholds: z.array(placedThresholdSchema),
    period_start: instantSchema.optional(),
    period_end: instantSchema.optional(),
  })
  .meta({ id: 'UsageAlert' });
export type UsageAlertResource = z.output<typeof usageAlertSchema>;
