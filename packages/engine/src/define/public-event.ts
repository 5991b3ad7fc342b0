import type {
  Aggregate,
  AnyAggregate,
  EventCatalogue,
  EventOf,
  Stamped,
} from '@counterfoil/kernel';
import type { z } from 'zod';

/**
 * A public message about one event. `type` is `resource.tail`; the subject it travels under is
 * built from it and from the id of the resource.
 */
export interface PublicEvent {
  readonly type: string;
  readonly resourceId: string;
  /** The body that receivers get beside `event_type`: the resource as it was at this event. */
  readonly body: Readonly<Record<string, unknown>>;
}

/** An event with the state before and after it: everything that a public event may be made of. */
export interface Change<State, Event> {
  readonly event: Stamped<Event>;
  readonly before: State;
  readonly after: State;
}

/** A type of public message, for those who receive it. */
export interface PublicEventType {
  /** The occasion, as a sentence without a full stop: "A customer is created". */
  readonly summary: string;
  /** The members of the body beside `event_type`. */
  readonly body: z.ZodObject;
  /**
   * `state` (the default): the event shows its record as it is from then on, so of two events of a record the
   * later one is enough. `entry`: each counts for itself, such as a transaction.
   */
  readonly kind?: 'state' | 'entry';
}

/** By type, such as `customer.created`. */
export type PublicEventTypes = Readonly<Record<string, PublicEventType>>;

/**
 * Maps the events of one aggregate to public messages. It must be a pure function of the log:
 * a relay that starts over has to produce the same messages in the same order.
 */
export interface PublicEvents {
  readonly aggregate: AnyAggregate;
  /** Every type that `publish` gives, and no other. */
  readonly types: PublicEventTypes;
  publish(change: Change<unknown, EventOf<EventCatalogue>>): readonly PublicEvent[];
}

/** Binds a mapping, and the types of what it gives, to its aggregate. */
export const publicEvents = <Name extends string, Catalogue extends EventCatalogue, State>(
  aggregate: Aggregate<Name, Catalogue, State>,
  publish: (change: Change<State, EventOf<Catalogue>>) => readonly PublicEvent[],
  types: PublicEventTypes,
): PublicEvents => ({ aggregate, publish, types });
