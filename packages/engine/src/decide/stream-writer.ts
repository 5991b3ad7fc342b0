import { AppendError, type RequestFingerprint, type StoredEvent } from '../log/types.ts';
import { CachedStream } from '../stream-cache/cached-stream.ts';
import { IdempotencyIndex } from '../stream-cache/idempotency-index.ts';
import { recall } from '../stream-cache/replay.ts';
import type { StreamState } from '../stream-cache/stream-state.ts';
import {
  type AppendedVerdict,
  batchLimits,
  type ClaimsVerdict,
  type DecidedBatch,
  decideBatch,
  needsNoFreshState,
} from './batch.ts';
import type { Command, StreamPlace, WriterOutcome } from './command.ts';
import type { Entry } from './entry.ts';
import { InDoubtAppends } from './in-doubt-appends.ts';
import { type WriterEnvironment, writerLimits } from './writer-environment.ts';
import { appendFailure, roundsUsedUp, tooManyWaiting } from './writer-problems.ts';

/**
 * The only writer of one stream in this process. Commands wait in a mailbox; while an append is
 * under way they gather, and then all of them are decided in order on the folded state and
 * go out as one append at the exact revision of that state. Another process that writes to
 * the same stream makes the append fail, never the record wrong.
 */
export class StreamWriter<State> {
  readonly place: StreamPlace;
  readonly #environment: WriterEnvironment;
  readonly #queue: Entry<State>[] = [];
  readonly #requests = new IdempotencyIndex<State>();
  readonly #unheard = new InDoubtAppends<State>();
  readonly #stream: CachedStream<State>;
  #draining = false;
  #claiming = 0;

  constructor(environment: WriterEnvironment, place: StreamPlace) {
    this.#environment = environment;
    this.place = place;
    this.#stream = new CachedStream(environment, place, this.#requests, this.#take.bind(this));
  }

  /** True when nothing is under way, so that the writer may be forgotten. */
  get isIdle(): boolean {
    const isWaiting = this.#draining || this.#queue.length > 0 || this.#claiming > 0;
    return !isWaiting && !this.#stream.catchUp.isUnderWay();
  }

  /** About the memory that the writer takes, in bytes. */
  readonly weigh = (): number => this.#stream.weigh();

  /** The stream as the log has it now: reads what came after the last known event. */
  async current(): Promise<StreamState<State>> {
    await this.#stream.catchUp();
    return this.#stream.now;
  }

  /** The first outcome of a request that this stream has seen; null when it has not. */
  async replay(mark: RequestFingerprint): Promise<WriterOutcome<State> | null> {
    if (this.#stream.isBehind) await this.#stream.catchUp();
    return this.#requests.has(mark.key) ? this.#recall(mark) : null;
  }

  /** Queues a command; resolves when its events are durable, rejects when it failed. */
  run(command: Command<State>): Promise<WriterOutcome<State>> {
    if (this.#queue.length >= writerLimits.mailbox) return Promise.reject(tooManyWaiting());
    return new Promise((resolve, reject) => {
      const entry = { command, resolve, reject, attempts: new Set<string>() };
      this.#queue.push({ ...entry, ticket: null, claimings: 0, isSettled: false });
      this.#wake();
    });
  }

  #wake(): void {
    if (this.#draining) return;
    this.#draining = true;
    // One turn of the loop lets every request that is already here join the first batch.
    setImmediate(() => void this.#drain());
  }

  async #drain(): Promise<void> {
    while (this.#queue.length > 0) await this.#settle(this.#queue.splice(0, batchLimits.commands));
    this.#draining = false;
  }

  /** Brings entries to their end: appended, refused, repeated, or handed over to the claims. */
  async #settle(entries: readonly Entry<State>[]): Promise<void> {
    let waiting = entries;
    let reason: unknown = null;
    try {
      if (this.#stream.isBehind) await this.#stream.catchUp();
      for (let round = 0; round < writerLimits.rounds && waiting.length > 0; ) {
        const batch = this.#decide(waiting);
        if (await this.#isTrue(batch)) {
          this.#finish(batch);
          waiting = waiting.slice(batch.decided.length);
        } else {
          const left = waiting.filter((entry) => !entry.isSettled);
          // Only rounds that brought nobody to an end count: all others come to an end by themselves.
          if (left.length === waiting.length) round += 1;
          waiting = left;
        }
      }
    } catch (error) {
      reason = error;
    }
    for (const entry of waiting) this.#fail(entry, reason ?? roundsUsedUp(entry.attempts.size));
  }

  #decide(entries: readonly Entry<State>[]): DecidedBatch<State> {
    return decideBatch({
      aggregate: this.place.aggregate,
      streamName: this.place.name,
      stream: this.#stream.now,
      entries,
      isKnownKey: (key) => this.#requests.has(key),
      now: this.#environment.now(),
      newEventId: this.#environment.newEventId,
    });
  }

  /**
   * Makes a decided batch true: appends its events, or, when there are none, makes sure that
   * it was decided on the latest state, because a refusal is only as good as what it was
   * based on. False: the stream has moved or the outcome is unknown; decide again.
   */
  async #isTrue(batch: DecidedBatch<State>): Promise<boolean> {
    const { revision } = this.#stream.now.head;
    if (batch.events.length === 0) {
      if (batch.decided.every(({ verdict }) => needsNoFreshState(verdict.kind))) return true;
      await this.#stream.catchUp();
      return this.#stream.now.head.revision === revision;
    }
    try {
      const appended = await this.#environment.store.append(
        this.place.name,
        batch.events,
        revision,
      );
      this.#environment.onBatch?.(batch.decided.length, batch.events.length);
      this.#stream.moveTo({ ...batch.after, position: appended.position }, batch.events);
      return true;
    } catch (error) {
      if (!(error instanceof AppendError)) throw error;
      await this.#lookAfter(error, batch);
      return false;
    }
  }

