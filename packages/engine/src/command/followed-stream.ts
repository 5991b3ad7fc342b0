import type { EventStore, StoredEvent } from '../log/types.ts';
import { advance, emptyStream, type FoldedStream } from './folded-stream.ts';
import { type FreshReads, freshReads } from './fresh-reads.ts';
import type { StreamPlace } from './writer-environment.ts';
import { readFailure } from './writer-problems.ts';

/** A stream of the log, folded as far as this process has read or written it. */
export class FollowedStream<State> {
  /** Reads what the log has after the last known event. */
  readonly catchUp: FreshReads;
  readonly #store: EventStore;
  readonly #place: StreamPlace;
  readonly #onRead: (event: StoredEvent) => void;
  #stream: FoldedStream<State>;
  #behind = true;

  /** `onRead` is told each event that was read, right after it was folded. */
  constructor(store: EventStore, place: StreamPlace, onRead: (event: StoredEvent) => void) {
    this.#store = store;
    this.#place = place;
    this.#onRead = onRead;
    this.#stream = emptyStream(place.aggregate.initial);
    this.catchUp = freshReads(() => this.#readTail());
  }

  get now(): FoldedStream<State> {
    return this.#stream;
  }

  /** Whether events may exist that we have not read: at the start and after a failure. */
  get isBehind(): boolean {
    return this.#behind;
  }

  /** A read of the tail may have brought our own events before the answer to the append came. */
  moveTo(after: FoldedStream<State>): void {
    if (after.head.revision >= this.#stream.head.revision) this.#stream = after;
  }

  /** Reads the tail after an append that failed; until then nothing is to be trusted. */
  async recover(): Promise<void> {
    this.#behind = true;
    await this.catchUp();
  }

  async #readTail(): Promise<void> {
    try {
      const from = this.#stream.head.revision + 1;
      for await (const event of this.#store.readStream(this.#place.name, { from })) {
        // An append of our own may have moved the stream while this read was under way.
        if (event.revision <= this.#stream.head.revision) continue;
        this.#stream = advance(this.#place.aggregate, this.#stream, event);
        this.#onRead(event);
      }
      this.#behind = false;
    } catch (error) {
      this.#behind = true;
      throw readFailure(error);
    }
  }
}
