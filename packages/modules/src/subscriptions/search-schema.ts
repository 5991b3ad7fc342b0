import { anyOf, anyOfTexts, flagParameter, searchShape, unused } from '@counterfoil/engine/define';
import { instantSchema } from '@counterfoil/kernel';
import { z } from 'zod';
import { billingPeriodSchema } from '../offers/index.ts';
import {
  lineOriginSchema,
  recurringPeriodSchema,
  subscriptionStatusSchema,
  subscriptionTypeSchema,
} from './values.ts';

const idsSchema = anyOfTexts(64);

/** The filters of lists of subscriptions, beside those of every search (D2). */
export const subscriptionSearchShape = {
  customer_id: z.string().max(64).optional(),
  customer_ids: idsSchema,
  external_customer_id: z.string().max(255).optional(),
  plan_id: z.string().max(64).optional(),
  subscription_ids: idsSchema,
  subscription_status: anyOf(subscriptionStatusSchema),
  subscription_status_not_in: anyOf(subscriptionStatusSchema),
  subscription_type: anyOf(subscriptionTypeSchema),
  invoicing_customer_ids: idsSchema,
  parent_subscription_ids: idsSchema,
  billing_cadence: anyOf(z.literal('RECURRING')),
  billing_period: anyOf(recurringPeriodSchema),
  active_at: instantSchema.optional().meta({ description: 'Started by then and not ended' }),
  effective_date_for_update: instantSchema
    .optional()
    .meta({ description: 'Whose period ends by then' }),
  trial_end_due_lte: instantSchema.optional(),
  with_line_items: unused,
  with_coupon_associations: unused,
} as const;

/** Body of POST /subscriptions/search. */
export const subscriptionSearchSchema = z.object({ ...searchShape, ...subscriptionSearchShape });

/** The filters of lists of lines. */
export const lineSearchShape = {
  subscription_ids: idsSchema,
  subscription_line_item_ids: idsSchema,
  customer_ids: idsSchema,
  price_ids: idsSchema,
  meter_ids: idsSchema,
  entity_ids: idsSchema,
  entity_type: lineOriginSchema.optional(),
  addon_association_ids: idsSchema,
  currencies: idsSchema,
  billing_periods: anyOf(billingPeriodSchema),
  active_filter: flagParameter
    .optional()
    .meta({ description: 'Whether only lines that run now are found' }),
  current_period_start: instantSchema.optional().meta({
    description: 'With active_filter: the instant that they run at, in place of now',
  }),
} as const;

/** Body of POST /subscriptions/lineitems/search. */
export const lineSearchSchema = z.object({ ...searchShape, ...lineSearchShape });
