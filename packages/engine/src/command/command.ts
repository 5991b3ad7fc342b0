import type { Actor, Decision, Problem, Stamped } from '@counterfoil/kernel';
import type { Outcome } from '../define/context.ts';
import type { Position, RequestMark } from '../log/types.ts';
import type { ClaimTicket } from './claims.ts';

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

/** One command for one stream. */
export interface Command<State> {
  readonly decide: Decision<State, RawEvent>;
  readonly cause: Cause;
  readonly mark: RequestMark | null;
  /** Revision that the stream must have; null when any will do. */
  readonly expectedRevision: number | null;
}

/** What became of a command, with the position that a reader must have reached to see it. */
export interface WriterOutcome<State> extends Outcome<State, RawEvent> {
  readonly events: readonly Stamped<RawEvent>[];
  readonly position: Position;
  /** Set when the command was refused and the refusal recorded: it is thrown to the caller. */
  readonly refusal: Problem | null;
}

/** A command in the mailbox of its stream. */
export interface Entry<State> {
  readonly command: Command<State>;
  readonly resolve: (outcome: WriterOutcome<State>) => void;
  readonly reject: (reason: unknown) => void;
  /** Ids of the last event of each attempt whose outcome is not known. */
  readonly attempts: Set<string>;
  isSettled: boolean;
  ticket: ClaimTicket | null;
  /** How often it has gone to claim what it needs. */
  claimings: number;
}
