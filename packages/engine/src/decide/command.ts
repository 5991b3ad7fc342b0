import type { Actor, Decision, Problem, Stamped } from '@counterfoil/kernel';
import type { ReservationLease } from '../constraints/changes.ts';
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

/** A decision for one stream, with the request that wants it. */
export interface Command<State> {
  readonly decide: Decision<State, RawEvent>;
  readonly cause: Cause;
  /** The request that is carried out once for ever; null when there is no idempotency key. */
  readonly fingerprint: RequestFingerprint | null;
  /** True when only an effect is remembered under the key: without one the request is decided again. */
  readonly remembersEffectsOnly?: boolean;
  /** Revision that the stream must have; null when any will do. */
  readonly expectedRevision: number | null;
  /**
   * True where the stream most likely has no event yet: one that nothing is known of is then not read but taken to be empty, and the append
   * fails if it is not.
   */
  readonly isProbablyFirst?: boolean;
  /** True while its request may still be carried out elsewhere: `run` may then reject with `OwnedElsewhere`. */
  readonly mayGoElsewhere?: boolean;
}

/** A command in the mailbox of its stream. */
export interface QueuedCommand<State> extends Command<State> {
  readonly resolve: (outcome: CommandOutcome<State>) => void;
  readonly reject: (reason: unknown) => void;
  /** Ids of the last event of each append that may have carried it out. */
  attempts: readonly string[];
  isSettled: boolean;
  /** The instant at which it has waited long enough, in milliseconds of a clock that only rises. */
  readonly waitsUntil: number;
  lease: ReservationLease | null;
  /** The number of times that it has gone to claim what it needs. */
  claimings: number;
}

/** The outcome of a command, with the position that a reader must have reached to see it. */
export interface CommandOutcome<State> extends Outcome<State, RawEvent> {
  readonly events: readonly Stamped<RawEvent>[];
  readonly position: Position;
  /** Set when the command was refused and the refusal recorded: it is thrown to the caller. */
  readonly refusal: Problem | null;
  /** The id of the request that wrote it; null when nothing was written. */
  readonly writtenBy: string | null;
}

/** The writer of one stream, as the senders of commands see it. */
export interface Writer<State> {
  /** Throws `OwnedElsewhere` when a command is better decided by another process. */
  assertOwned(command: Pick<Command<State>, 'mayGoElsewhere'>): void;
  /** Resolves when the events of the command are durable, rejects when it failed. */
  run(command: Command<State>): Promise<CommandOutcome<State>>;
  /** The first outcome of a request that the stream has seen; null when it has not. */
  replay(fingerprint: RequestFingerprint): Promise<CommandOutcome<State> | null>;
  /** The stream as the log has it now. */
  current(): Promise<StreamState<State>>;
  /** The stream as this process knows it, if that is everything up to a position; else as the log has it now. */
  seen(position: Position): Promise<StreamState<State>>;
}

/** A command of the engine itself: without a key, on whatever revision. */
export const bareCommand = <State>(
  cause: Cause,
  decide: Decision<State, RawEvent>,
): Command<State> => ({ cause, decide, fingerprint: null, expectedRevision: null });

/** The decision, after what has to be looked up before it. */
export const preparedFrom = async <State, Event>(
  decision: Prepared<Decision<State, Event>>,
): Promise<Decision<State, Event>> =>
  typeof decision === 'function' ? decision : decision.prepare();

/**
 * Runs a command whose decision may have to be prepared, which it is only for a request that has not been
 * carried out before. Another process may have done so since we last read the stream, so when there can
 * be no decision we read again.
 */
export async function runPrepared<State>(
  writer: Writer<State>,
  decision: Prepared<Decision<State, RawEvent>>,
  command: Omit<Command<State>, 'decide'>,
): Promise<CommandOutcome<State>> {
  // Before anything is done here for nothing: the owner knows repetitions as well.
  writer.assertOwned(command);
  const { fingerprint } = command;
  const known = fingerprint && (await writer.replay(fingerprint));
  if (known) return known;
  let decide: Decision<State, RawEvent>;
  try {
    decide = await preparedFrom(decision);
  } catch (reason) {
    if (!fingerprint) throw reason;
    await writer.current();
    const late = await writer.replay(fingerprint);
    if (late) return late;
    throw reason;
  }
  return writer.run({ ...command, decide });
}
