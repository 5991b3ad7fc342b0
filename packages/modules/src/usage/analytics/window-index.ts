import type { Instant } from '@counterfoil/kernel';

/** Finds the windows of instants that come in order. */
export class WindowIndex {
  readonly #starts: readonly Instant[];
  #current = 0;

  /** @param starts those of all windows, in order */
  constructor(starts: readonly Instant[]) {
    this.#starts = starts;
  }

  /** The index of the window that an instant lies in. */
  of(at: Instant): number {
    for (let next = this.#starts[this.#current + 1]; next !== undefined && next <= at; ) {
      this.#current += 1;
      next = this.#starts[this.#current + 1];
    }
    return this.#current;
  }
}
