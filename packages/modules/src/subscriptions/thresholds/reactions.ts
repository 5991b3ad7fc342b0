import { type ReactionContext, reaction } from '@counterfoil/engine/define';
import { usageWatch, watchUsage } from '../../usage/index.ts';
import { subscription } from '../subscription.ts';
import { isLive } from '../time/steps.ts';

/** Usage of who has a subscription that is invoiced by amount is watched as long as that lives. */
export const watchedThresholds = reaction(subscription, {
  name: 'usage of subscriptions that are invoiced by amount',
  on: {
    SubscriptionCreated: ({ aggregate_id }, context) => watch(context, aggregate_id),
    SubscriptionActivated: ({ aggregate_id }, context) => watch(context, aggregate_id),
    SubscriptionCancelled: ({ aggregate_id }, context) => watch(context, aggregate_id),
  },
});

async function watch(context: ReactionContext, id: string): Promise<void> {
  const sold = await context.load(subscription, id);
  if (sold === null || sold.auto_invoice_threshold === null) return;
  const wanted = isLive(sold) ? sold.customer_id : null;
  if ((await context.load(usageWatch, id)) === wanted) return;
  await context.execute(usageWatch, id, watchUsage(wanted));
}