  async #lookAfter(error: AppendError, batch: DecidedBatch<State>): Promise<void> {
    if (error.failure === 'conflict') this.#environment.onConflict?.();
    else if (error.failure === 'unknown_outcome') this.#unheard.expect(batch);
    else if (error.failure === 'too_large') return this.#failAppended(batch, error);
    else throw appendFailure(this.place.name, error);
    await this.#stream.recover();
  }

  /** Nobody suffers for another: what is large goes alone. */
  #failAppended(batch: DecidedBatch<State>, error: AppendError): void {
    for (const { entry, verdict } of batch.decided) {
      if (verdict.kind === 'appended') this.#fail(entry, appendFailure(this.place.name, error));
    }
  }

  #finish(batch: DecidedBatch<State>): void {
    const outcomes = new Map<Entry<State>, WriterOutcome<State>>();
    for (const { entry, verdict } of batch.decided) {
      switch (verdict.kind) {
        case 'refused':
          this.#fail(entry, verdict.reason);
          break;
        case 'unchanged':
          this.#resolve(entry, this.#outcome(verdict.after, []));
          break;
        case 'claims':
          this.#claim(entry, verdict);
          break;
        case 'repeated':
          this.#finishRepeated(entry, verdict.of ? outcomes.get(verdict.of) : undefined);
          break;
        case 'appended':
          outcomes.set(entry, this.#finishAppended(entry, verdict));
          break;
        default:
          verdict satisfies never;
      }
    }
  }

  #finishAppended(entry: Entry<State>, verdict: AppendedVerdict<State>): WriterOutcome<State> {
    const outcome = this.#outcome(verdict.after, verdict.events, verdict.refusal);
    const { mark } = entry.command;
    if (mark) this.#requests.remember(mark, outcome);
    this.#resolve(entry, outcome, verdict.usesClaims ? 'committed' : 'failed');
    return outcome;
  }

  #finishRepeated(entry: Entry<State>, first: WriterOutcome<State> | undefined): void {
    const { mark } = entry.command;
    if (first) this.#resolve(entry, { ...first, replayed: true });
    else if (mark) this.#answerAgain(entry, mark);
  }

  #answerAgain(entry: Entry<State>, mark: RequestFingerprint): void {
    this.#recall(mark).then(
      (outcome) => this.#resolve(entry, outcome),
      (reason) => this.#fail(entry, reason),
    );
  }

  #outcome(
    after: StreamState<State>,
    events: WriterOutcome<State>['events'],
    refusal: WriterOutcome<State>['refusal'] = null,
  ): WriterOutcome<State> {
    const { position } = this.#stream.now;
    const { recordRevision: revision } = after;
    return { state: after.state, events, revision, position, replayed: false, refusal };
  }

  #resolve(
    entry: Entry<State>,
    outcome: WriterOutcome<State>,
    claims: 'committed' | 'failed' = 'failed',
  ): void {
    this.#close(entry);
    // A dropped value is free before the answer says so: the next request may want it at once.
    const free = entry.ticket?.settle(claims) ?? Promise.resolve();
    void free.then(() => entry.resolve(outcome));
  }

  #fail(entry: Entry<State>, reason: unknown): void {
    if (entry.isSettled) return;
    this.#close(entry);
    // What may have been written keeps its claims: they are looked into when someone wants them.
    const claims = entry.attempts.size > 0 ? 'unknown' : 'failed';
    void (entry.ticket?.settle(claims) ?? Promise.resolve()).then(() => entry.reject(reason));
  }

  #close(entry: Entry<State>): void {
    entry.isSettled = true;
    this.#unheard.forget(entry);
  }

  #claim(entry: Entry<State>, change: ClaimsVerdict): void {
    entry.claimings += 1;
    if (entry.claimings > writerLimits.claimings) {
      this.#fail(entry, roundsUsedUp(entry.attempts.size));
      return;
    }
    const old = entry.ticket;
    entry.ticket = null;
    this.#claiming += 1;
    (old?.settle('failed') ?? Promise.resolve())
      .then(() =>
        this.#environment.acquireClaims(this.place, change, entry.command as Command<never>),
      )
      .then(
        (ticket) => {
          entry.ticket = ticket;
          this.#requeue(entry);
        },
        (reason) => this.#failUnlessOutdated(entry, reason),
      )
      .finally(() => {
        this.#claiming -= 1;
      });
  }

  #requeue(entry: Entry<State>): void {
    this.#queue.unshift(entry);
    this.#wake();
  }

  /**
   * A value that cannot be had is a refusal, so it counts only when the latest state still asks for
   * it: another process may have answered this very request long ago.
   */
  async #failUnlessOutdated(entry: Entry<State>, reason: unknown): Promise<void> {
    try {
      await this.#stream.catchUp();
      const isStillWanted = this.#decide([entry]).decided[0]?.verdict.kind === 'claims';
      if (isStillWanted) this.#fail(entry, reason);
      else this.#requeue(entry);
    } catch (error) {
      this.#fail(entry, error);
    }
  }

  #recall(mark: RequestFingerprint): Promise<WriterOutcome<State>> {
    return recall(this.#environment, this.place, this.#requests, mark);
  }

  #take(event: StoredEvent): void {
    const ours = this.#unheard.of(event.id);
    if (ours) this.#finishAppended(ours.entry, ours.verdict);
  }
}
