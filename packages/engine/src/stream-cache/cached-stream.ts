import { serialize } from 'node:v8';
import type { StreamPlace } from '../decide/command.ts';
import { type FreshReads, freshReads } from '../decide/fresh-reads.ts';
import type { WriterEnvironment } from '../decide/writer-environment.ts';
import { readFailure } from '../decide/writer-problems.ts';
import type { NewEvent, StoredEvent } from '../log/types.ts';
import type { IdempotencyIndex } from './idempotency-index.ts';
import { advance, emptyStream, type StreamState } from './stream-state.ts';

/** The parts by which a stream is read and kept. */
type StreamTools = Pick<WriterEnvironment, 'store' | 'snapshots' | 'waypoints'>;

/** About what the writer of a stream takes beside its state, in bytes. */
const bytesOfWriter = 4_096;

/**
 * A stream of the log, folded as far as this process has read or written it, with the requests that it
 * has seen until there: the two always go together.
 */
export class CachedStream<State> {
  /** Reads what the log has after the last known event. */
  readonly catchUp: FreshReads;
  readonly #environment: StreamTools;
  readonly #place: StreamPlace;
  readonly #requests: IdempotencyIndex<State>;
  readonly #onRead: (event: StoredEvent) => void;
  #stream: StreamState<State>;
  #behind = true;
  #isNew = true;
  #keptAt = -1;
  #weighedAt = -1;
  #stateBytes = 0;

  /** `onRead` is told each event that was read, right after it was folded. */
  constructor(
    environment: StreamTools,
    place: StreamPlace,
    requests: IdempotencyIndex<State>,
    onRead: (event: StoredEvent) => void,
  ) {
    this.#environment = environment;
    this.#place = place;
    this.#requests = requests;
    this.#onRead = onRead;
    this.#stream = emptyStream(place.aggregate.initial);
    this.catchUp = freshReads(() => this.#readTail());
  }

  get now(): StreamState<State> {
    return this.#stream;
  }

  /** True when there may be events that have not been read: at the start and after a failure. */
  get isBehind(): boolean {
    return this.#behind;
  }

  /** About the memory that the stream takes, in bytes. The state is looked at whenever it may have doubled. */
  weigh(): number {
    const { head, state } = this.#stream;
    if (head.revision > 2 * this.#weighedAt) {
      this.#stateBytes = serialize(state).byteLength;
      this.#weighedAt = head.revision;
    }
    return bytesOfWriter + this.#stateBytes + this.#requests.weigh();
  }

  /**
   * Goes on to the state after events of our own that have just been appended. A read of the tail may
   * have brought them before the answer to the append came.
   */
  moveTo(after: StreamState<State>, events: readonly NewEvent[]): void {
    if (after.head.revision < this.#stream.head.revision) return;
    const first = after.head.revision - events.length + 1;
    for (const [index, { metadata }] of events.entries()) {
      this.#requests.note(metadata.request, first + index);
    }
    this.#goOn(after);
    this.#keep();
  }

  #goOn(after: StreamState<State>): void {
    this.#environment.waypoints.note(this.#place.name, this.#stream, after);
    this.#stream = after;
  }

  /** Reads the tail after an append that failed; until then nothing is to be trusted. */
  async recover(): Promise<void> {
    this.#behind = true;
    await this.catchUp();
  }

  async #readTail(): Promise<void> {
    const { store } = this.#environment;
    try {
      if (this.#isNew) await this.#restore();
      const from = this.#stream.head.revision + 1;
      for await (const event of store.readStream(this.#place.name, { from })) {
        // An append of our own may have moved the stream while this read was under way.
        if (event.revision <= this.#stream.head.revision) continue;
        this.#goOn(advance(this.#place.aggregate, this.#stream, event));
        this.#requests.note(event.metadata.request, event.revision);
        this.#onRead(event);
      }
      this.#behind = false;
      this.#isNew = false;
    } catch (error) {
      this.#behind = true;
      throw readFailure(error);
    }
    this.#keep();
  }

  /**
   * Begins with a snapshot instead of the first event, if there is one and the log has the very event
   * that it ends with: its hash stands for all events before it. Only before the first read, because
   * nobody is told the events that a snapshot stands for.
   */
  async #restore(): Promise<void> {
    const { store, snapshots } = this.#environment;
    const { name } = this.#place;
    const found = await snapshots?.load(name);
    if (!found) return;
    const { revision, hash } = found.stream.head;
    for await (const event of store.readStream(name, { from: revision, maximum: 1 })) {
      if (event.revision !== revision || event.metadata.hash !== hash) return;
      if (this.#stream.head.revision >= 0) return;
      const stream = found.stream as StreamState<State>;
      this.#stream = { ...stream, position: event.position };
      this.#requests.restart(found.requests);
      this.#keptAt = revision;
    }
  }

  #keep(): void {
    const { snapshots } = this.#environment;
    const { revision } = this.#stream.head;
    if (!snapshots || revision - this.#keptAt < snapshots.every) return;
    const snapshot = { stream: this.#stream, requests: this.#requests.table };
    if (snapshots.save(this.#place.name, snapshot)) this.#keptAt = revision;
  }
}
