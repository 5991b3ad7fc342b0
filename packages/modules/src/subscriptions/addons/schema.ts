import {
  clearable,
  instantSchema,
  metadataSchema,
  recordStampsShape,
  recordStatusSchema,
  referenceSchema,
  textSchema,
} from '@counterfoil/kernel';
import { z } from 'zod';
import { addonSchema } from '../../offers/index.ts';
import { addonParamsShape, settlementSumSchema, subscriptionSchema } from '../schema.ts';
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
