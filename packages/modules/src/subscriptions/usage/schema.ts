import { instantSchema, referenceSchema } from '@counterfoil/kernel';
import { z } from 'zod';
import { priceSchema } from '../../offers/index.ts';

/** Body of POST /subscriptions/usage (specification §4.13). */
export const subscriptionUsageSchema = z
  .object({
    subscription_id: referenceSchema('subs'),
    start_time: instantSchema
      .nullish()
      .meta({ description: 'Default: the start of the period that runs' }),
    end_time: instantSchema.nullish().meta({ description: 'Default: its end' }),
    lifetime_usage: z
      .boolean()
      .nullish()
      .meta({ description: 'Everything since the start, whatever times are given' }),
  })
  .meta({ id: 'SubscriptionUsageQuestion' });

const chargeSchema = z.object({
  subscription_line_item_id: z.string(),
  meter_id: z.string(),
  meter_display_name: z.string(),
  filter_values: z.record(z.string(), z.array(z.string())),
  quantity: z.number(),
  exact_quantity: z.string(),
  free_quantity: z.string().meta({ description: 'Part of it that entitlements cover' }),
  amount: z.number(),
  exact_amount: z.string(),
  net_amount: z.string(),
  currency: z.string(),
  display_amount: z.string(),
  is_overage: z.boolean(),
  overage_factor: z.number().optional(),
  commitment_info: z
    .object({
      amount: z.string().optional(),
      quantity: z.string().optional(),
      overage_factor: z.string(),
      true_up_enabled: z.boolean(),
      is_windowed: z.boolean(),
      computed_commitment_utilized_amount: z.string(),
      computed_overage_amount: z.string(),
      computed_true_up_amount: z.string(),
    })
    .optional()
    .meta({ id: 'CommitmentInfo' }),
  price: priceSchema,
});

/** Answer of POST /subscriptions/usage (D53, D70). */
export const usageChargesSchema = z
  .object({
    amount: z.number(),
    exact_amount: z.string(),
    net_amount: z.string(),
    currency: z.string(),
    display_amount: z.string(),
    start_time: instantSchema,
    end_time: instantSchema,
    has_overage: z.boolean(),
    commitment_amount: z.number().optional(),
    commitment_utilized: z.number().optional(),
    overage_amount: z.number().optional(),
    overage_factor: z.number().optional(),
    charges: z.array(chargeSchema.meta({ id: 'UsageCharge' })),
    position: z.string(),
  })
  .meta({ id: 'SubscriptionUsage' });
export type UsageCharges = z.output<typeof usageChargesSchema>;
