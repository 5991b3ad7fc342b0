/** Waits between attempts: longer after each, random so that many processes do not move as one. */
export interface Backoff {
  /** Waits before the next attempt; returns early, without an error, when the signal aborts. */
  wait(signal: AbortSignal): Promise<void>;
  /** The last attempt succeeded: the next wait is a short one again. */
  reset(): void;
}

export interface BackoffOptions {
  /** Upper bound of the first wait, in milliseconds. */
  readonly firstMilliseconds: number;
  /** Upper bound of every wait, in milliseconds. */
  readonly maximumMilliseconds: number;
  /** A number from 0 (inclusive) to 1 (exclusive). */
  readonly random?: () => number;
}

/** Exponential back-off with full jitter: each wait is anywhere between zero and its bound. */
export function createBackoff(options: BackoffOptions): Backoff {
  const { firstMilliseconds, maximumMilliseconds, random = Math.random } = options;
  let bound = firstMilliseconds;
  return {
    wait: async (signal) => {
      const milliseconds = random() * bound;
      bound = Math.min(bound * 2, maximumMilliseconds);
      await pause(milliseconds, signal);
    },
    reset: () => {
      bound = firstMilliseconds;
    },
  };
}

function pause(milliseconds: number, signal: AbortSignal): Promise<void> {
  if (signal.aborted) return Promise.resolve();
  return new Promise((resolve) => {
    const done = (): void => {
      clearTimeout(timer);
      signal.removeEventListener('abort', done);
      resolve();
    };
    const timer = setTimeout(done, milliseconds);
    signal.addEventListener('abort', done, { once: true });
  });
}
