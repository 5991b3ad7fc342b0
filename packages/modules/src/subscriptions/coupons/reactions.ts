import { reaction } from '@counterfoil/engine/define';
import type { SubscriptionId } from '@counterfoil/kernel';
import { couponRedemptions, returnRedemption } from '../../coupons/index.ts';
import { subscription } from '../subscription.ts';

/** A draft that is given up gives its redemptions back. */
export const couponsOfDrafts = reaction(subscription, {
  name: 'coupons of drafts',
  on: {
    SubscriptionDeleted: async ({ aggregate_id }, context) => {
      const id = aggregate_id as SubscriptionId;
      const draft = await context.load(subscription, id);
      const coupons = new Set(draft?.coupons.map(({ coupon_id }) => coupon_id));
      for (const coupon of coupons) {
        await context.execute(couponRedemptions, coupon, returnRedemption(id));
      }
    },
  },
});
