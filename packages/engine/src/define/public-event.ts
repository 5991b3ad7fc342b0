import type {
  Aggregate,
  AnyAggregate,
  EventCatalogue,
  EventOf,
  Stamped,
} from '@counterfoil/kernel';
import type { z } from 'zod';
import type { RequestContext } from './request-context.ts';

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

/** A kind of record that is shown inside others. */
export interface Embeddable<State = unknown> {
  readonly aggregate: AnyAggregate;
  /** The record as others show it. Only asked for one that exists. */
  view(state: State): object;
  /** The records that it shows inside itself. */
  readonly embeds?: Embeds<State> | undefined;
}

/** A record that is shown inside another one, or in a message about it. */
export interface Embed<From> {
  readonly record: Embeddable;
  /** Its id; nothing when there is none to show. */
  id(from: From): string | null | undefined;
  /** Its state as the record that it follows from defines it, to be shown until it has events itself. */
  follows?(from: From): unknown;
}

/** Records that are shown inside, by the member that holds each. */
export type Embeds<From> = Readonly<Record<string, Embed<From>>>;

/** The records to show inside, as far as they exist, by the member that holds each. */
export type Embedded<Member extends string = string> = Readonly<Partial<Record<Member, object>>>;

/**
 * Maps the events of one aggregate to public messages. It must be a pure function of the log:
 * a relay that starts over has to produce the same messages in the same order.
 */
export interface PublicEvents {
  readonly aggregate: AnyAggregate;
  /** Every type that `publish` gives, and no other. */
  readonly types: PublicEventTypes;
  /** The records of other streams that messages show, each as it was at the event (D62). */
  readonly embeds: Embeds<Change<unknown, EventOf<EventCatalogue>>>;
  publish(
    change: Change<unknown, EventOf<EventCatalogue>>,
    embedded: Embedded,
  ): readonly PublicEvent[];
}

/** Binds a mapping, the types of what it gives and the records that it embeds to its aggregate. */
export const publicEvents = <
  Name extends string,
  Catalogue extends EventCatalogue,
  State,
  Member extends string = never,
>(
  aggregate: Aggregate<Name, Catalogue, State>,
  publish: (
    change: Change<State, EventOf<Catalogue>>,
    embedded: Embedded<Member>,
  ) => readonly PublicEvent[],
  types: PublicEventTypes,
  embeds = {} as Readonly<Record<Member, Embed<Change<State, EventOf<Catalogue>>>>>,
): PublicEvents => ({ aggregate, publish, types, embeds });

/** Finds the state of a record at the event that is published; null when it did not exist then. */
export type StateAt = (aggregate: AnyAggregate, id: string) => Promise<unknown>;

/** Returns the messages about a change, with the records that they show inside. */
export const publicationsOf = async (
  { embeds, publish }: PublicEvents,
  change: Parameters<PublicEvents['publish']>[0],
  stateAt: StateAt,
): Promise<readonly PublicEvent[]> => publish(change, await embeddedIn(embeds, change, stateAt));

/** The state of a record right after the events up to a position of the log; null when it has none. */
export async function recordAt(
  context: Pick<RequestContext, 'history'>,
  aggregate: AnyAggregate,
  id: string,
  position: bigint,
): Promise<unknown> {
  let state: unknown = null;
  for await (const event of context.history(aggregate, id)) {
    if (BigInt(event.position) > position) continue;
    state = aggregate.evolve(state ?? aggregate.initial, event);
  }
  return state;
}

async function embeddedIn<From>(
  embeds: Embeds<From>,
  from: From,
  stateAt: StateAt,
): Promise<Embedded> {
  const embedded: Record<string, object> = {};
  for (const [member, { record, id, follows }] of Object.entries(embeds)) {
    const wanted = id(from);
    const own = wanted ? await stateAt(record.aggregate, wanted) : null;
    const state = own ?? follows?.(from) ?? null;
    if (state === null) continue;
    const inside = record.embeds ? await embeddedIn(record.embeds, state, stateAt) : null;
    embedded[member] = { ...record.view(state), ...inside };
  }
  return embedded;
}
