import { reaction } from '@counterfoil/engine/define';
import { carryOutBrought } from '../../taxes/index.ts';
import { subscription } from '../subscription.ts';

/** The tax rates that a new subscription names are attached to it. */
export const taxesOfSubscription = reaction(subscription, {
  name: 'taxes of a subscription',
  on: {
    SubscriptionCreated: ({ aggregate_id: entity_id, data }, context) =>
      carryOutBrought(context, { entity_type: 'subscription', entity_id }, data.tax_associations),
  },
});
