import type { CommandOutcome } from '../decide/command.ts';
import type { RequestFingerprint } from '../log/types.ts';

/**
 * Outcomes of all streams that a process keeps at least; at most they are twice as many. Its own are as many as clients may have
 * under way when a connection breaks: they repeat them at once. At full load that is a second or two, less than the young
 * generation takes to fill. More of them would be old when they go, and above all more work for the garbage collector: with 4,096 in
 * place of 512 a young collection took about twice as long. Those of other processes, of which each has the state after it as well, are as many
 * as clients have under way when a process ends: they repeat them at others.
 */
const outcomesKept = { own: 1_024, told: 256 } as const;

/** The outcome of a request that was carried out. */
export interface Remembered<State> {
  readonly fingerprint: RequestFingerprint;
  /** Gives the outcome. That of another process's request is made only now, when somebody repeats it. */
  readonly recall: () => CommandOutcome<State>;
}

/** `own`: carried out here, or folded again since somebody repeated it here; `told`: of another process, as the log told it. */
export type CarriedOutBy = keyof typeof outcomesKept;

/**
 * The last outcomes, by stream and key. They go a generation at a time: to let the oldest go one by one costs more than all
 * else that is done with them, since it has long left the caches of the processor.
 */
class Generations {
  readonly #kept: number;
  #young = new Map<string, Remembered<unknown>>();
  #old: ReadonlyMap<string, Remembered<unknown>> = new Map();

  constructor(kept: number) {
    this.#kept = kept;
  }

  get(name: string): Remembered<unknown> | undefined {
    return this.#young.get(name) ?? this.#old.get(name);
  }

  set(name: string, remembered: Remembered<unknown>): void {
    if (this.#young.size >= this.#kept) {
      this.#old = this.#young;
      this.#young = new Map();
    }
    this.#young.set(name, remembered);
  }
}

/** The last outcomes of all streams of a process. */
export class LatestOutcomes {
  readonly #by: Readonly<Record<CarriedOutBy, Generations>>;

  constructor(kept: Readonly<Record<CarriedOutBy, number>> = outcomesKept) {
    this.#by = { own: new Generations(kept.own), told: new Generations(kept.told) };
  }

  /** An outcome of a stream; undefined when it is none of the last. */
  of(stream: string, key: string): Remembered<unknown> | undefined {
    const name = nameOf(stream, key);
    return this.#by.own.get(name) ?? this.#by.told.get(name);
  }

  keep(stream: string, by: CarriedOutBy, remembered: Remembered<unknown>): void {
    this.#by[by].set(nameOf(stream, remembered.fingerprint.key), remembered);
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

  /** Keeps the outcome of a request of the stream: one just appended here or elsewhere, or one folded again. */
  remember(
    fingerprint: RequestFingerprint,
    by: CarriedOutBy,
    recall: () => CommandOutcome<State>,
  ): void {
    this.#latest.keep(this.#stream, by, { fingerprint, recall });
  }
}
