/** Resolves after some milliseconds, or as soon as the signal aborts. Never rejects. */
export function pause(milliseconds: number, signal: AbortSignal): Promise<void> {
  if (signal.aborted) return Promise.resolve();
  return new Promise((resolve) => {
    const end = (): void => {
      clearTimeout(timer);
      signal.removeEventListener('abort', end);
      resolve();
    };
    const timer = setTimeout(end, milliseconds);
    signal.addEventListener('abort', end, { once: true });
  });
}

/** The promise's outcome, or a rejection with the signal's reason as soon as it aborts. */
export function unlessAborted<Value>(promise: Promise<Value>, signal: AbortSignal): Promise<Value> {
  return new Promise((resolve, reject) => {
    const stop = (): void => reject(signal.reason);
    if (signal.aborted) {
      promise.catch(() => {});
      stop();
      return;
    }
    signal.addEventListener('abort', stop, { once: true });
    promise
      .then(resolve, reject)
      .finally(() => signal.removeEventListener('abort', stop))
      .catch(() => {});
  });
}

/** Waiting times that double from `first` to `last` milliseconds, each shortened at random. */
export interface BackOff {
  /** Milliseconds to wait before the next try. */
  next(): number;
  /** Starts over: something went well. */
  reset(): void;
}

export function createBackOff(first: number, last: number): BackOff {
  let step = first;
  return {
    next: () => {
      const milliseconds = step * (0.5 + Math.random() / 2);
      step = Math.min(step * 2, last);
      return milliseconds;
    },
    reset: () => {
      step = first;
    },
  };
}
