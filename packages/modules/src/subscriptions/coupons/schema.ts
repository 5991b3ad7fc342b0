import { flagParameter, listParameter } from '@counterfoil/engine/define';
import {
  instantSchema,
  metadataSchema,
  recordStampsShape,
  recordStatusSchema,
  referenceSchema,
  withConditions,
} from '@counterfoil/kernel';
import { z } from 'zod';
import { couponSchema } from '../../coupons/index.ts';
import { maximumCoupons } from './association.ts';

const couponIds = z.array(z.string().min(1).max(64)).max(maximumCoupons);

/** The members of a new subscription that redeem coupons (specification §11.2, E 20). */
export const couponsShape = {
  coupons: couponIds.nullish().meta({ description: 'Taken off the sum of all lines' }),
  line_item_coupons: z
    .record(z.string().min(1).max(64), couponIds)
    .nullish()
    .meta({ description: 'Ids of coupons by the price of the line that they are taken off' }),
  subscription_coupons: z
    .array(
      z
        .object({
          coupon_code: z.string().min(1).max(64),
          price_id: referenceSchema('price').nullish(),
          start_date: instantSchema.nullish().meta({ description: 'Default: of the subscription' }),
          end_date: instantSchema.nullish(),
        })
        .meta({ id: 'SubscriptionCoupon' }),
    )
    .max(maximumCoupons)
    .nullish(),
} as const;
export type CouponsBody = {
  [Key in keyof typeof couponsShape]?: z.output<(typeof couponsShape)[Key]>;
};

/** The members of a modification of the coupons of a subscription. */
export const couponParamsSchema = withConditions(
  z.object({
    action: z.enum(['add', 'remove']),
    coupon_code: z.string().max(64).nullish(),
    coupon_association_id: z.string().max(64).nullish(),
    start_date: instantSchema.nullish().meta({ description: 'Default: now' }),
    end_date: instantSchema.nullish(),
    subscription_id: z.string().max(64).nullish().meta({ description: 'That of the path' }),
    subscription_line_item_id: referenceSchema('subs_line')
      .nullish()
      .meta({ description: 'Default: off all lines' }),
  }),
  [
    {
      when: { action: 'add' },
      needs: 'coupon_code',
      says: 'is required for action add',
    },
    {
      when: { action: 'remove' },
      needs: 'coupon_association_id',
      says: 'is required for action remove',
    },
    {
      beside: 'subscription_id',
      lacks: 'subscription_line_item_id',
      says: 'does not go with subscription_id: give one of both',
    },
  ],
).meta({ id: 'CouponParams' });
export type CouponParams = z.output<typeof couponParamsSchema>;

/** The association on the wire (specification §2.19). */
export const couponAssociationSchema = z
  .object({
    ...recordStampsShape,
    status: recordStatusSchema,
    coupon_id: z.string(),
    coupon: couponSchema.optional(),
    subscription_id: z.string(),
    subscription_line_item_id: z.string().optional(),
    subscription_phase_id: z.string().optional(),
    start_date: instantSchema,
    end_date: instantSchema.optional(),
    metadata: metadataSchema,
  })
  .meta({ id: 'CouponAssociation' });
export type CouponAssociation = z.output<typeof couponAssociationSchema>;

const idsParameter = listParameter(z.string().max(64)).optional();

/** The filters of lists of associations. */
export const couponAssociationFilters = {
  subscription_ids: idsParameter,
  coupon_ids: idsParameter,
  active_only: flagParameter
    .optional()
    .meta({ description: 'Whether only those that count now are found' }),
} as const;
