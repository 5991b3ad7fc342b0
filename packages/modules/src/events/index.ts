import { type EventBroker, module, type Publisher } from '@counterfoil/engine/define';
import { eventTypesOf } from './event-type.ts';
import { eventRoutes } from './routes.ts';

export { asyncApiDocument } from './async-api.ts';
export { bodySchemas, type EventTypes, eventTypesOf } from './event-type.ts';

interface EventsOptions {
  /** Of all other slices: what they publish is what can be read here. */
  readonly publishers: readonly Publisher[];
  readonly broker: EventBroker;
}

/** What happens, for those who ask for it: the feed, the types of events and their schemas. */
export const events = ({ publishers, broker }: EventsOptions) =>
  module({
    name: 'events',
    aggregates: [],
    tables: [],
    routes: eventRoutes(eventTypesOf(publishers), broker),
    publishers: [],
  });

/** The routes with their exact types, for the typed client. */
export type EventRoutes = ReturnType<typeof eventRoutes>;
