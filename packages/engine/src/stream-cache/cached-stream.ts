import { serialize } from 'node:v8';
import { BrokenInvariant } from '@counterfoil/kernel';
import { readFailure } from '../decide/problems.ts';
import { isAnnexed } from '../log/annex.ts';
import { ChainedEvent, chainFault } from '../log/hash-chain.ts';
import { ReadEvent } from '../log/incoming-event.ts';
import { shared } from '../log/shared.ts';
import type { NewEvent, Position, StoredEvent, UnreadEvent } from '../log/types.ts';
import type { HeardLog } from './heard-log.ts';
import { IdempotencyIndex } from './idempotency-index.ts';
import { KeptSnapshots, type StreamSource } from './kept-snapshots.ts';
import type { LatestUnread } from './latest-unread.ts';
import { type LatestOutcomes, Outcomes } from './outcomes.ts';
import { Stations, type StreamEnd, stationEvery } from './stations.ts';
import {
  advance,
  advanceProven,
  emptyStream,
  type StreamPlace,
  type StreamState,
} from './stream-state.ts';
import type { UnreadStream } from './unread-streams.ts';

/** The memory of a process that all its streams share. */
export interface ProcessMemory {
  readonly heard: Pick<HeardLog, 'upTo' | 'stretch'>;
  readonly outcomes: LatestOutcomes;
  readonly unread: LatestUnread;
}

/** An append of our own that is under way. */
interface Sent<State> {
  readonly after: StreamState<State>;
  readonly events: readonly NewEvent[];
  /** The telling of the log that was going on before it was sent. */
  readonly stretch: number;
}

/** No stream has a later event. */
const revisionMaximum = Number.MAX_SAFE_INTEGER - 1;

/** About what a cached stream takes beside its state and its requests, in bytes. */
const bytesOfStream = 4_096;

/** Events of others that wait unread in a stream; with one more all are folded, which together costs less than one by one. */
const unreadMaximum = 64;
/** Characters of an event that may wait unread. */
const unreadCharacters = 8_192;

/** Characters of events after which a state is looked at again, beyond as many as it had bytes. */
const charactersUnseen = 8_192;

/**
 * A stream of the log, folded as far as this process has read, written or been told of it, with the
 * requests that it has seen until there: the two always move together.
 *
 * It has a second place, for a part that goes along the log in order and needs a record right
 * before and after each event: that one may be behind the newest state, which a writer has moved
 * on.
 */
export class CachedStream<State> {
  readonly place: StreamPlace;
  /** The outcomes of the last of its requests. */
  readonly outcomes: Outcomes<State>;
  /** Told each event that the log brought, right after it was folded: the writer's own among them. */
  onEvent: (event: Pick<StoredEvent, 'id'>) => void = () => undefined;
  /** Told each event of another process that was folded, with the stream right after it: one that the log told of. */
  onTold: (event: StoredEvent, after: StreamState<State>) => void = () => undefined;
  /** The same of one that had to be read, which may be of long ago. */
  onRead: (event: StoredEvent, after: StreamState<State>) => void = () => undefined;
  /** Reads what the log has after the last known event. Rejects with the problem that a caller gets. */
  readonly catchUp: () => Promise<void>;
  readonly #source: StreamSource;
  readonly #log: Pick<HeardLog, 'upTo' | 'stretch'>;
  readonly #latestUnread: LatestUnread;
  readonly #snapshots: KeptSnapshots<State>;
  readonly #stations = new Stations<State>();
  /** The folding of an early state that nothing kept is near to. */
  #refolding: Promise<StreamState<State>> | null = null;
  #requests = new IdempotencyIndex();
  #now: StreamState<State>;
  #followed: StreamState<State>;
  #isBehind = true;
  /** The telling of the log that was going on when the last read to the end began. */
  #readIn = 0;
  /** The last revision that the log is known to have; that of the newest state, or a later one. */
  #heard = -1;
  #sent: Sent<State> | null = null;
  /** Events that the log has told of while nobody was at work on the stream, in order. Nobody has needed them yet. */
  #unread: UnreadEvent[] = [];
  #isNew = true;
  #holds = 0;
  #stateBytes = 0;
  /** Characters of the events since the state was looked at: about what they have added to it at most. */
  #charactersSince = 0;

