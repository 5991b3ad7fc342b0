import { listParameter } from '@counterfoil/engine/define';
import { instantSchema } from '@counterfoil/kernel';
import { z } from 'zod';
import { featureSchema } from '../features/index.ts';

/** The period after which usage starts over. */
export const resetPeriodSchema = z.enum([
  'DAILY',
  'WEEKLY',
  'MONTHLY',
  'QUARTERLY',
  'HALF_YEARLY',
  'ANNUAL',
  'NEVER',
]);

/** The source of a part of an entitlement (specification §4.7; D1). */
export const entitlementSourceSchema = z
  .object({
    entitlement_id: z.string(),
    subscription_id: z.string(),
    entity_type: z.enum(['plan', 'addon', 'subscription']),
    entity_id: z.string(),
    entity_name: z.string(),
    reason: z
      .enum(['plan', 'addon', 'override', 'phase', 'parent'])
      .meta({ description: 'Cause of the grant' }),
    quantity: z.number().int(),
    is_enabled: z.boolean(),
    usage_limit: z
      .number()
      .int()
      .optional()
      .meta({ description: 'Of a metered feature; absent: unlimited. Counts quantity times' }),
    usage_reset_period: resetPeriodSchema.optional(),
    static_value: z.string().optional(),
  })
  .meta({ id: 'EntitlementSource' });
export type EntitlementSource = z.output<typeof entitlementSourceSchema>;

/** The sum of what all sources grant (specification §4.8; D1). */
export const aggregatedEntitlementSchema = z
  .object({
    is_enabled: z.boolean(),
    is_soft_limit: z.boolean(),
    usage_limit: z
      .number()
      .int()
      .nullable()
      .meta({ description: 'Of a metered feature; null: unlimited' }),
    usage_reset_period: resetPeriodSchema
      .optional()
      .meta({ description: 'Of a metered feature; absent: with the billing period' }),
    static_values: z.array(z.string()),
  })
  .meta({ id: 'AggregatedEntitlement' });
export type AggregatedEntitlement = z.output<typeof aggregatedEntitlementSchema>;

const idListSchema = listParameter(z.string().max(64)).optional();

/** Query of GET /customers/{id}/entitlements (specification §4.8). */
export const customerEntitlementsQuerySchema = z.object({
  feature_ids: idListSchema,
  subscription_ids: idListSchema,
  as_of: instantSchema.optional().meta({ description: 'Past or to come. Default: now' }),
});
export type CustomerEntitlementsQuery = z.output<typeof customerEntitlementsQuerySchema>;

/** Everything that a customer has (specification §4.8). */
export const customerEntitlementsSchema = z
  .object({
    customer_id: z.string(),
    features: z.array(
      z.object({
        feature: featureSchema,
        entitlement: aggregatedEntitlementSchema,
        sources: z.array(entitlementSourceSchema),
      }),
    ),
  })
  .meta({ id: 'CustomerEntitlements' });
/** The entitlements of one subscription. */
export const subscriptionEntitlementsSchema = customerEntitlementsSchema
  .pick({ features: true })
  .extend({ subscription_id: z.string(), plan_id: z.string() })
  .meta({ id: 'SubscriptionEntitlements' });

export type CustomerEntitlements = z.output<typeof customerEntitlementsSchema>;
