import { setTimeout as pause } from 'node:timers/promises';
import { type Instant, invariant } from '@counterfoil/kernel';
import type { ReservationClaims } from '../constraints/claims.ts';
import { jittered } from '../consume/run-forever.ts';
import {
  AppendError,
  type EventStore,
  type Position,
  type RequestFingerprint,
  type StoredEvent,
} from '../log/types.ts';
import type { TrustedTime } from '../operations/trusted-time.ts';
import type { CachedStream } from '../stream-cache/cached-stream.ts';
import type { StreamPlace, StreamState } from '../stream-cache/stream-state.ts';
import {
  type Appended,
  type Batch,
  batchLimits,
  type Decided,
  decideBatch,
  needsNoFreshState,
} from './batch.ts';
import type { Command, CommandOutcome, QueuedCommand, Writer } from './command.ts';
import { OwnedElsewhere, type Ownership } from './ownership.ts';
import { appendFailure, notConfirmed, othersWereFaster, tooManyWaiting } from './problems.ts';
import { rememberRead, rememberTold, replay } from './replay.ts';

/** The parts that the writers of all streams share. */
export interface WriterEnvironment {
  readonly store: EventStore;
  /** The present instant for the records of a place. */
  readonly now: (place: StreamPlace) => Instant;
  readonly newEventId: () => string;
  /** Null while the clock may be decided by; else it rejects with the problem, or resolves after all. */
  readonly doubtOfTime?: TrustedTime['doubt'];
  readonly acquireClaims: ReservationClaims['acquire'];
  readonly onBatch?: (commands: number, events: number) => void;
  readonly onConflict?: () => void;
  /** Advice on who should decide on a contended stream; this process where there is none. */
  readonly ownership?: Ownership;
  /** Milliseconds for which a command waits while others are faster. 20 seconds unless given. */
  readonly patience?: number;
}

const limits = {
  /** Commands that may wait in one mailbox; more are told to come back. */
  mailbox: 2_000,
  /** Decisions of one batch without a confirmed append, and of one that others must not come before. */
  rounds: 8,
  /** Rounds without a pause between them. */
  roundsAtOnce: 16,
  pauseMilliseconds: 20,
  /** Times that a command goes to claim what it needs. */
  claimings: 32,
  /** Less than a request may take. */
  patience: 20_000,
} as const;

type Claiming = Extract<Decided<unknown>, { kind: 'claims' }>;

/**
 * The only writer of one stream in this process. Commands wait in a mailbox; while an append is
 * under way they gather, and then all of them are decided in order on the folded state and
 * go out as one append at the exact revision of that state. Another process that writes to
 * the same stream makes the append fail, never the record wrong.
 */
export class StreamWriter<State> implements Writer<State> {
  readonly #environment: WriterEnvironment;
  readonly #stream: CachedStream<State>;
  readonly #mailbox: QueuedCommand<State>[] = [];
  /**
   * The appends that have been sent and not been heard of, by the id of the last event. Each attempt has
   * ids of its own, so an event of the log tells which one it was.
   */
  readonly #inDoubt = new Map<string, readonly [QueuedCommand<State>, Appended<State>]>();
  #isDraining = false;

  constructor(environment: WriterEnvironment, stream: CachedStream<State>) {
    this.#environment = environment;
    this.#stream = stream;
    stream.onEvent = this.#take.bind(this);
    stream.onTold = (event, after) => rememberTold(stream, event, after);
    stream.onRead = (event, after) =>
      rememberRead(stream, event, after, environment.now(stream.place));
  }

  /** The stream as the log has it now: reads what came after the last known event. */
  async current(): Promise<StreamState<State>> {
    await this.#stream.catchUp();
    return this.#stream.now;
  }

  /** The stream as this process knows it, if that is everything up to a position; else as the log has it now. */
  async seen(position: Position): Promise<StreamState<State>> {
    return this.#stream.isKnownUpTo(position) ? this.#stream.now : this.current();
  }

