import type { Position } from '../log/types.ts';

/**
 * The part of the log that a process has been told, without a gap. A stream that was read after the telling began
 * is known up to there without another read: what was new since has been folded, or is known to be missing.
 */
export class HeardLog {
  #stretch = 0;
  #upTo: Position | null = null;

  /** The position up to which everything was told; null while nobody tells. */
  get upTo(): Position | null {
    return this.#upTo;
  }

  /** The number of the telling that goes on, or of the last one: after a loss there is another. */
  get stretch(): number {
    return this.#stretch;
  }

  /** Everything up to a position has been told. After a loss it begins anew from there. */
  reach(position: Position): void {
    if (this.#upTo === null) this.#stretch += 1;
    if (this.#upTo === null || position > this.#upTo) this.#upTo = position;
  }

  /** Nobody tells any more: what follows may be missed. */
  lose(): void {
    this.#upTo = null;
  }
}
