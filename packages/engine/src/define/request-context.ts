import type {
  Aggregate,
  AnyAggregate,
  EventCatalogue,
  EventOf,
  Instant,
} from '@counterfoil/kernel';
import type {
  ChainLink,
  CommandContext,
  HistoryEvent,
  Outcome,
  Place,
  Principal,
} from './context.ts';
import type { AnyIntake, FactReads } from './intake.ts';
import type { Reaction } from './reaction.ts';

/** A part of a history: from a revision on, and the most revisions of it. */
export interface HistoryRange {
  readonly from?: number;
  readonly maximum?: number;
}

/** Records by their id, and by the unique values that they hold. */
export type Records = Pick<RequestContext, 'load' | 'holderOf'>;

/** Everything a route handler may use. There is no other way to the outside. */
export interface RequestContext extends CommandContext {
  readonly principal: Principal;
  readonly requestId: string;
  /** The arrival of the request by the system's clock, for times that are none of billing (D51). */
  readonly receivedAt: Instant;
  /** From the header or the body; null when the caller sent none. */
  readonly idempotencyKey: string | null;
  /**
   * Carries out at once what a reaction does because of an outcome's events, under the same keys, so that
   * the answer can show it. Never rejects: what fails is left to the reaction.
   */
  carryOut(
    reaction: Reaction,
    id: string,
    outcome: Outcome<unknown, EventOf<EventCatalogue>>,
  ): Promise<void>;
  /**
   * Commands of the same caller that have no part in the answer: neither its position nor a key or a tag of the
   * request is about them.
   */
  beside(): CommandContext;
  /**
   * The id of the record that holds a unique value of an aggregate, from the log: never behind.
   * Null when none does.
   */
  holderOf(aggregate: AnyAggregate, name: string, value: string): Promise<string | null>;
  /**
   * The same records for a question, which decides nothing: from memory where this process has been told of everything
   * that the caller has written, and of the position it insists on. What others wrote a moment ago may be missing. A
   * record that is not found there is looked up in the log.
   */
  readonly recalled: Records;
  /**
   * The events of a record as they stand in the log, in order, from a revision on, up to a number.
   * None for a record that does not exist.
   */
  history<Catalogue extends EventCatalogue, State>(
    aggregate: Aggregate<string, Catalogue, State>,
    id: string,
    options?: HistoryRange,
  ): AsyncIterable<HistoryEvent<EventOf<Catalogue>>>;
  /** The same with what the engine keeps beside the events of the record: no revision is missing. */
  chain<Catalogue extends EventCatalogue, State>(
    aggregate: Aggregate<string, Catalogue, State>,
    id: string,
    options?: HistoryRange,
  ): AsyncIterable<ChainLink<EventOf<Catalogue>>>;
  /**
   * Records facts of an intake, each in canonical JSON, and resolves when they are durable. A repetition records
   * them again: whoever reads them counts each once.
   */
  record(intake: AnyIntake, texts: readonly string[]): Promise<void>;
  /** Reads of the tables of facts. */
  readonly facts: FactReads;
  /**
   * The same request, by the same caller, in another place than the one of its key. The handler has
   * checked that the caller may act there and that the place exists.
   */
  within(place: Place): RequestContext;
}
