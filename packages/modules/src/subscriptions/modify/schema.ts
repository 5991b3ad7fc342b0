import { instantSchema, withConditions } from '@counterfoil/kernel';
import { z } from 'zod';
import { removeAddonSchema } from '../addons/schema.ts';
import { inheritanceParamsSchema } from '../families/schema.ts';
import {
  addLineItemSchema,
  quantityChangeParamsSchema,
  removeLineParamsSchema,
} from '../lines/schema.ts';
import { pauseSubscriptionSchema } from '../pauses/schema.ts';
import {
  addAddonParamsSchema,
  cancelSubscriptionSchema,
  settlementSumSchema,
  subscriptionSchema,
} from '../schema.ts';
import { trialEndParamsSchema } from '../trials/schema.ts';

/** The kinds of modifications: those of the public contract, and those of routes of their own (D66). */
export const modificationTypes = [
  'quantity_change',
  'add_line',
  'remove_line',
  'add_addon',
  'remove_addon',
  'cancel',
  'pause',
  'inheritance',
  'trial_end',
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
    add_line_params: addLineItemSchema.optional(),
    remove_line_params: removeLineParamsSchema.optional(),
    add_addon_params: addAddonParamsSchema.optional(),
    remove_addon_params: removeAddonSchema.optional(),
    cancel_params: cancelSubscriptionSchema.optional(),
    pause_params: pauseSubscriptionSchema.optional(),
    inheritance_params: inheritanceParamsSchema.optional(),
    trial_end_params: trialEndParamsSchema.optional(),
    quote_id: quoteIdSchema,
  }),
  modificationTypes.map((type) => ({
    when: { type },
    needs: `${type}_params` as const,
    says: `is required for type ${type}`,
  })),
).meta({ id: 'ModifySubscription' });
export type ModifySubscription = z.output<typeof modifySubscriptionSchema>;

/** Answer of a modification, previewed or executed: the same but for the quote. */
export const modifiedSchema = z
  .object({
    subscription: subscriptionSchema,
    changed_resources: z.object({
      line_items: z.array(
        z.object({
          id: z.string(),
          price_id: z.string(),
          quantity: z.string(),
          start_date: instantSchema,
          end_date: instantSchema.optional(),
          change_action: z.enum(['created', 'ended']),
        }),
      ),
    }),
    settlement: settlementSumSchema,
    quote_id: z.string().optional(),
    quote_expires_at: instantSchema.optional(),
  })
  .meta({ id: 'ModifiedSubscription' });
export type Modified = z.output<typeof modifiedSchema>;