  /** The first outcome of a request that this stream has seen; null when it has not. */
  async replay(fingerprint: RequestFingerprint): Promise<CommandOutcome<State> | null> {
    if (this.#stream.isBehind) await this.#stream.catchUp();
    return replay(this.#stream, fingerprint);
  }

  assertOwned({ mayGoElsewhere }: Pick<Command<State>, 'mayGoElsewhere'>): void {
    const elsewhere = mayGoElsewhere ? this.#ownedElsewhere() : null;
    if (elsewhere) throw elsewhere;
  }

  /** Queues a command; resolves when its events are durable, rejects when it failed. */
  run(command: Command<State>): Promise<CommandOutcome<State>> {
    if (this.#mailbox.length >= limits.mailbox) return Promise.reject(tooManyWaiting());
    this.#stream.hold();
    const { patience = limits.patience } = this.#environment;
    return new Promise((resolve, reject) => {
      const waitsUntil = performance.now() + patience;
      const state = { attempts: [], lease: null, claimings: 0, isSettled: false };
      this.#mailbox.push({ ...command, resolve, reject, waitsUntil, ...state });
      this.#wake();
    });
  }

  #wake(): void {
    if (this.#isDraining) return;
    this.#isDraining = true;
    // One turn of the loop lets every request that is already here join the first batch.
    setImmediate(() => void this.#drain());
  }

  async #drain(): Promise<void> {
    while (this.#mailbox.length > 0) {
      await this.#settle(this.#mailbox.splice(0, batchLimits.commands));
    }
    this.#isDraining = false;
  }

  /** Brings commands to their end: appended, refused, repeated, or handed over to the claims. */
  async #settle(commands: readonly QueuedCommand<State>[]): Promise<void> {
    // What is better decided elsewhere, or has waited in the mailbox for too long, is not begun.
    let waiting = commands.filter((command) => !this.#isGivenUp(command, 0));
    let reason: unknown = null;
    try {
      if (this.#stream.isBehind && !this.#isProbablyEmpty(waiting)) await this.#stream.catchUp();
      for (let round = 0; waiting.length > 0; ) {
        const doubt = this.#environment.doubtOfTime?.();
        if (doubt) await doubt;
        const batch = this.#decide(waiting);
        if (await this.#isTrue(batch)) {
          this.#finish(batch);
          waiting = waiting.slice(batch.decided.length);
        } else {
          const left = waiting.filter(({ isSettled }) => !isSettled);
          // Only rounds that brought nobody to an end count: all others come to an end by themselves.
          if (left.length === waiting.length) round += 1;
          waiting = left.filter((command) => !this.#isGivenUp(command, round));
          if (round > limits.roundsAtOnce) await pause(jittered(limits.pauseMilliseconds));
        }
      }
    } catch (error) {
      reason = error;
    }
    for (const command of waiting) this.#fail(command, reason);
  }

  #isProbablyEmpty(commands: readonly QueuedCommand<State>[]): boolean {
    return this.#stream.isUnknown && commands.every(({ isProbablyFirst }) => isProbablyFirst);
  }

  /**
   * Ends a command that others were faster than, if it is better decided elsewhere or has waited for long
   * enough. True when it has come to its end.
   */
  #isGivenUp(command: QueuedCommand<State>, round: number): boolean {
    const isUnknown = isInDoubt(command);
    const elsewhere = command.mayGoElsewhere && !isUnknown ? this.#ownedElsewhere() : null;
    if (elsewhere) this.#fail(command, elsewhere);
    else if (isUnknown ? round >= limits.rounds || isLate(command) : isOvertaken(command, round)) {
      this.#fail(command, isUnknown ? notConfirmed() : othersWereFaster(command));
    }
    return command.isSettled;
  }

  #ownedElsewhere(): OwnedElsewhere | null {
    const { name } = this.#stream.place;
    const owner = this.#environment.ownership?.ownerElsewhere(name) ?? null;
    return owner === null ? null : new OwnedElsewhere(name, owner);
  }

  #decide(commands: readonly QueuedCommand<State>[]): Batch<State> {
    return decideBatch({
      place: this.#stream.place,
      stream: this.#stream.now,
      commands,
      isKnownKey: (key) => this.#stream.requests.get(key) !== undefined,
      now: this.#environment.now(this.#stream.place),
      newEventId: this.#environment.newEventId,
    });
  }

  /**
   * Makes a decided batch true: appends its events, or, when there are none, makes sure that
   * it was decided on the latest state, because a refusal is only as good as what it was
   * based on. False: the stream has moved or the outcome is unknown; decide again.
   */
  async #isTrue(batch: Batch<State>): Promise<boolean> {
    const { revision } = this.#stream.now.head;
    if (batch.events.length === 0) {
      if (batch.decided.every(([, { kind }]) => needsNoFreshState(kind))) return true;
      await this.#stream.catchUp();
      return this.#stream.now.head.revision === revision;
    }
    // Before it is sent: the log may bring the events while the answer is still on its way.
    for (const [command, decided] of appendedIn(batch)) this.#expect(command, decided);
    const { name } = this.#stream.place;
    const isGuessed = this.#stream.isUnknown;
    this.#stream.send(batch.after, batch.events);
    try {
      const { position } = await this.#environment.store.append(name, batch.events, revision);
      this.#environment.onBatch?.(batch.decided.length, batch.events.length);
      this.#stream.moveTo({ ...batch.after, position }, batch.events);
      return true;
    } catch (error) {
      const failure = error instanceof AppendError ? error.failure : null;
      if (failure !== 'unknown_outcome') this.#forget(batch);
      if (!(error instanceof AppendError)) throw error;
      if (failure === 'too_large') {
        // A large command goes alone, so that no other fails with it.
        for (const [command] of appendedIn(batch)) this.#fail(command, appendFailure(name, error));
        return false;
      }
      const isConflict = failure === 'conflict';
      if (!isConflict && failure !== 'unknown_outcome') throw appendFailure(name, error);
      // Where the stream was only taken to be empty nobody else need be at work on it.
      if (isConflict && !isGuessed) {
        this.#environment.onConflict?.();
        this.#environment.ownership?.lost(name);
      }
      // The log may have brought what another process wrote while the append was under way.
      const isNews = isConflict && this.#stream.now.head.revision > revision;
      if (!isNews) await this.#stream.recover();
      return false;
    }
  }

