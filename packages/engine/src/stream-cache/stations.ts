import type { Position } from '../log/types.ts';
import type { StreamState } from './stream-state.ts';

/** Events from one station to the next: at most so many are folded for an earlier state that was near. */
export const stationEvery = 512;
const stationsMaximum = 32;
/** The newest states lie at most this many stations back. */
const recentMaximum = 8;
/** States that were asked for: whoever repeats what was done in order asks for the next one behind such a state. */
const askedMaximum = 8;

/** The end of a stretch of a stream. */
export interface StreamEnd {
  readonly revision: number;
  readonly position: Position;
}

/**
 * Earlier states of a stream. Whoever repeats old requests asks for one early state after the other, and each would be
 * folded from the first event: of those that were passed on the way to them, the ones that were used last are kept. And
 * some are kept of those that were the newest: after a fault, clients repeat at one process what another one has carried out
 * a moment ago.
 */
export class Stations<State> {
  /** By revision; the one that was used last is the last. */
  readonly #states = new Map<number, StreamState<State>>();
  /** By revision; the newest is the last. */
  readonly #recent = new Map<number, StreamState<State>>();
  #newest = -1;
  /** By revision; the one that was asked for last is the last. */
  readonly #asked = new Map<number, StreamState<State>>();

  /** The number of states that are kept. */
  get size(): number {
    return this.#states.size + this.#recent.size + this.#asked.size;
  }

  /** Keeps a state that was folded, if it is one of those to be kept. */
  pass(stream: StreamState<State>): void {
    const { revision } = stream.head;
    if ((revision + 1) % stationEvery === 0) keep(this.#states, stream, stationsMaximum);
  }

  /** Keeps a state that a snapshot gave: the way to those behind it begins with it. */
  begin(stream: StreamState<State>): void {
    keep(this.#states, stream, stationsMaximum);
  }

  /** Keeps a newest state, if it is far enough behind the one before it. */
  leave(stream: StreamState<State>): void {
    const { revision } = stream.head;
    if (revision - this.#newest < stationEvery) return;
    this.#newest = revision;
    keep(this.#recent, stream, recentMaximum);
  }

  /** Keeps a state that somebody has asked for. */
  reach(stream: StreamState<State>): void {
    keep(this.#asked, stream, askedMaximum);
  }

  /** The latest of the states whose end is wanted; null when there is none. */
  latest(isWanted: (end: StreamEnd) => boolean): StreamState<State> | null {
    let found: StreamState<State> | null = null;
    const kept = [this.#states, this.#recent, this.#asked];
    for (const stream of kept.flatMap((some) => [...some.values()])) {
      const { head, position } = stream;
      const isLater = found === null || head.revision > found.head.revision;
      if (isLater && isWanted({ revision: head.revision, position })) found = stream;
    }
    if (found) this.pass(found);
    return found;
  }
}

/** Keeps a state as the last, and lets the first go where there are more than so many. */
function keep<State>(
  states: Map<number, StreamState<State>>,
  stream: StreamState<State>,
  maximum: number,
): void {
  states.delete(stream.head.revision);
  states.set(stream.head.revision, stream);
  const [oldest] = states.keys();
  if (states.size > maximum && oldest !== undefined) states.delete(oldest);
}
