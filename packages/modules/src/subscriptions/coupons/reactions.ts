import { type ReactionContext, reaction } from '@counterfoil/engine/define';
import { couponRedemptions, returnRedemption } from '../../coupons/index.ts';
import { type Subscription, subscription } from '../subscription.ts';

/** A draft that is given up gives its redemptions back, and so does a subscription that ends before it was paid for. */
export const couponsOfDrafts = reaction(subscription, {
  name: 'coupons of drafts',
  on: {
    SubscriptionDeleted: async ({ aggregate_id }, context) => {
      const draft = await context.load(subscription, aggregate_id);
      if (draft !== null) await giveBack(context, draft);
    },
    SubscriptionCancelled: async ({ aggregate_id }, context) => {
      const ended = await context.load(subscription, aggregate_id);
      if (ended !== null && ended.awaits !== null) await giveBack(context, ended);
    },
  },
});

async function giveBack(
  context: ReactionContext,
  { id, coupons }: Pick<Subscription, 'id' | 'coupons'>,
): Promise<void> {
  for (const coupon of new Set(coupons.map(({ coupon_id }) => coupon_id))) {
    await context.execute(couponRedemptions, coupon, returnRedemption(id));
  }
}
