import type { CommandOutcome } from '../decide/command.ts';
import type { RequestFingerprint } from '../log/types.ts';

/** Outcomes kept in memory per stream; older ones are folded again from the log when asked for. */
const outcomesOfStream = 256;

/**
 * Outcomes that a process keeps of all its streams together: those of some seconds at full load, some 30 MB. Each was young
 * when it came and is old when it goes, so that more of them are above all more work for the garbage collector.
 */
const outcomesOfProcess = 8_192;

/**
 * The approximate size of an outcome in memory, in bytes; states of one stream share most of their
 * parts.
 */
const bytesPerOutcome = 2_048;

/** The outcome of a request that was carried out. */
export interface Remembered<State> {
  readonly fingerprint: RequestFingerprint;
  /** Gives the outcome. That of another process's request is made only now, when somebody repeats it. */
  readonly recall: () => CommandOutcome<State>;
}

interface Kept {
  readonly key: string;
  readonly remembered: object;
  /** The outcomes of its stream. */
  readonly among: Map<string, object>;
}

/** The outcomes that all streams of a process keep, in the order in which they came; with each one too many the first goes. */
export class LatestOutcomes {
  readonly #kept: Kept[] = [];
  readonly #maximum: number;
  /** The place of the first one, and of the next. */
  #at = 0;

  constructor(maximum = outcomesOfProcess) {
    this.#maximum = maximum;
  }

  /** Keeps an outcome among those of its stream. */
  keep(kept: Kept): void {
    const oldest = this.#kept[this.#at];
    this.#kept[this.#at] = kept;
    this.#at = (this.#at + 1) % this.#maximum;
    kept.among.set(kept.key, kept.remembered);
    if (!oldest) return;
    const { key, remembered, among } = oldest;
    // It may have been folded again, and be newer than it was.
    if (among.get(key) === remembered) among.delete(key);
  }
}

/** The outcomes of the last requests of a stream, by key. */
export class Outcomes<State> {
  readonly #latest: LatestOutcomes;
  readonly #remembered = new Map<string, Remembered<State>>();

  constructor(latest: LatestOutcomes) {
    this.#latest = latest;
  }

  /** The outcome of a request, while it is one of the last. */
  of(key: string): Remembered<State> | undefined {
    return this.#remembered.get(key);
  }

  /** Keeps the outcome of a request of the stream: one just appended, or one folded again. */
  remember(fingerprint: RequestFingerprint, recall: () => CommandOutcome<State>): void {
    const { key } = fingerprint;
    this.#latest.keep({ key, remembered: { fingerprint, recall }, among: this.#remembered });
    if (this.#remembered.size <= outcomesOfStream) return;
    const [oldest] = this.#remembered.keys();
    if (oldest !== undefined) this.#remembered.delete(oldest);
  }

  /** About the memory that they take, in bytes. */
  weigh(): number {
    return this.#remembered.size * bytesPerOutcome;
  }
}
