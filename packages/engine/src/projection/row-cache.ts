import { LRUCache } from 'lru-cache';
import type { Row } from './row.ts';
import type { Weighed } from './row-store.ts';

/** Characters of JSON that the cache holds by default; in memory some three bytes each. */
const defaultWeightMaximum = 32_000_000;

/** The weight of a row beside its JSON: object, ids, stamps. */
const rowWeight = 400;

/**
 * The rows that were read or written last, so that a busy row is not read again for each batch. It
 * holds committed rows only, and it may be cleared at any time.
 */
export class RowCache {
  readonly #rows: LRUCache<string, Row>;

  constructor(weightMaximum = defaultWeightMaximum) {
    this.#rows = new LRUCache({ maxSize: weightMaximum, maxEntrySize: weightMaximum });
  }

  get(relation: string, key: string): Row | null {
    return this.#rows.get(`${relation}\n${key}`) ?? null;
  }

  set(relation: string, key: string, { row, weight }: Weighed): void {
    this.#rows.set(`${relation}\n${key}`, row, { size: weight + rowWeight });
  }

  remove(relation: string, key: string): void {
    this.#rows.delete(`${relation}\n${key}`);
  }

  clear(): void {
    this.#rows.clear();
  }
}