  #expect(command: QueuedCommand<State>, decided: Appended<State>): void {
    const id = lastIdOf(decided);
    command.attempts = [...command.attempts, id];
    this.#inDoubt.set(id, [command, decided]);
  }

  /** Nothing of the batch was written. */
  #forget(batch: Batch<State>): void {
    for (const [command, decided] of appendedIn(batch)) {
      const id = lastIdOf(decided);
      command.attempts = command.attempts.filter((attempt) => attempt !== id);
      this.#inDoubt.delete(id);
    }
  }

  /** An event has come from the log; it may be the last one of an append of ours. */
  #take(event: Pick<StoredEvent, 'id'>): void {
    const sent = this.#inDoubt.get(event.id);
    if (sent) this.#finishAppended(...sent);
  }

  #finish(batch: Batch<State>): void {
    const outcomes = new Map<QueuedCommand<State>, CommandOutcome<State>>();
    for (const [command, decided] of batch.decided) {
      switch (decided.kind) {
        case 'refused':
          this.#fail(command, decided.reason);
          break;
        case 'unchanged':
          this.#resolve(command, this.#outcome(decided.after));
          break;
        case 'claims':
          this.#claim(command, decided);
          break;
        case 'repeated':
          this.#finishRepeated(command, decided.of ? outcomes.get(decided.of) : undefined);
          break;
        case 'appended':
          outcomes.set(command, this.#finishAppended(command, decided));
          break;
        default:
          decided satisfies never;
      }
    }
  }

  #finishAppended(
    command: QueuedCommand<State>,
    { after, newEvents, events, refusal, usesClaims }: Appended<State>,
  ): CommandOutcome<State> {
    const writtenBy = newEvents[0]?.metadata.$correlationId ?? null;
    const outcome = { ...this.#outcome(after), events, refusal, writtenBy };
    const { fingerprint } = command;
    if (fingerprint) this.#stream.outcomes.remember(fingerprint, 'own', () => outcome);
    this.#resolve(command, outcome, usesClaims ? 'committed' : 'failed');
    return outcome;
  }

  #finishRepeated(command: QueuedCommand<State>, first: CommandOutcome<State> | undefined): void {
    const { fingerprint } = command;
    if (first) this.#resolve(command, { ...first, replayed: true });
    if (first || !fingerprint) return;
    replay(this.#stream, fingerprint)
      .then((outcome) => {
        invariant(outcome, `request ${fingerprint.key} is not in the index`);
        this.#resolve(command, outcome);
      })
      .catch((reason) => this.#fail(command, reason));
  }

  #outcome({ state, recordRevision: revision }: StreamState<State>): CommandOutcome<State> {
    const { position } = this.#stream.now;
    const none = { events: [], replayed: false, refusal: null, writtenBy: null };
    return { ...none, state, revision, position };
  }

  #resolve(
    command: QueuedCommand<State>,
    outcome: CommandOutcome<State>,
    claims: 'committed' | 'failed' = 'failed',
  ): void {
    if (!this.#close(command)) return;
    // A dropped value is free before the answer says so: the next request may want it at once.
    const free = command.lease?.settle(claims);
    if (free) void free.then(() => command.resolve(outcome));
    else command.resolve(outcome);
  }

  #fail(command: QueuedCommand<State>, reason: unknown): void {
    // A command that may have been written keeps its claims: the next claimant looks into them.
    const claims = isInDoubt(command) ? 'unknown' : 'failed';
    if (!this.#close(command)) return;
    const settled = command.lease?.settle(claims);
    if (settled) void settled.then(() => command.reject(reason));
    else command.reject(reason);
  }

  /** Notes the end of a command; false when it had come to its end before. */
  #close(command: QueuedCommand<State>): boolean {
    if (command.isSettled) return false;
    command.isSettled = true;
    for (const id of command.attempts) this.#inDoubt.delete(id);
    this.#stream.release();
    return true;
  }

  #claim(command: QueuedCommand<State>, change: Claiming): void {
    command.claimings += 1;
    if (command.claimings > limits.claimings) {
      this.#fail(command, isInDoubt(command) ? notConfirmed() : othersWereFaster(command));
      return;
    }
    const old = command.lease;
    command.lease = null;
    const { place } = this.#stream;
    (old?.settle('failed') ?? Promise.resolve())
      .then(() => this.#environment.acquireClaims(place, change, command.cause))
      .then(
        (lease) => {
          command.lease = lease;
          this.#requeue(command);
        },
        (reason) => this.#failUnlessOutdated(command, reason),
      );
  }

  #requeue(command: QueuedCommand<State>): void {
    this.#mailbox.unshift(command);
    this.#wake();
  }

  /**
   * A value that cannot be had is a refusal, so it counts only when the latest state still asks for
   * it: another process may have answered this very request long ago.
   */
  async #failUnlessOutdated(command: QueuedCommand<State>, reason: unknown): Promise<void> {
    try {
      await this.#stream.catchUp();
      const isStillWanted = this.#decide([command]).decided[0]?.[1].kind === 'claims';
      if (isStillWanted) this.#fail(command, reason);
      else this.#requeue(command);
    } catch (error) {
      this.#fail(command, error);
    }
  }
}

/** Tells whether a command may have been written without our knowing. */
const isInDoubt = ({ attempts }: QueuedCommand<never>): boolean => attempts.length > 0;

/** Tells whether a command need not be decided once more: others keep being faster. */
const isOvertaken = (command: QueuedCommand<never>, round: number): boolean =>
  (command.expectedRevision !== null && round >= limits.rounds) || isLate(command);

const isLate = ({ waitsUntil }: QueuedCommand<never>): boolean => performance.now() >= waitsUntil;

/** The commands of a batch that the append carries out. */
const appendedIn = <State>({ decided }: Batch<State>) =>
  decided.filter(
    (one): one is readonly [QueuedCommand<State>, Appended<State>] => one[1].kind === 'appended',
  );

const lastIdOf = ({ newEvents }: Appended<unknown>): string => newEvents.at(-1)?.id ?? '';
