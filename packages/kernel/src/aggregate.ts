import type { z } from 'zod';
import type { EnvironmentId, KeyId, TenantId, UserId } from './id.ts';
import type { Instant } from './instant.ts';
import type { KeptForm } from './kept-form.ts';

/** The events of an aggregate: name to schema of its data. The event union is derived from it. */
export type EventCatalogue = Readonly<Record<string, z.ZodType>>;

export type EventOf<Catalogue extends EventCatalogue> = {
  [Type in keyof Catalogue & string]: {
    readonly type: Type;
    readonly data: z.output<Catalogue[Type]>;
  };
}[keyof Catalogue & string];

/** The person or service account that acted, and its API key; both null for the service itself. */
export interface Actor {
  readonly user_id: UserId | null;
  readonly key_id: KeyId | null;
}

/** The place, time and author of an event. Every record's stamps come from here. */
export interface Stamp {
  readonly tenant_id: TenantId;
  /** Null for records that belong to the tenant as a whole. */
  readonly environment_id: EnvironmentId | null;
  /** Never runs backwards inside a stream. */
  readonly occurred_at: Instant;
  readonly actor: Actor;
}

/** An event with its stamp, as `evolve` sees it. */
export type Stamped<Event> = Event & { readonly stamp: Stamp };

/**
 * A value that only one record may hold at a time within the aggregate's scope.
 * `problem` is what the second claimant is told.
 */
export interface UniqueValue {
  readonly name: string;
  /** The field that callers know it by, where that is not its name. */
  readonly field?: string;
  readonly value: string;
  readonly problem: string;
}

/** Another record of the same scope that a record depends on. */
export interface Reference {
  /** Category of its stream. */
  readonly category: string;
  readonly id: string;
  /** The name of its kind, for people. */
  readonly what: string;
  /** True when the record follows from the one that refers to it, and so need not exist before it. */
  readonly follows?: boolean;
}

/** Turns event data of one version into data of the next. Pure. */
export type Upcaster = (data: never) => unknown;

/**
 * An aggregate is a value. `evolve` is pure and total; the state is plain JSON, so that it can be
 * stored beside a read-model row and in a snapshot.
 */
export interface Aggregate<Name extends string, Catalogue extends EventCatalogue, State> {
  /** Category of its streams: lower case, digits and underscore. */
  readonly name: Name;
  /** The owner of its records: an environment, or the tenant as a whole. */
  readonly scope: 'environment' | 'tenant';
  /**
   * The clock that its events are stamped by: the one of its environment, unless its times are no times of
   * billing, such as the expiry of a key (D51).
   */
  readonly clock?: 'environment' | 'system';
  readonly events: Catalogue;
  readonly initial: State;
  readonly evolve: (state: State, event: Stamped<EventOf<Catalogue>>) => State;
  /**
   * The values that no other record may hold while this state does. The engine claims what a decision
   * adds before it appends, and gives back what a decision drops.
   */
  readonly unique?: (state: State) => readonly UniqueValue[];
  /**
   * The records that this state depends on at an instant, which must stay in use as long. The engine
   * claims what a decision adds before it appends.
   */
  readonly refersTo?: (state: State, at: Instant) => readonly Reference[];
  /** True when something new may refer to a record in this state. Needed where `refersTo` names it. */
  readonly isReferable?: (state: State) => boolean;
  /**
   * True when nothing may depend on a record in this state: a decision that leads there is refused
   * while something does. A removed record is not referable.
   */
  readonly isRemoved?: (state: State) => boolean;
  /**
   * By event type: the shorter form in which the log keeps its data. The whole of it is there again before
   * anything is done with the event.
   */
  readonly kept?: Readonly<Partial<Record<keyof Catalogue & string, KeptForm>>>;
  /** By event type: upcasters from version 1 on, of data as it is kept; the current version is their number plus one. */
  readonly upcasters?: Readonly<Partial<Record<keyof Catalogue & string, readonly Upcaster[]>>>;
}

// biome-ignore lint/suspicious/noExplicitAny: lists of aggregates hold every state and catalogue.
export type AnyAggregate = Aggregate<string, any, any>;

/** Gives an aggregate its exact types. */
export const aggregate = <const Name extends string, Catalogue extends EventCatalogue, State>(
  definition: Aggregate<Name, Catalogue, State>,
): Aggregate<Name, Catalogue, State> => definition;

/**
 * The pure part of a command: from the state and the instant of the decision to the events that
 * follow. Throws a `Problem` to refuse, or `RefusedWithEvents` where the refusal itself has
 * consequences. No events means that nothing had to change.
 */
export type Decision<State, Event> = (state: State, at: Instant) => readonly Event[];
