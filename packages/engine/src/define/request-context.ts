import type { Aggregate, EventCatalogue, EventOf, Instant } from '@counterfoil/kernel';
import type { HistoryRange } from './asking-context.ts';
import type { ChainLink, Outcome, Place, Principal } from './context.ts';
import type { AnyIntake } from './intake.ts';
import type { Reaction } from './reaction.ts';
import type { WorkContext } from './work-context.ts';

/** Everything a route handler may use. There is no other way to the outside. */
export interface RequestContext extends WorkContext {
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
  /**
   * The same request, by the same caller, in another place than the one of its key. The handler has
   * checked that the caller may act there and that the place exists.
   */
  within(place: Place): RequestContext;
}
