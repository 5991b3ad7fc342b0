import type { Position } from '../log/types.ts';
import type { StreamState } from './stream-state.ts';

/** Events from one station to the next: at most so many are folded for an earlier state that was near. */
export const stationEvery = 512;
const stationsMaximum = 32;

/** The end of a stretch of a stream. */
export interface StreamEnd {
  readonly revision: number;
  readonly position: Position;
}

/**
 * States of a stream that were passed on the way to earlier ones. Whoever repeats old requests asks for one early state
 * after the other, and each would be folded from the first event. The ones that were used last are kept.
 */
export class Stations<State> {
  /** By revision; the one that was used last is the last. */
  readonly #states = new Map<number, StreamState<State>>();

  /** The number of states that are kept. */
  get size(): number {
    return this.#states.size;
  }

  /** Keeps a state that was folded, if it is one of those to be kept. */
  pass(stream: StreamState<State>): void {
    const { revision } = stream.head;
    if ((revision + 1) % stationEvery === 0) this.#use(stream);
  }

  /** The latest of the states whose end is wanted; null when there is none. */
  latest(isWanted: (end: StreamEnd) => boolean): StreamState<State> | null {
    let found: StreamState<State> | null = null;
    for (const stream of this.#states.values()) {
      const { head, position } = stream;
      const isLater = found === null || head.revision > found.head.revision;
      if (isLater && isWanted({ revision: head.revision, position })) found = stream;
    }
    if (found) this.#use(found);
    return found;
  }

  #use(stream: StreamState<State>): void {
    this.#states.delete(stream.head.revision);
    this.#states.set(stream.head.revision, stream);
    const [oldest] = this.#states.keys();
    if (this.#states.size > stationsMaximum && oldest !== undefined) this.#states.delete(oldest);
  }
}
