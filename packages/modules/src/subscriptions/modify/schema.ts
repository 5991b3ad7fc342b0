import { instantSchema, withConditions } from '@counterfoil/kernel';
import { z } from 'zod';
import { addonParamsSchema, removeAddonSchema } from '../addons/schema.ts';
import { couponParamsSchema } from '../coupons/schema.ts';
import { groupedInvoicingParamsSchema, inheritanceParamsSchema } from '../families/schema.ts';
import {
  addLineItemSchema,
  quantityChangeParamsSchema,
  removeLineParamsSchema,
  updateLineParamsSchema,
} from '../lines/schema.ts';
import { pauseSubscriptionSchema } from '../pauses/schema.ts';
import { removePhaseParamsSchema } from '../phases/schema.ts';
import {
  addAddonParamsSchema,
  cancelSubscriptionSchema,
  notYet,
  phaseBodySchema,
  settlementSumSchema,
  subscriptionSchema,
} from '../schema.ts';
import { taxParamsSchema } from '../taxes/schema.ts';
import { trialEndParamsSchema } from '../trials/schema.ts';
import { subscriptionStatusSchema } from '../values.ts';

/** The kinds of modifications: those of the public contract, and those of routes of their own (D66). */
export const modificationTypes = [
  'quantity_change',
  'addon',
  'coupon',
  'tax',
  'grouped_invoicing',
  'inheritance',
  'trial_end',
  'add_line',
  'update_line',
  'remove_line',
  'add_addon',
  'remove_addon',
  'add_phase',
  'remove_phase',
  'cancel',
  'pause',
] as const;

const quoteIdSchema = z
  .string()
  .max(300)
  .optional()
  .meta({ description: 'Applies exactly the figures of a preview' });

/** Body of POST /subscriptions/{id}/modify/preview and execute. */
export const modifySubscriptionSchema = withConditions(
  z.object({
    type: z.enum(modificationTypes),
    quantity_change_params: quantityChangeParamsSchema.optional(),
    addon_params: addonParamsSchema.optional(),
    coupon_params: couponParamsSchema.optional(),
    tax_params: taxParamsSchema.optional(),
    grouped_invoicing_params: groupedInvoicingParamsSchema.optional(),
    add_line_params: addLineItemSchema.optional(),
    update_line_params: updateLineParamsSchema.optional(),
    remove_line_params: removeLineParamsSchema.optional(),
    add_addon_params: addAddonParamsSchema.optional(),
    remove_addon_params: removeAddonSchema.optional(),
    add_phase_params: phaseBodySchema.optional(),
    remove_phase_params: removePhaseParamsSchema.optional(),
    cancel_params: cancelSubscriptionSchema.optional(),
    pause_params: pauseSubscriptionSchema.optional(),
    inheritance_params: inheritanceParamsSchema.optional(),
    trial_end_params: trialEndParamsSchema.optional(),
    checkout: notYet,
    quote_id: quoteIdSchema,
  }),
  modificationTypes.map((type) => ({
    when: { type },
    needs: `${type}_params` as const,
    says: `is required for type ${type}`,
  })),
).meta({ id: 'ModifySubscription' });
export type ModifySubscription = z.output<typeof modifySubscriptionSchema>;

const changeActionSchema = z.enum(['created', 'ended']);

/** The records that a modification touches. */
const changedResourcesSchema = z.object({
  line_items: z.array(
    z.object({
      id: z.string(),
      price_id: z.string(),
      quantity: z.string(),
      start_date: instantSchema,
      end_date: instantSchema.optional(),
      change_action: changeActionSchema,
    }),
  ),
  subscriptions: z.array(
    z.object({
      id: z.string(),
      action: z.enum(['created', 'updated']),
      status: subscriptionStatusSchema,
      trial_end: instantSchema.optional(),
      current_period_end: instantSchema.optional(),
    }),
  ),
  invoices: z
    .array(z.object({ id: z.string(), action: z.enum(['created']), status: z.string() }))
    .optional(),
  coupon_associations: z
    .array(z.object({ id: z.string(), coupon_id: z.string(), change_action: changeActionSchema }))
    .optional(),
  tax_associations: z
    .array(z.object({ id: z.string(), change_action: changeActionSchema }))
    .optional(),
});
export type ChangedResources = z.output<typeof changedResourcesSchema>;

/** Answer of a modification, previewed or executed: the same but for the quote. */
export const modifiedSchema = z
  .object({
    subscription: subscriptionSchema,
    changed_resources: changedResourcesSchema,
    settlement: settlementSumSchema,
    quote_id: z.string().optional(),
    quote_expires_at: instantSchema.optional(),
  })
  .meta({ id: 'ModifiedSubscription' });
export type Modified = z.output<typeof modifiedSchema>;
