import {
  type EventBroker,
  type EventGateway,
  type Reaction,
  type ReactionContext,
  reaction,
} from '@counterfoil/engine/define';
import { accessReaction } from '../gateway-access.ts';
import { accessOf, eventSubscription, readerOf, type SubscriptionState } from './subscription.ts';
import { subscriptionTable } from './subscription-projection.ts';

/** A reader that somebody removed by hand, or that a lost server took along, is back after this. */
const lookMilliseconds = 10_000;

interface Told {
  readonly aggregate_id: string;
}

/** Each subscription has its reader at the broker, and a deleted one has none. */
export function readersOfSubscriptions(broker: EventBroker): Reaction {
  const keep = async ({ aggregate_id: id }: Told, { load }: ReactionContext): Promise<void> => {
    const subscription = await load(eventSubscription, id);
    if (subscription?.status === 'published') await broker.ensureReader(readerOf(subscription));
    else await broker.removeReader(id);
  };
  const removed = new Set<string>();
  const keepOne = async (subscription: NonNullable<SubscriptionState>): Promise<void> => {
    const { id, status } = subscription;
    if (status === 'published') await broker.ensureReader(readerOf(subscription));
    else if (!removed.has(id)) {
      await broker.removeReader(id);
      removed.add(id);
    }
  };
  return reaction(eventSubscription, {
    name: 'readers of event subscriptions',
    on: {
      EventSubscriptionCreated: keep,
      EventSubscriptionReplayed: keep,
      EventSubscriptionDeleted: keep,
    },
    reconciliation: {
      table: subscriptionTable,
      everyMilliseconds: lookMilliseconds,
      run: async (subscriptions) => {
        const failures: unknown[] = [];
        for (const subscription of subscriptions) {
          // A reader that cannot be kept keeps no other from being looked at.
          if (subscription) await keepOne(subscription).catch((error) => failures.push(error));
        }
        if (failures.length > 0) throw failures[0];
      },
    },
  });
}

/** The gateway admits those systems that have credentials in force, and nobody else. */
export const accessOfSubscriptions = (gateway: EventGateway): Reaction =>
  accessReaction(gateway, eventSubscription, {
    name: 'credentials of event subscriptions',
    on: [
      'EventSubscriptionCredentialsIssued',
      'EventSubscriptionCredentialsRevoked',
      'EventSubscriptionDeleted',
    ],
    table: subscriptionTable,
    accessOf: (subscription) => {
      const access = subscription && accessOf(subscription);
      return access && { access, isKept: subscription.status === 'published' };
    },
  });
