import { reaction } from '@counterfoil/engine/define';
import type { SubscriptionId } from '@counterfoil/kernel';
import { subscription } from '../subscription.ts';
import { followSubscription } from './decisions.ts';

/** A change of plan is carried out: the subscription that follows is created, once (D33). */
export const followingSubscriptions = reaction(subscription, {
  name: 'following subscription',
  on: {
    PlanChanged: async ({ aggregate_id: id, data }, context) => {
      await context.execute(
        subscription,
        data.to.id,
        followSubscription(data, id as SubscriptionId),
      );
    },
  },
});
