import { AppendError, type RequestMark, type StoredEvent } from '../log/types.ts';
import {
  type AppendedVerdict,
  batchLimits,
  type ClaimsVerdict,
  type DecidedBatch,
  type DecidedEntry,
  decideBatch,
  needsNoFreshState,
} from './batch.ts';
import type { Command, Entry, WriterOutcome } from './command.ts';
import { advance, emptyStream, type FoldedStream } from './folded-stream.ts';
import { freshReads } from './fresh-reads.ts';
import { recall } from './replay.ts';
import { RequestIndex } from './request-index.ts';
import { type StreamPlace, type WriterEnvironment, writerLimits } from './writer-environment.ts';
import { appendFailure, readFailure, tooManyConflicts, tooManyWaiting } from './writer-problems.ts';

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
  readonly #requests = new RequestIndex<State>();
  /** By the id of their last event: appended batches of which we never heard the outcome. */
  readonly #unknown = new Map<string, DecidedEntry<State> & { verdict: AppendedVerdict<State> }>();
  #stream: FoldedStream<State>;
  /** Whether events may exist that we have not read: at the start and after a failure. */
  #behind = true;
  /** Reads what the log has after the last known event. */
  readonly #catchUp = freshReads(() => this.#readTail());
  #draining = false;
  #claiming = 0;

  constructor(environment: WriterEnvironment, place: StreamPlace) {
    this.#environment = environment;
    this.place = place;
    this.#stream = emptyStream(place.aggregate.initial);
  }

  /** Whether nothing is under way, so that the writer may be forgotten. */
  get isIdle(): boolean {
    return (
      !this.#draining &&
      this.#queue.length === 0 &&
      this.#claiming === 0 &&
      !this.#catchUp.isUnderWay()
    );
  }

  /** The stream as the log has it now: reads what came after the last known event. */
  async current(): Promise<FoldedStream<State>> {
    await this.#catchUp();
    return this.#stream;
  }

  /** The first outcome of a request that this stream has seen; null when it has not. */
  async replay(mark: RequestMark): Promise<WriterOutcome<State> | null> {
    if (this.#behind) await this.#catchUp();
    return this.#requests.has(mark.key) ? this.#recall(mark) : null;
  }

  /** Queues a command; resolves when its events are durable, rejects when it failed. */
  run(command: Command<State>): Promise<WriterOutcome<State>> {
    if (this.#queue.length >= writerLimits.mailbox) return Promise.reject(tooManyWaiting());
    return new Promise((resolve, reject) => {
      const entry = { command, resolve, reject, attempts: new Set<string>() };
      this.#queue.push({ ...entry, ticket: null, isSettled: false });
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
      if (this.#behind) await this.#catchUp();
      for (let round = 0; round < writerLimits.rounds && waiting.length > 0; ) {
        const batch = this.#decide(waiting);
        if (await this.#isTrue(batch)) {
          this.#finish(batch);
          waiting = waiting.slice(batch.decided.length);
        } else {
          waiting = waiting.filter((entry) => !entry.isSettled);
          round += 1;
        }
      }
    } catch (error) {
      reason = error;
    }
    for (const entry of waiting) this.#fail(entry, reason ?? tooManyConflicts());
  }

  #decide(entries: readonly Entry<State>[]): DecidedBatch<State> {
    return decideBatch({
      aggregate: this.place.aggregate,
      streamName: this.place.name,
      stream: this.#stream,
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
    const { revision } = this.#stream.head;
    if (batch.events.length === 0) {
      if (batch.decided.every(({ verdict }) => needsNoFreshState(verdict.kind))) return true;
      await this.#catchUp();
      return this.#stream.head.revision === revision;
    }
    try {
      const appended = await this.#environment.store.append(
        this.place.name,
        batch.events,
        revision,
      );
      this.#environment.onBatch?.(batch.decided.length, batch.events.length);
      this.#moveTo({ ...batch.after, position: appended.position });
      return true;
    } catch (error) {
      if (!(error instanceof AppendError)) throw error;
      await this.#lookAfter(error, batch);
      return false;
    }
  }

  /** A read of the tail may have brought our own events before the answer to the append came. */
  #moveTo(after: FoldedStream<State>): void {
    if (after.head.revision >= this.#stream.head.revision) this.#stream = after;
  }

  async #lookAfter(error: AppendError, batch: DecidedBatch<State>): Promise<void> {
    if (error.failure === 'conflict') this.#environment.onConflict?.();
    else if (error.failure === 'unknown_outcome') this.#expectUnknown(batch);
    else throw appendFailure(this.place.name, error);
    this.#behind = true;
    await this.#catchUp();
  }

  #expectUnknown(batch: DecidedBatch<State>): void {
    for (const { entry, verdict } of batch.decided) {
      if (verdict.kind !== 'appended') continue;
      entry.attempts.add(verdict.lastEventId);
      this.#unknown.set(verdict.lastEventId, { entry, verdict });
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
    const span = { first: verdict.firstRevision, last: verdict.after.head.revision };
    if (mark) this.#requests.remember(mark, span, outcome);
    this.#resolve(entry, outcome, 'committed');
    return outcome;
  }

  #finishRepeated(entry: Entry<State>, first: WriterOutcome<State> | undefined): void {
    const { mark } = entry.command;
    if (first) this.#resolve(entry, { ...first, replayed: true });
    else if (mark) this.#answerAgain(entry, mark);
  }

  #answerAgain(entry: Entry<State>, mark: RequestMark): void {
    this.#recall(mark).then(
      (outcome) => this.#resolve(entry, outcome),
      (reason) => this.#fail(entry, reason),
    );
  }

  #outcome(
    after: FoldedStream<State>,
    events: WriterOutcome<State>['events'],
    refusal: WriterOutcome<State>['refusal'] = null,
  ): WriterOutcome<State> {
    const { position } = this.#stream;
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
    for (const id of entry.attempts) this.#unknown.delete(id);
  }

  #claim(entry: Entry<State>, { change, revision }: ClaimsVerdict): void {
    const old = entry.ticket;
    entry.ticket = null;
    this.#claiming += 1;
    (old?.settle('failed') ?? Promise.resolve())
      .then(() =>
        this.#environment.acquireClaims(
          this.place,
          change,
          revision,
          entry.command as Command<never>,
        ),
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
      await this.#catchUp();
      const isStillWanted = this.#decide([entry]).decided[0]?.verdict.kind === 'claims';
      if (isStillWanted) this.#fail(entry, reason);
      else this.#requeue(entry);
    } catch (error) {
      this.#fail(entry, error);
    }
  }

  #recall(mark: RequestMark): Promise<WriterOutcome<State>> {
    return recall(this.#environment.store, this.place, this.#requests, mark);
  }

  async #readTail(): Promise<void> {
    try {
      const from = this.#stream.head.revision + 1;
      for await (const event of this.#environment.store.readStream(this.place.name, { from })) {
        // An append of our own may have moved the stream while this read was under way.
        if (event.revision > this.#stream.head.revision) this.#take(event);
      }
      this.#behind = false;
    } catch (error) {
      this.#behind = true;
      throw readFailure(error);
    }
  }

  #take(event: StoredEvent): void {
    this.#stream = advance(this.place.aggregate, this.#stream, event);
    this.#requests.note(event);
    const ours = this.#unknown.get(event.id);
    if (ours) this.#finishAppended(ours.entry, ours.verdict);
  }
}
