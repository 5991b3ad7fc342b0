import type { Actor, AnyAggregate, Decision, Problem, Stamped } from '@counterfoil/kernel';
import type { Outcome, Prepared } from '../define/context.ts';
import type { Position, RequestFingerprint } from '../log/types.ts';
import type { StreamState } from '../stream-cache/stream-state.ts';

/** An event before it has data of a known aggregate: the writer is generic over all of them. */
export interface RawEvent {
  readonly type: string;
  readonly data: unknown;
}

/** On whose behalf a command runs, and what caused it. */
export interface Cause {
  readonly tenantId: string;
  readonly environmentId: string | null;
  readonly actor: Actor;
  readonly correlationId: string;
  readonly causationId: string;
}

/** A stream and the aggregate whose events it holds. */
export interface StreamPlace {
  readonly aggregate: AnyAggregate;
  readonly name: string;
  readonly scope: string;
  readonly id: string;
}

/** One command for one stream. */
export interface Command<State> {
  readonly decide: Decision<State, RawEvent>;
  readonly cause: Cause;
  readonly mark: RequestFingerprint | null;
  /** Revision that the stream must have; null when any will do. */
  readonly expectedRevision: number | null;
}

/** The outcome of a command, with the position that a reader must have reached to see it. */
export interface WriterOutcome<State> extends Outcome<State, RawEvent> {
  readonly events: readonly Stamped<RawEvent>[];
  readonly position: Position;
  /** Set when the command was refused and the refusal recorded: it is thrown to the caller. */
  readonly refusal: Problem | null;
}

/** The runner of commands on one stream, as far as claims need it. */
export interface Writer<State> {
  /** Resolves when the events of the command are durable, rejects when it failed. */
  run(command: Command<State>): Promise<WriterOutcome<State>>;
  /** The stream as the log has it now. */
  current(): Promise<StreamState<State>>;
}

/** The decision, after what has to be looked up before it. */
export const preparedFrom = async <State, Event>(
  decision: Prepared<Decision<State, Event>>,
): Promise<Decision<State, Event>> =>
  typeof decision === 'function' ? decision : decision.prepare();
