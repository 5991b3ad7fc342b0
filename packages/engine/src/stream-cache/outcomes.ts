import type { CommandOutcome } from '../decide/command.ts';
import type { RequestFingerprint } from '../log/types.ts';

/**
 * Outcomes of all streams that a process keeps at least; at most they are twice as many: those of some seconds at full
 * load, some 30 MB. Each was young when it came and is old when it goes, so that more of them are above all more work for
 * the garbage collector.
 */
const outcomesKept = 4_096;

/** The outcome of a request that was carried out. */
export interface Remembered<State> {
  readonly fingerprint: RequestFingerprint;
  /** Gives the outcome. That of another process's request is made only now, when somebody repeats it. */
  readonly recall: () => CommandOutcome<State>;
}

type Generation = Map<string, Remembered<unknown>>;

/**
 * The last outcomes of a process, by stream and key. They go a generation at a time: to let the oldest go one by one costs more than all
 * else that is done with them, since it has long left the caches of the processor.
 */
export class LatestOutcomes {
  readonly #kept: number;
  #young: Generation = new Map();
  #old: Generation = new Map();

  constructor(kept = outcomesKept) {
    this.#kept = kept;
  }

  /** An outcome of a stream; undefined when it is none of the last. */
  of(stream: string, key: string): Remembered<unknown> | undefined {
    const name = nameOf(stream, key);
    return this.#young.get(name) ?? this.#old.get(name);
  }

  keep(stream: string, remembered: Remembered<unknown>): void {
    if (this.#young.size >= this.#kept) {
      this.#old = this.#young;
      this.#young = new Map();
    }
    this.#young.set(nameOf(stream, remembered.fingerprint.key), remembered);
  }
}

/** One request may write to several streams. A key that is first tells two names apart sooner. */
const nameOf = (stream: string, key: string): string => `${key} ${stream}`;

/** The outcomes of the last requests of a stream, by key. */
export class Outcomes<State> {
  readonly #latest: LatestOutcomes;
  readonly #stream: string;

  constructor(latest: LatestOutcomes, stream: string) {
    this.#latest = latest;
    this.#stream = stream;
  }

  /** The outcome of a request, while it is one of the last. */
  of(key: string): Remembered<State> | undefined {
    return this.#latest.of(this.#stream, key) as Remembered<State> | undefined;
  }

  /** Keeps the outcome of a request of the stream: one just appended, or one folded again. */
  remember(fingerprint: RequestFingerprint, recall: () => CommandOutcome<State>): void {
    this.#latest.keep(this.#stream, { fingerprint, recall });
  }
}
