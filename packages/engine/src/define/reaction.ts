import type {
  Aggregate,
  AnyAggregate,
  EventCatalogue,
  EventOf,
  Stamped,
} from '@counterfoil/kernel';
import type { AnyProjection } from './projection.ts';
import type { WorkContext } from './work-context.ts';

/** An event with its place in the stream of its record, as a reaction is handed it. */
export type ReactionEvent<Event> = Stamped<Event> & {
  readonly aggregate_id: string;
  readonly revision: number;
};

/**
 * Everything that a reaction may use. The keys of its commands and the ids that it makes follow from the
 * event, so that handling the event once more executes and names the same. `load` gives a
 * state that has everything up to the event at least, and may be later; `read` shows at least the event.
 */
export type ReactionContext = WorkContext;

/** Agreement with something outside of the log, which others may change or lose. */
export interface Reconciliation<State> {
  /** The projection of the aggregate's records: it names those that there are. */
  readonly table: AnyProjection;
  readonly everyMilliseconds: number;
  /** Makes the outside agree with the states of all records of all tenants, folded from the log. */
  readonly run: (states: readonly State[]) => Promise<unknown>;
}

interface ReactionOptions<Catalogue extends EventCatalogue, State> {
  /** Part of the keys of its commands: a reaction that is renamed is a new one. */
  readonly name: string;
  /** By type of event. All that a handler does must be safe to repeat. */
  readonly on: {
    readonly [Type in keyof Catalogue & string]?: (
      event: ReactionEvent<Extract<EventOf<Catalogue>, { readonly type: Type }>>,
      context: ReactionContext,
    ) => Promise<unknown>;
  };
  /** The first event that it is handed: the first of the log, unless `now`. */
  readonly start?: 'beginning' | 'now';
  readonly reconciliation?: Reconciliation<State>;
}

/** Work that follows from the events of an aggregate's records; see ADR 24. */
export interface Reaction {
  readonly name: string;
  readonly aggregate: AnyAggregate;
  readonly on: Readonly<
    Record<string, (event: ReactionEvent<AnyEvent>, context: ReactionContext) => Promise<unknown>>
  >;
  readonly start: 'beginning' | 'now';
  readonly reconciliation: Reconciliation<unknown> | null;
}

type AnyEvent = EventOf<EventCatalogue>;

/** Binds a reaction to the aggregate whose events it follows. */
export const reaction = <Catalogue extends EventCatalogue, State>(
  source: Aggregate<string, Catalogue, State>,
  { start = 'beginning', reconciliation, ...options }: ReactionOptions<Catalogue, State>,
): Reaction =>
  ({
    ...options,
    aggregate: source,
    start,
    reconciliation: reconciliation ?? null,
  }) as unknown as Reaction;
