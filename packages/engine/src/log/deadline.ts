import { unlessAborted } from '../consume/run-forever.ts';

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

/** A deadline this many milliseconds from now. */
export function startDeadline(milliseconds: number): Deadline {
  const controller = new AbortController();
  const { signal } = controller;
  const end = performance.now() + milliseconds;
  const timer = setTimeout(() => controller.abort(new DeadlinePassed(milliseconds)), milliseconds);
  return {
    signal,
    // The timer counts whole milliseconds and may fire slightly before this clock says so.
    remaining: () => (signal.aborted ? 0 : Math.max(0, end - performance.now())),
    clear: () => clearTimeout(timer),
    race: (promise) => unlessAborted(promise, signal),
  };
}
