import { LRUCache } from 'lru-cache';
import type { StoredEvent, UnreadEvent } from '../log/types.ts';
import { CachedStream, type ProcessMemory } from './cached-stream.ts';
import { HeardLog } from './heard-log.ts';
import type { StreamSource } from './kept-snapshots.ts';
import { LatestUnread } from './latest-unread.ts';
import { LatestOutcomes } from './outcomes.ts';
import type { StreamPlace } from './stream-state.ts';
import { UnreadStreams } from './unread-streams.ts';

/** Folded streams kept in memory while nobody is at work on them, and what they may take together: short ones are bound by that. */
const idleStreamsMaximum = 60_000;
const idleBytesMaximum = 256 * 1024 ** 2;

export interface StreamCacheOptions extends StreamSource {
  readonly idleStreams?: number;
}

/**
 * The folded streams of a process, for all that read or write streams there. One that somebody is at
 * work on is never dropped, because a second copy beside it would only produce conflicts; the others
 * are kept as long as there is room.
 */
export class StreamCache {
  readonly source: StreamSource;
  /** The part of the log that `hear` has been told all of; whoever calls it keeps this. */
  readonly heard = new HeardLog();
  readonly #memory: ProcessMemory = {
    heard: this.heard,
    outcomes: new LatestOutcomes(),
    unread: new LatestUnread(),
  };
  readonly #unread = new UnreadStreams(this.heard);
  readonly #streams: LRUCache<string, CachedStream<unknown>>;
  readonly #held = new Map<string, CachedStream<unknown>>();
  /** A cache weighs only what is new to it, and streams grow while they are in it. */
  readonly #weighed = new WeakMap<CachedStream<unknown>, number>();

  constructor({ idleStreams = idleStreamsMaximum, ...source }: StreamCacheOptions) {
    this.source = source;
    this.#streams = new LRUCache({
      max: idleStreams,
      maxSize: idleBytesMaximum,
      // A stream that is heavier than all may be together is still worth keeping while it is in use.
      sizeCalculation: (stream) => Math.min(stream.weigh(), idleBytesMaximum),
      dispose: (stream, name, reason) => {
        if (reason !== 'evict') return;
        if (stream.isHeld) this.#held.set(name, stream);
        else stream.forget();
      },
    });
  }

  /** The stream at a place, whose events may not have been read yet. */
  of<State>(place: StreamPlace): CachedStream<State> {
    const known = this.#streams.get(place.name) ?? this.#held.get(place.name);
    if (known) {
      known.use();
      if (this.#held.delete(place.name) || this.#isHeavier(known)) this.#add(known);
      return known as CachedStream<State>;
    }
    this.#dropReleased();
    const stream = new CachedStream<State>(
      this.source,
      place,
      this.#memory,
      this.#unread.take(place.name),
    );
    this.#add(stream as CachedStream<unknown>);
    return stream;
  }

  /**
   * Tells whether an event of the log has to be read at once for a stream that is kept here. Of other streams, those that
   * have just begun are remembered as they are.
   */
  wants(event: UnreadEvent): boolean {
    const known = this.#known(event.stream);
    if (known?.isDispensable) this.#letGo(known);
    else if (known !== undefined) return known.wants(event);
    this.#unread.note(event);
    return false;
  }

  /** Moves a stream that is kept here over an event that another process has appended. */
  hear(event: StoredEvent): void {
    this.#known(event.stream)?.hear(event);
  }

  #known(name: string): CachedStream<unknown> | undefined {
    // Not a use of it: what only others write to goes when there is no room.
    return this.#streams.peek(name) ?? this.#held.get(name);
  }

  #letGo(stream: CachedStream<unknown>): void {
    const { name } = stream.place;
    this.#streams.delete(name);
    this.#held.delete(name);
    stream.forget();
  }

  /** Drops the streams that there was no room for while somebody was at work on them. */
  #dropReleased(): void {
    for (const [name, stream] of this.#held) {
      if (stream.isHeld) continue;
      this.#held.delete(name);
      stream.forget();
    }
  }

  #isHeavier(stream: CachedStream<unknown>): boolean {
    return stream.weigh() > 2 * (this.#weighed.get(stream) ?? 0);
  }

  #add(stream: CachedStream<unknown>): void {
    const { name } = stream.place;
    this.#weighed.set(stream, stream.weigh());
    this.#streams.delete(name);
    this.#streams.set(name, stream);
  }
}
