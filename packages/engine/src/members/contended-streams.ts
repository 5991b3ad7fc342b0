import { LRUCache } from 'lru-cache';

/** The time for which a stream counts as contended after the last append to it was lost, or its owner has said so. */
const contendedMilliseconds = 5_000;
/**
 * A loss that is the only one in such a time is a coincidence: requests all over thousands of records meet by chance now and
 * then, and to hand over each record for that costs more than to decide once more. It is longer than a stream
 * counts as contended, so that one that still is loses no second append when that time is over.
 */
const coincidenceMilliseconds = 10_000;
const streamsMaximum = 10_000;

interface Loss {
  readonly at: number;
  /** True when it was not the only one lately. */
  readonly isAgain: boolean;
}

/** The streams on which this process has lost appends lately. */
export class ContendedStreams {
  readonly #lost = new LRUCache<string, Loss>({ max: streamsMaximum });
  readonly #clock: () => number;

  /** `clock` gives milliseconds that only ever rise. */
  constructor(clock: () => number = () => performance.now()) {
    this.#clock = clock;
  }

  /** Another writer was faster. */
  lost(stream: string): void {
    const at = this.#clock();
    const before = this.#lost.get(stream);
    const isAgain = before !== undefined && at - before.at < coincidenceMilliseconds;
    this.#lost.set(stream, { at, isAgain });
  }

  /** The owner says that others write to it, too: nothing has changed. */
  confirm(stream: string): void {
    this.#lost.set(stream, { at: this.#clock(), isAgain: true });
  }

  has(stream: string): boolean {
    if (this.#lost.size === 0) return false;
    const last = this.#lost.get(stream);
    return last?.isAgain === true && this.#clock() - last.at < contendedMilliseconds;
  }
}
