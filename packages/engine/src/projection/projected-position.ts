import type { Position } from '../log/types.ts';

/** The position that the read models have reached, and a bounded wait for one. */
export interface ProjectedPosition {
  /** Everything up to this position of the log is in the read models that are not behind. */
  position(): Position;
  /**
   * Resolves true once the position is reached, false after `timeoutMs` milliseconds, on an abort
   * of the signal, or at once when too many are waiting already. Never rejects.
   */
  waitFor(position: Position, timeoutMs: number, signal?: AbortSignal): Promise<boolean>;
}

/** Requests that may wait at the same time in one process. */
const waitersMaximum = 10_000;

interface Waiter {
  readonly position: Position;
  readonly finish: (reached: boolean) => void;
}

/** The position as this process last heard of it, with those who wait for a later one. */
export class PositionClock implements ProjectedPosition {
  #position: Position = 0n;
  readonly #waiters = new Set<Waiter>();

  position(): Position {
    return this.#position;
  }

  /** Sets the position. It may also go back: after a loss of the database's last commits. */
  set(position: Position): void {
    this.#position = position;
    for (const waiter of this.#waiters) {
      if (waiter.position <= position) waiter.finish(true);
    }
  }

  waitFor(position: Position, timeoutMs: number, signal?: AbortSignal): Promise<boolean> {
    if (position <= this.#position) return Promise.resolve(true);
    if (timeoutMs <= 0 || signal?.aborted || this.#waiters.size >= waitersMaximum) {
      return Promise.resolve(false);
    }
    return new Promise((resolve) => {
      const finish = (reached: boolean): void => {
        clearTimeout(timer);
        signal?.removeEventListener('abort', abort);
        this.#waiters.delete(waiter);
        resolve(reached);
      };
      const abort = () => finish(false);
      const timer = setTimeout(abort, timeoutMs);
      const waiter: Waiter = { position, finish };
      this.#waiters.add(waiter);
      signal?.addEventListener('abort', abort, { once: true });
    });
  }

  /** Ends all waits, unsatisfied. */
  close(): void {
    for (const waiter of this.#waiters) waiter.finish(false);
  }
}
