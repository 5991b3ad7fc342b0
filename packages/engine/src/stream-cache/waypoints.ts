import { serialize } from 'node:v8';
import { LRUCache } from 'lru-cache';
import type { StreamState } from './stream-state.ts';

export interface WaypointOptions {
  /** About so many events lie between two states that are kept of a stream. */
  readonly spacing: number;
  /** The size that all states of all streams may have together, in bytes. */
  readonly bytes: number;
}

/** About what a state takes beside its record. */
const bytesPerState = 512;

/**
 * States of long streams at some of their events. What was answered long ago is folded again from the
 * last of them before it, and not from the first event of the stream. They are only a cache: what was not
 * kept, or was given up for others, costs a longer fold, which keeps them anew on its way.
 */
export class Waypoints {
  readonly #states: LRUCache<string, StreamState<unknown>>;
  readonly #spacing: number;

  constructor({ spacing, bytes }: WaypointOptions) {
    this.#spacing = spacing;
    this.#states = new LRUCache<string, StreamState<unknown>>({
      maxSize: bytes,
      sizeCalculation: ({ state }) => serialize(state).byteLength + bytesPerState,
    });
  }

  #section(revision: number): number {
    return Math.floor((revision + 1) / this.#spacing);
  }

  /** Keeps a state when it is the first in its section of the stream. `before`: the one it came from. */
  note(streamName: string, before: StreamState<unknown>, after: StreamState<unknown>): void {
    const section = this.#section(after.head.revision);
    if (section === this.#section(before.head.revision)) return;
    const key = `${streamName} ${section}`;
    if (!this.#states.has(key)) this.#states.set(key, after);
  }

  /** The last state that is kept from before an event of a stream; null when there is none. */
  lastBefore<State>(streamName: string, revision: number): StreamState<State> | null {
    for (let section = this.#section(revision); section > 0; section -= 1) {
      const found = this.#states.get(`${streamName} ${section}`);
      if (found && found.head.revision < revision) return found as StreamState<State>;
    }
    return null;
  }
}