  constructor(
    source: StreamSource,
    place: StreamPlace,
    { heard, outcomes, unread }: ProcessMemory,
    told: UnreadStream | null,
  ) {
    this.#source = source;
    this.#log = heard;
    this.#latestUnread = unread;
    this.#snapshots = new KeptSnapshots(source, place.name, () => ({
      stream: this.#now,
      words: this.#requests.words,
    }));
    this.outcomes = new Outcomes(outcomes, place.name);
    this.place = place;
    this.#now = emptyStream(place.aggregate.initial);
    this.#followed = this.#now;
    this.catchUp = shared(() => this.#readTail());
    if (!told) return;
    // The whole of it is known, without a read, and as fresh as any stream that is told of others.
    this.#begin(told.stretch);
    for (const event of told.events) this.#wait(event);
  }

  /** The newest state that is known. */
  get now(): StreamState<State> {
    this.fold();
    return this.#now;
  }

  /** The requests that the stream has seen up to the newest state. */
  get requests(): IdempotencyIndex {
    this.fold();
    return this.#requests;
  }

  /**
   * True when there may be events that have not been read: at the start, after a failure, and when the log
   * has told of one that did not fit.
   */
  get isBehind(): boolean {
    return this.#isBehind || this.#heard > this.now.head.revision;
  }

  /** True while nothing is known of it: it was not read, and the log has told of no event. */
  get isUnknown(): boolean {
    return this.#isNew && this.#heard < 0 && this.#now.head.revision < 0;
  }

  /**
   * True when the newest state is known to have everything up to a position: it was read after the process began to
   * be told of the log, which has been told up to there since.
   */
  isKnownUpTo(position: Position): boolean {
    const { upTo, stretch } = this.#log;
    return upTo !== null && position <= upTo && this.#readIn === stretch && !this.isBehind;
  }

  /** True while somebody is at work on it, so that a second copy must not come about. */
  get isHeld(): boolean {
    return this.#holds > 0;
  }

  /** Notes that somebody asks for the stream. */
  use(): void {
    this.#snapshots.noteUse();
  }

  /** True when it is as well read again, should anybody ask for it once more: see kept-snapshots.ts. */
  get isDispensable(): boolean {
    return this.#snapshots.isDispensable && !this.isHeld;
  }

  /** Keeps the stream in the cache until the same number of calls of `release`. */
  hold(): void {
    this.#holds += 1;
  }

  release(): void {
    this.#holds -= 1;
  }

  /**
   * About the memory that the stream takes, in bytes. The state is looked at whenever it may have doubled, and that
   * of a short stream never: it is about as large as its events.
   */
  weigh(): number {
    if (this.#charactersSince > this.#stateBytes + charactersUnseen) {
      this.#stateBytes = serialize(this.#now.state).byteLength;
      this.#charactersSince = 0;
    }
    const states = this.#stateBytes * (1 + this.#stations.size);
    return bytesOfStream + states + this.#charactersSince + this.#requests.weigh();
  }

  /**
   * Tells whether an event that the log brings has to be read for this stream at once. One of the append that is under way is
   * taken as it is, and one of another process waits while nobody is at work here: it is read beside the decision that
   * needs it, or with others.
   */
  wants(event: UnreadEvent): boolean {
    if (event.revision <= this.#now.head.revision || this.takeOwn(event)) return false;
    // Who is at work may wait to see an event of theirs among those that come.
    if (this.isHeld || event.characters > unreadCharacters) return true;
    this.#wait(event);
    return false;
  }

  #wait(event: UnreadEvent): void {
    this.#heard = Math.max(this.#heard, event.revision);
    // One that was not read is read as a whole.
    if (this.#isNew) return;
    this.#unread.push(event);
    this.#latestUnread.add(this, event.characters);
    if (this.#unread.length > unreadMaximum) this.fold();
  }

  /**
   * Folds what the log has told and nobody has needed yet. An event that is not as it was written, or cannot be folded, is left
   * to the read that comes then, and to whoever asks for the state.
   */
  fold(): void {
    if (this.#unread.length === 0) return;
    const told = this.#unread;
    this.forget();
    try {
      for (const unread of told) {
        if (unread.revision <= this.#now.head.revision) continue;
        const event = unread.read();
        // The contents of one with an annex have to be read besides.
        if (!event || isAnnexed(event) || chainFault(this.#now.head, event) !== null) return;
        this.#goOver(event, advance(this.place.aggregate, this.#now, event));
        this.onTold(event, this.#now);
      }
      this.#keep();
    } catch {
      // The stream is behind what was heard, so it is read.
    }
  }

  /** Lets go what waits unread: it is read from the log, should anybody still ask. */
  forget(): void {
    if (this.#unread.length === 0) return;
    this.#latestUnread.done(this);
    this.#unread = [];
  }

  /** Notes an append of our own that goes out now, so that its events are known when the log brings them. */
  send(after: StreamState<State>, events: readonly NewEvent[]): void {
    this.#sent = { after, events, stretch: this.#log.stretch };
  }

  /** An event of this stream that the log brought, to a follower that passes on all of them in order. */
  hear(event: StoredEvent): void {
    // What has come after it may wait already.
    if (event.revision > this.#now.head.revision + 1) this.fold();
    const { revision } = this.#now.head;
    if (event.revision <= revision) return;
    if (this.takeOwn(event)) return;
    this.#heard = Math.max(this.#heard, event.revision);
    // What does not fit is read, and found faulty or not, by the next who asks for the state.
    if (this.#isNew || event.revision > revision + 1) return;
    if (chainFault(this.#now.head, event) !== null) return;
    this.#goOver(event, advance(this.place.aggregate, this.#now, event));
    this.onTold(event, this.#now);
    this.#keep();
  }

  /**
   * Takes an event that the log brought, read or not, if it is of the append that is under way. It is not folded once more: with the
   * last event the stream moves on to the state that was decided. False for every other event.
   */
  takeOwn({ id, revision, position }: Pick<StoredEvent, 'id' | 'revision' | 'position'>): boolean {
    if (!this.#sent) return false;
    const { after, events } = this.#sent;
    const first = after.head.revision - events.length + 1;
    if (events[revision - first]?.id !== id) return false;
    this.#heard = Math.max(this.#heard, revision);
    if (revision === after.head.revision) {
      this.moveTo({ ...after, position }, events);
      for (const event of events) this.onEvent(event);
    }
    return true;
  }

  /**
   * Goes on to the state after events of our own that have just been appended. The log may have brought
   * them before the answer to the append came.
   */
  moveTo(after: StreamState<State>, events: readonly NewEvent[]): void {
    const sentIn = this.#sent?.stretch ?? this.#readIn;
    this.#sent = null;
    if (after.head.revision <= this.#now.head.revision) return;
    const first = after.head.revision - events.length + 1;
    if (this.#isNew && first === 0) this.#begin(sentIn);
    for (const [index, event] of events.entries()) {
      this.#requests.note(event.metadata.request, first + index);
      this.#charactersSince += ChainedEvent.textsOf(event)?.data.length ?? 0;
    }
    this.#now = after;
    this.#stations.leave(after);
    this.#keep();
  }

  /** Knows a stream from its first event on: the log had none before, or it would not have taken it. */
  #begin(stretch: number): void {
    this.#isNew = false;
    this.#isBehind = false;
    this.#readIn = stretch;
  }

  /** Reads the tail after an append that failed; until then nothing is to be trusted. */
  async recover(): Promise<void> {
    this.#sent = null;
    this.#isBehind = true;
    await this.catchUp();
  }

  /**
   * Sets the second place right behind a revision. Rejects with `StoreUnavailable` when the log cannot be
   * read, with `BrokenInvariant` when it does not have the event.
   */
  async follow(revision: number): Promise<void> {
    if (this.#followed.head.revision === revision) return;
    if (this.now.head.revision < revision) await this.#read(revision);
    this.#followed = this.#now.head.revision === revision ? this.#now : await this.at(revision);
  }

  /** The state at the second place. */
  get followed(): StreamState<State> {
    return this.#followed;
  }

  /**
   * Sets the second place right behind the last event up to a position of the log. Rejects with
   * `StoreUnavailable` when the log cannot be read.
   */
  async followUpTo(position: Position): Promise<void> {
    if (this.now.position <= position) await this.#read();
    this.#followed =
      this.#now.position <= position
        ? this.#now
        : await this.#folded(({ position: next }) => next <= position);
  }

  /** Moves the second place over the event behind it, and returns the stream before and after it. */
  pass(event: StoredEvent): { before: StreamState<State>; after: StreamState<State> } {
    const before = this.#followed;
    if (event.revision !== before.head.revision + 1) {
      throw new BrokenInvariant(`${event.stream}@${event.revision} came out of order`);
    }
    // An event that is not as it was written is left to the next decision, which is refused.
    if (chainFault(this.#now.head, event) === null) {
      this.#goOver(event, advance(this.place.aggregate, this.#now, event));
      this.#keep();
    }
    const isNow = event.revision === this.#now.head.revision;
    const after = isNow ? this.#now : advance(this.place.aggregate, before, event);
    this.#followed = after;
    return { before, after };
  }

  /** The events from one revision to another, both included; none when they are the other way round. */
  async *events(from: number, upTo: number): AsyncGenerator<StoredEvent> {
    if (from > upTo) return;
    yield* this.#source.store.readStream(this.place.name, { from, maximum: upTo - from + 1 });
  }

  /**
   * The stream as it was right after an event from before the newest state, folded from a state that was kept, from a snapshot
   * or from the first event. Rejects with `BrokenInvariant` when the log does not have the event.
   */
  async at(revision: number): Promise<StreamState<State>> {
    // After a fault clients repeat many requests at once. One of them folds the long way there, and leaves states near to all.
    while (this.#refolding && !this.#isNear(revision)) await this.#refolding;
    if (this.#isNear(revision)) return await this.#refold(revision);
    this.#refolding = this.#refold(revision).finally(() => {
      this.#refolding = null;
    });
    return await this.#refolding;
  }

  #isNear(revision: number): boolean {
    return isNear(
      this.#passed(({ revision: next }) => next <= revision),
      revision,
    );
  }

  /** The latest of the states that are kept and belong; the empty one when there is none. */
  #passed(belongs: (end: StreamEnd) => boolean): StreamState<State> {
    return this.#stations.latest(belongs) ?? emptyStream(this.place.aggregate.initial);
  }

  async #refold(revision: number): Promise<StreamState<State>> {
    const stream = await this.#folded(({ revision: next }) => next <= revision, revision);
    if (stream.head.revision !== revision) {
      throw new BrokenInvariant(`${this.place.name}@${stream.head.revision + 1} cannot be read`);
    }
    this.#stations.reach(stream);
    return stream;
  }

  /**
   * The stream as far as its events belong to it, folded from a state that was passed before, from a snapshot or
   * from the first event. None after a revision is read.
   */
  async #folded(
    belongs: (end: StreamEnd) => boolean,
    upTo = revisionMaximum,
  ): Promise<StreamState<State>> {
    const { aggregate } = this.place;
    const passed = this.#passed(belongs);
    let stream = isNear(passed, upTo) ? passed : await this.#laterSnapshot(passed, belongs, upTo);
    for await (const event of this.events(stream.head.revision + 1, upTo)) {
      // Read to the end: leaving the loop early would leave the read open in some clients.
      if (!belongs(event)) continue;
      stream = advanceProven(aggregate, stream, event);
      this.#stations.pass(stream);
    }
    return stream;
  }

  /** The last snapshot up to a revision where it is later than a state and belongs to the stream as well, else that state. */
  async #laterSnapshot(
    passed: StreamState<State>,
    belongs: (end: StreamEnd) => boolean,
    upTo: number,
  ): Promise<StreamState<State>> {
    const stream = (await this.#snapshots.last(upTo))?.stream;
    if (!stream || stream.head.revision <= passed.head.revision) return passed;
    const { head, position } = stream;
    if (!belongs({ revision: head.revision, position })) return passed;
    this.#stations.begin(stream);
    return stream;
  }

  #take(event: StoredEvent): void {
    this.#goOver(event, advanceProven(this.place.aggregate, this.#now, event));
    this.onRead(event, this.#now);
  }

  #goOver(event: StoredEvent, after: StreamState<State>): void {
    this.#now = after;
    this.#stations.leave(after);
    this.#charactersSince += ReadEvent.recordedOf(event)?.data.length ?? 0;
    this.#requests.note(event.metadata.request, event.revision);
    this.onEvent(event);
  }

  async #readTail(): Promise<void> {
    this.hold();
    // Before the read: what comes after its beginning is told.
    const { stretch } = this.#log;
    try {
      await this.#read();
      this.#isBehind = false;
      this.#readIn = stretch;
    } catch (error) {
      this.#isBehind = true;
      throw readFailure(error);
    } finally {
      this.release();
    }
  }

  /** Reads on to a revision, or to the end. */
  async #read(upTo = revisionMaximum): Promise<void> {
    if (this.#isNew) await this.#restore(upTo);
    const from = this.now.head.revision + 1;
    for await (const event of this.events(from, upTo)) {
      // An append of our own may have moved the stream while this read was under way.
      if (event.revision > this.#now.head.revision) this.#take(event);
    }
    this.#isNew = false;
    this.#keep();
  }

  /** Begins with a snapshot. Only before the first read: nobody is told the events that it stands for. */
  async #restore(upTo: number): Promise<void> {
    const found = await this.#snapshots.last(upTo);
    if (!found || this.#now.head.revision >= 0) return;
    this.#now = found.stream;
    this.#stations.leave(found.stream);
    this.#charactersSince = Number.POSITIVE_INFINITY;
    this.#requests = new IdempotencyIndex(found.words);
    this.#snapshots.noteRestored(found.stream.head.revision);
  }

  #keep(): void {
    this.#snapshots.keep(this.#now.head.revision);
  }
}

/** True when at most as many events as from one station to the next lie between a state and a revision. */
const isNear = ({ head }: StreamState<unknown>, revision: number): boolean =>
  revision - head.revision <= stationEvery;
