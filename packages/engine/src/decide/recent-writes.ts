import { LRUCache } from 'lru-cache';
import type { Position } from '../log/types.ts';

interface Write {
  readonly position: Position;
  readonly at: number;
}

/** Keys whose last write is remembered; the oldest are forgotten and read without waiting. */
const keysMaximum = 100_000;

/**
 * The last write of every API key in this process, so that a key reads its own writes, and the
 * oldest write that no read model is known to show, so that reads can say how far behind they are.
 */
export class RecentWrites {
  readonly #byKey = new LRUCache<string, Write>({ max: keysMaximum });
  #oldestUnseen: Write | null = null;
  #newest: Position = 0n;

  note(keyId: string, position: Position, now: number): void {
    const known = this.#byKey.get(keyId);
    if (!known || position > known.position) this.#byKey.set(keyId, { position, at: now });
    if (position > this.#newest) {
      this.#newest = position;
      this.#oldestUnseen ??= { position, at: now };
    }
  }

  /** Position that a read by this key should have reached; null when it has written nothing. */
  lastOf(keyId: string): Position | null {
    return this.#byKey.get(keyId)?.position ?? null;
  }

  /** Milliseconds since the oldest write of this process that is not yet shown; null if all are. */
  lag(projected: Position, now: number): number | null {
    if (projected >= this.#newest) this.#oldestUnseen = null;
    else if (this.#oldestUnseen && projected >= this.#oldestUnseen.position) {
      // Which write is the oldest now is not known exactly; from here on is a lower bound.
      this.#oldestUnseen = { position: this.#newest, at: now };
    }
    return this.#oldestUnseen ? Math.max(0, now - this.#oldestUnseen.at) : null;
  }
}
