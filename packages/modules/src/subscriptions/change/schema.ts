import { instantSchema, metadataSchema, referenceSchema } from '@counterfoil/kernel';
import { z } from 'zod';
import { settlementSumSchema } from '../schema.ts';
import {
  billingCycleSchema,
  prorationBehaviorSchema,
  recurringPeriodSchema,
  subscriptionStatusSchema,
} from '../values.ts';
import { carriedOverSchema, changeTypeSchema } from './carried-over.ts';

/** Body of POST /subscriptions/{id}/change/preview and execute. */
export const changePlanSchema = z
  .object({
    target_plan_id: referenceSchema('plan'),
    billing_cadence: z.literal('RECURRING').nullish(),
    billing_period: recurringPeriodSchema.nullish().meta({ description: 'Default: as it is' }),
    billing_period_count: z.number().int().min(1).max(1000).nullish(),
    billing_cycle: billingCycleSchema.nullish().meta({ description: 'Default: as it is' }),
    proration_behavior: prorationBehaviorSchema
      .nullish()
      .meta({ description: 'Default: create_prorations' }),
    change_at: z
      .enum(['immediate', 'end_of_period', 'period_end'])
      .nullish()
      .meta({ description: 'Default: immediate' }),
    metadata: metadataSchema.nullish(),
    quote_id: z.string().max(300).optional(),
  })
  .meta({ id: 'ChangePlan' });
export type ChangePlan = z.output<typeof changePlanSchema>;

const prorationSchema = z
  .object({
    credit_amount: z.string(),
    charge_amount: z.string(),
    net_amount: z.string(),
    proration_date: instantSchema,
    current_period_start: instantSchema,
    current_period_end: instantSchema,
    days_used: z.number().int(),
    days_remaining: z.number().int(),
    currency: z.string(),
  })
  .meta({ id: 'PlanChangeProration' });

const planSummarySchema = z.object({ id: z.string(), name: z.string() }).meta({ id: 'PlanName' });

const sharedShape = {
  change_type: changeTypeSchema,
  effective_date: instantSchema,
  settlement: settlementSumSchema,
  carry_over: z.array(carriedOverSchema),
  metadata: metadataSchema,
} as const;

/** Answer of a preview. */
export const planChangePreviewSchema = z
  .object({
    subscription_id: z.string(),
    current_plan: planSummarySchema,
    target_plan: planSummarySchema,
    ...sharedShape,
    proration_details: prorationSchema.optional(),
    new_billing_cycle: z.object({
      period_start: instantSchema,
      period_end: instantSchema,
      billing_anchor: instantSchema,
      billing_cadence: z.literal('RECURRING'),
      billing_period: recurringPeriodSchema,
      billing_period_count: z.number().int(),
    }),
    warnings: z.array(z.string()),
    quote_id: z.string(),
    quote_expires_at: instantSchema,
  })
  .meta({ id: 'PlanChangePreview' });
export type PlanChangePreview = z.output<typeof planChangePreviewSchema>;

const changedSubscriptionSchema = z
  .object({
    id: z.string(),
    status: subscriptionStatusSchema,
    plan_id: z.string(),
    current_period_start: instantSchema,
    current_period_end: instantSchema,
    billing_anchor: instantSchema,
    created_at: instantSchema,
    archived_at: instantSchema.optional(),
  })
  .meta({ id: 'ChangedSubscription' });
export type ChangedSubscription = z.output<typeof changedSubscriptionSchema>;

/** Answer of an execution. */
export const planChangedSchema = z
  .object({
    is_scheduled: z.boolean(),
    schedule_id: z.string().optional(),
    scheduled_at: instantSchema.optional(),
    old_subscription: changedSubscriptionSchema,
    new_subscription: changedSubscriptionSchema.optional(),
    ...sharedShape,
    proration_applied: prorationSchema.optional(),
  })
  .meta({ id: 'PlanChanged' });
export type PlanChangedAnswer = z.output<typeof planChangedSchema>;
