/** The reason with which a deadline's signal aborts. */
export class DeadlinePassed extends Error {
  override readonly name = 'DeadlinePassed';
  constructor(milliseconds: number) {
    super(`no answer within ${milliseconds} ms`);
  }
}

/** A point in time by which several steps together must be done. */
export interface Deadline {
  /** Aborts with `DeadlinePassed` when the time is over. */
  readonly signal: AbortSignal;
  /** Milliseconds that are left; 0 when the time is over. */
  remaining(): number;
  /** The promise's outcome, or a rejection with `DeadlinePassed`. The promise itself continues. */
  race<Value>(promise: Promise<Value>): Promise<Value>;
  /** Frees the timer. To be called when everything is done. */
  clear(): void;
}

/**
 * A deadline this many milliseconds from now. Every append has one, and nearly none of them needs its signal,
 * which is made for the first who asks for it.
 */
export function startDeadline(milliseconds: number): Deadline {
  const end = performance.now() + milliseconds;
  const racing = new Set<(reason: DeadlinePassed) => void>();
  let passed: DeadlinePassed | null = null;
  let controller: AbortController | null = null;
  const timer = setTimeout(() => {
    passed = new DeadlinePassed(milliseconds);
    controller?.abort(passed);
    for (const reject of racing) reject(passed);
  }, milliseconds);
  return {
    get signal() {
      controller ??= new AbortController();
      if (passed) controller.abort(passed);
      return controller.signal;
    },
    // The timer counts whole milliseconds and may fire slightly before this clock says so.
    remaining: () => (passed ? 0 : Math.max(0, end - performance.now())),
    clear: () => clearTimeout(timer),
    race: (promise) =>
      new Promise((resolve, reject) => {
        if (passed) reject(passed);
        racing.add(reject);
        const settled = (settle: () => void): void => {
          racing.delete(reject);
          settle();
        };
        promise.then(
          (value) => settled(() => resolve(value)),
          (reason) => settled(() => reject(reason)),
        );
      }),
  };
}
