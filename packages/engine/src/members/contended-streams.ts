import { LRUCache } from 'lru-cache';

/** The time for which a stream counts as contended after an append to it was lost. */
const contendedMilliseconds = 5_000;
const streamsMaximum = 10_000;

/** The streams on which this process has lost an append lately. */
export class ContendedStreams {
  readonly #until = new LRUCache<string, number>({ max: streamsMaximum });
  readonly #clock: () => number;

  /** `clock` gives milliseconds that only ever rise. */
  constructor(clock: () => number = () => performance.now()) {
    this.#clock = clock;
  }

  /** Another writer was faster. */
  lost(stream: string): void {
    this.#until.set(stream, this.#clock() + contendedMilliseconds);
  }

  has(stream: string): boolean {
    if (this.#until.size === 0) return false;
    const until = this.#until.get(stream);
    if (until === undefined) return false;
    if (until > this.#clock()) return true;
    this.#until.delete(stream);
    return false;
  }
}
