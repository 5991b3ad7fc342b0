import { recordProjection } from '@counterfoil/engine/define';
import { existing } from '@counterfoil/kernel';
import { eventSubscription } from './subscription.ts';
import { subscriptionView } from './subscription-schema.ts';

/** One row per subscription. */
export const subscriptionTable = recordProjection(eventSubscription, {
  name: 'event_subscriptions',
  version: 2,
  view: (state) => subscriptionView(existing(state, 'event subscription')),
  columns: { name: { type: 'text', of: ({ name }) => name } },
});
