import { dueWork } from '@counterfoil/engine/define';
import type { SubscriptionId } from '@counterfoil/kernel';
import {
  couponRedemptions,
  duePending,
  redemptionsTable,
  settleRedemptions,
} from '../../coupons/index.ts';
import { subscription } from '../subscription.ts';

/**
 * Looks whether what was redeemed has come to its subscription, and gives back what has not: the request failed after the
 * redemption, or its process died.
 */
export const redemptionsSettled = dueWork({
  name: 'coupon redemptions',
  table: redemptionsTable,
  column: 'due_at',
  run: async (context, couponId) => {
    const redemptions = await context.load(couponRedemptions, couponId);
    const kept: SubscriptionId[] = [];
    const released: SubscriptionId[] = [];
    for (const { subscription_id } of duePending(redemptions, context.now)) {
      const state = await context.load(subscription, subscription_id);
      const has = state?.coupons.some(({ coupon_id }) => coupon_id === couponId) ?? false;
      (has ? kept : released).push(subscription_id);
    }
    return context.execute(couponRedemptions, couponId, settleRedemptions(kept, released));
  },
});
