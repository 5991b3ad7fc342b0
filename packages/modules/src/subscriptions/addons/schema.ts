import {
  clearable,
  instantSchema,
  metadataSchema,
  recordStampsShape,
  recordStatusSchema,
  referenceSchema,
  textSchema,
  withConditions,
} from '@counterfoil/kernel';
import { z } from 'zod';
import { addonSchema } from '../../offers/index.ts';
import {
  addAddonParamsSchema,
  addonParamsShape,
  settlementSumSchema,
  subscriptionSchema,
} from '../schema.ts';
import { prorationBehaviorSchema } from '../values.ts';
import { addonCadenceSchema, addonStatusSchema } from './association.ts';

/** Body of POST /subscriptions/addon. */
export const addAddonSchema = z
  .object({ subscription_id: referenceSchema('subs'), ...addonParamsShape })
  .meta({ id: 'AddAddonToSubscription' });

/** Body of DELETE /subscriptions/addon, and the params of the same modification. */
export const removeAddonSchema = z
  .object({
    addon_association_id: referenceSchema('addon_assoc'),
    effective_date: instantSchema
      .nullish()
      .meta({ description: 'Within the current period; default: its end' }),
    proration_behavior: prorationBehaviorSchema.nullish().meta({ description: 'Default: none' }),
    reason: clearable(textSchema(1000)).optional(),
  })
  .meta({ id: 'RemoveAddonFromSubscription' });
export type RemoveAddon = z.output<typeof removeAddonSchema>;

/** The members of a modification that attaches an add-on or ends one. */
export const addonParamsSchema = withConditions(
  z.object({
    action: z.enum(['add', 'remove']),
    add: addAddonParamsSchema.nullish(),
    remove: removeAddonSchema.nullish(),
  }),
  [
    { when: { action: 'add' }, needs: 'add', says: 'is required for action add' },
    { when: { action: 'remove' }, needs: 'remove', says: 'is required for action remove' },
  ],
).meta({ id: 'AddonParams' });

/** An add-on of a subscription on the wire (specification §4.18). */
export const addonAssociationSchema = z
  .object({
    ...recordStampsShape,
    status: recordStatusSchema,
    addon_id: z.string(),
    addon: addonSchema.optional(),
    subscription: subscriptionSchema.optional(),
    entity_id: z.string(),
    entity_type: z.literal('subscription'),
    addon_status: addonStatusSchema,
    cadence: addonCadenceSchema,
    start_date: instantSchema,
    end_date: instantSchema.optional(),
    cancelled_at: instantSchema.optional(),
    cancellation_reason: z.string().optional(),
    metadata: metadataSchema,
  })
  .meta({ id: 'AddonAssociation' });
export type AddonAssociation = z.output<typeof addonAssociationSchema>;

/** An add-on with what its beginning or its end charges and credits (D66). */
export const settledAddonSchema = addonAssociationSchema
  .extend({ settlement: settlementSumSchema })
  .meta({ id: 'SettledAddon' });
