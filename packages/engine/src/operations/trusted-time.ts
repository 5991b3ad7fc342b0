import { Problem, type ProblemOptions, type ProblemReason } from '@counterfoil/kernel';
import { runForever, unlessAborted } from '../consume/run-forever.ts';
import type { EventStore } from '../log/types.ts';
import type { Log } from './log.ts';
import type { Metrics } from './metrics.ts';

export interface TrustedTimeOptions {
  readonly store: Pick<EventStore, 'time'>;
  readonly limitSeconds: number;
  readonly log: Log;
  readonly metrics?: Metrics;
  /** The clock of this machine, in milliseconds. */
  readonly wall?: () => number;
  /** Milliseconds that only rise, evenly, and that nobody sets. */
  readonly monotonic?: () => number;
}

/** Says whether the clock of this process may be written by. */
export interface TrustedTime {
  /**
   * Null while the clock is right, which costs no question. Else a promise, which resolves when the clock
   * turns out to be right and rejects with the problem of those who want to write.
   */
  doubt(): Promise<void> | null;
  /** Tells whether the clock is right, after a question where that is in doubt. */
  isRight(): Promise<boolean>;
  /** Throws, with a sentence for operators, when the clock is wrong or cannot be judged. */
  check(): Promise<void>;
  stop(): Promise<void>;
}

/** From one measurement to the next, in case the clocks drift apart slowly. */
const intervalMilliseconds = 60_000;
const retryMilliseconds = 2_000;
/** A clock that was found wrong is not measured again before. */
const restMilliseconds = 1_000;
/** An answer that took longer says too little. */
const slowMilliseconds = 2_000;
/** The event store tells whole seconds: half of one has passed on average since. */
const halfSecond = 500;

/**
 * Watches the clock of this process against the event store's own time. The difference is kept as one to
 * a clock that only rises, so a jump of the machine's clock is seen by the next who asks, without a
 * question to the store. Then the store is asked once more, because a machine that was suspended jumps too
 * and is right. While the clocks differ by more than the limit nothing may be written: by a clock that
 * is ahead credits would expire for good.
 */
export function watchClock(options: TrustedTimeOptions): TrustedTime {
  const guard = new ClockGuard(options);
  const stopping = new AbortController();
  const { log } = options;
  const measure = async (): Promise<number> => {
    await unlessAborted(guard.measure(), stopping.signal);
    return intervalMilliseconds;
  };
  const running = runForever(measure, {
    name: 'measuring the clock',
    log,
    signal: stopping.signal,
    onFailure: () => retryMilliseconds,
  });
  return {
    doubt: guard.doubt.bind(guard),
    isRight: () =>
      (guard.doubt() ?? Promise.resolve()).then(
        () => true,
        () => false,
      ),
    check: guard.check.bind(guard),
    async stop() {
      stopping.abort();
      await running;
    },
  };
}

/** Judges one clock. Exported for its tests. */
export class ClockGuard {
  readonly #options: Required<Omit<TrustedTimeOptions, 'metrics'>>;
  /** The store's time less the clock that only rises; null before the first measurement. */
  #difference: number | null = null;
  #measuredAt = Number.NEGATIVE_INFINITY;
  /** The difference of the clocks, in milliseconds, that the last measurement found. */
  #found = 0;
  /** True for a store that does not tell its time: there is nothing to judge by. */
  #isUntold = false;
  #measuring: Promise<void> | null = null;
  #wasRight = true;

  constructor({ metrics, ...options }: TrustedTimeOptions) {
    this.#options = { wall: Date.now, monotonic: () => performance.now(), ...options };
    metrics?.gauge({
      name: 'counterfoil_clock_skew_seconds',
      help: "How far the clock of this process is ahead of the event store's",
      collect: (gauge) => gauge.set((this.#skew() ?? 0) / 1_000),
    });
  }

  doubt(): Promise<void> | null {
    if (this.#isRight()) return null;
    const known = this.#isKnown() ? Promise.resolve() : this.measure();
    return known.then(
      () => {
        if (this.#confirmed()) return;
        const message =
          "The clock of this server differs from the event store's, and nothing is written by a wrong clock.";
        throw refusal(message, { details: { reason: 'clock_skew' satisfies ProblemReason } });
      },
      (cause: unknown) => {
        throw refusal('The event store cannot be reached.', { cause });
      },
    );
  }

  /** Asks the store for its time. All that come meanwhile share the answer. */
  measure(): Promise<void> {
    this.#measuring ??= this.#ask().finally(() => {
      this.#measuring = null;
    });
    return this.#measuring;
  }

  async check(): Promise<void> {
    try {
      await this.doubt();
    } catch (error) {
      if (this.#difference === null) throw error instanceof Error ? (error.cause ?? error) : error;
      throw new Error(this.#sentence());
    }
  }

  async #ask(): Promise<void> {
    const { store, monotonic, log } = this.#options;
    const before = monotonic();
    const told = await store.time();
    const after = monotonic();
    if (told === null && !this.#isUntold) {
      log.warn('the event store does not tell its time: the clock of this process is not judged');
    }
    this.#isUntold = told === null;
    if (told === null) return;
    const isSlow = after - before > slowMilliseconds;
    if (isSlow && this.#difference !== null) return;
    this.#difference = told + halfSecond - (before + after) / 2;
    this.#measuredAt = after;
    this.#found = this.#skew() ?? 0;
    this.#confirmed();
  }

  /** Tells whether the clock stands as the store found it a moment ago. Nobody has set it since. */
  #isKnown(): boolean {
    const isFresh = this.#options.monotonic() - this.#measuredAt < restMilliseconds;
    return isFresh && Math.abs((this.#skew() ?? 0) - this.#found) < restMilliseconds;
  }

  /** The clock of this process less the store's, in milliseconds; null when that is not known. */
  #skew(): number | null {
    if (this.#difference === null) return null;
    return this.#options.wall() - this.#options.monotonic() - this.#difference;
  }

  #isRight(): boolean {
    if (this.#isUntold) return true;
    const skew = this.#skew();
    if (skew === null) return false;
    const isRight = Math.abs(skew) <= this.#options.limitSeconds * 1_000;
    if (isRight && !this.#wasRight) this.#note(isRight);
    return isRight;
  }

  /** The same, right after the store was asked: only then a clock is known to be wrong. */
  #confirmed(): boolean {
    const isRight = this.#isRight();
    if (!isRight && this.#wasRight) this.#note(isRight);
    return isRight;
  }

  #note(isRight: boolean): void {
    this.#wasRight = isRight;
    const { log } = this.#options;
    if (isRight) log.info('the clock of this process is right again: it writes again');
    else log.error(this.#sentence());
  }

  #sentence(): string {
    const skew = this.#skew() ?? 0;
    const seconds = Math.round(Math.abs(skew) / 1_000);
    return (
      `The clock of this machine is ${seconds} s ${skew > 0 ? 'ahead of' : 'behind'} the event store's. ` +
      `Nothing is written while they differ by more than ${this.#options.limitSeconds} s ` +
      '(CLOCK_SKEW_SECONDS): set both clocks by NTP.'
    );
  }
}

/** The problem of those who want to write. */
const refusal = (message: string, options: ProblemOptions): Problem =>
  new Problem('service_unavailable', `${message} Retry with the same idempotency key.`, {
    ...options,
    retryAfterSeconds: 5,
  });
