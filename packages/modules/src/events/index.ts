import {
  type EventBroker,
  type EventGateway,
  module,
  type PublicEvents,
} from '@counterfoil/engine/define';
import { credentialRoutes } from './credential-routes.ts';
import { eventTypesOf } from './event-type.ts';
import { accessOfSubscriptions, readersOfSubscriptions } from './reactions.ts';
import { eventRoutes } from './routes.ts';
import { eventSubscription } from './subscription.ts';
import { subscriptionTable } from './subscription-projection.ts';
import { subscriptionRoutes } from './subscription-routes.ts';

export { asyncApiDocument } from './async-api.ts';
export { bodySchemas, type EventTypes, eventTypesOf } from './event-type.ts';
export { publishedBodies } from './published-bodies.ts';
export { eventSubscription } from './subscription.ts';

interface EventsOptions {
  /** Of all other slices: their messages can be read here. */
  readonly publicEvents: readonly PublicEvents[];
  readonly broker: EventBroker;
  /** Null where systems get no credentials. */
  readonly gateway: EventGateway | null;
  /** The most subscriptions of an environment. */
  readonly maximumSubscriptions: number;
}

/** The public events for those who ask for them: the feed, subscriptions, the types of events. */
export const events = ({ publicEvents, broker, gateway, maximumSubscriptions }: EventsOptions) =>
  module({
    name: 'events',
    aggregates: [eventSubscription],
    tables: [subscriptionTable],
    routes: {
      ...eventRoutes(eventTypesOf(publicEvents), broker),
      ...subscriptionRoutes({ broker, gateway, maximumSubscriptions }),
      ...credentialRoutes(gateway),
    },
    publicEvents: [],
    reactions: [
      readersOfSubscriptions(broker),
      ...(gateway ? [accessOfSubscriptions(gateway)] : []),
    ],
  });

/** The routes with their exact types, for the typed client. */
export type EventRoutes = ReturnType<typeof eventRoutes> &
  ReturnType<typeof subscriptionRoutes> &
  ReturnType<typeof credentialRoutes>;
