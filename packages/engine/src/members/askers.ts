import { LRUCache } from 'lru-cache';

/** The time after which a member that has asked nothing more counts as gone elsewhere. */
const askingMilliseconds = 5_000;
const streamsMaximum = 10_000;

interface Asked {
  readonly member: string;
  readonly at: number;
  /** The last time that another member asked; null for never. */
  readonly otherAt: number | null;
}

/**
 * The members that ask one of them to write to its streams. It alone sees whether they still do: to each of the others a
 * stream that is handed over looks as if nobody else wrote to it, and to try it out costs lost appends.
 */
export class Askers {
  readonly #asked = new LRUCache<string, Asked>({ max: streamsMaximum });
  readonly #clock: () => number;

  /** `clock` gives milliseconds that only ever rise. */
  constructor(clock: () => number = () => performance.now()) {
    this.#clock = clock;
  }

  /** Notes a request of a member, and tells whether another one has asked lately as well. */
  note(stream: string, member: string): boolean {
    const at = this.#clock();
    const last = this.#asked.get(stream);
    const otherAt = (last?.member === member ? last.otherAt : last?.at) ?? null;
    this.#asked.set(stream, { member, at, otherAt });
    return otherAt !== null && at - otherAt < askingMilliseconds;
  }

  /** Notes a request of a member if any was noted before: as a rule nobody else asks. */
  noteBeside(stream: string, member: string): void {
    if (this.#asked.size > 0 && this.#asked.has(stream)) this.note(stream, member);
  }
}
