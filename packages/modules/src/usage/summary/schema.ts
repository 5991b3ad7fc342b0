import { listParameter, pageShape, paginationSchema } from '@counterfoil/engine/define';
import { instantSchema } from '@counterfoil/kernel';
import { z } from 'zod';
import { entitlementSourceSchema, resetPeriodSchema } from '../../entitlements/index.ts';
import { featureSchema } from '../../features/index.ts';

const idListSchema = listParameter(z.string().max(64)).optional();

const choiceShape = {
  feature_ids: idListSchema,
  feature_lookup_keys: listParameter(z.string().max(255)).optional(),
  subscription_ids: idListSchema,
  ...pageShape,
} as const;

/** Query of GET /customers/{id}/usage. */
export const usageChoiceSchema = z.object(choiceShape);
export type UsageChoice = z.output<typeof usageChoiceSchema>;

/** Query of GET /customers/usage (specification §4.7). */
export const customerUsageQuerySchema = z.object({
  customer_id: z.string().max(64).optional(),
  customer_lookup_key: z.string().max(255).optional(),
  ...choiceShape,
});

/** The usage of a feature (specification §4.7). */
const featureUsageSchema = z
  .object({
    feature: featureSchema,
    current_usage: z.string(),
    total_limit: z.number().int().nullable(),
    usage_percent: z.string().optional(),
    is_enabled: z.boolean(),
    is_soft_limit: z.boolean(),
    is_unlimited: z.boolean(),
    usage_reset_period: resetPeriodSchema.optional(),
    next_usage_reset_at: instantSchema.nullable(),
    sources: z.array(entitlementSourceSchema),
  })
  .meta({ id: 'FeatureUsage' });
export type FeatureUsage = z.output<typeof featureUsageSchema>;

/** Answer of GET /customers/usage (specification §4.7). */
export const customerUsageSchema = z
  .object({
    customer_id: z.string(),
    features: z.array(featureUsageSchema),
    period: z.object({
      start_time: instantSchema.meta({ description: 'Inclusive' }),
      end_time: instantSchema.meta({ description: 'Exclusive' }),
      period: z.string().meta({ description: 'MONTHLY' }),
    }),
    pagination: paginationSchema,
    position: z.string(),
  })
  .meta({ id: 'CustomerUsage' });
export type CustomerUsage = z.output<typeof customerUsageSchema>;
