import { invariant } from '@counterfoil/kernel';
import type { WriterOutcome } from '../decide/command.ts';
import type { RecordedRequest, RequestFingerprint } from '../log/types.ts';
import { IdempotencyTable, type RequestSpan } from './idempotency-table.ts';

export type { RequestSpan };

interface Remembered<State> {
  readonly mark: RequestFingerprint;
  readonly outcome: WriterOutcome<State>;
}

/** Outcomes kept in memory per stream; older ones are folded again from the log when asked for. */
const rememberedMaximum = 256;

/** About what an outcome takes in memory, in bytes; states of one stream share most of what they hold. */
const bytesPerOutcome = 2_048;

/**
 * The request keys that a stream has seen, and where. The index is complete, because it decides
 * whether money moves twice; the outcomes beside it are only a cache.
 */
export class IdempotencyIndex<State> {
  #spans = new IdempotencyTable();
  readonly #remembered = new Map<string, Remembered<State>>();

  /** All keys, as a snapshot keeps them. */
  get table(): IdempotencyTable {
    return this.#spans;
  }

  /** About the memory that it takes, in bytes. */
  weigh(): number {
    return this.#spans.words.byteLength + this.#remembered.size * bytesPerOutcome;
  }

  /** Begins anew with the keys of a snapshot, or with none. */
  restart(table = new IdempotencyTable()): void {
    this.#spans = table;
    this.#remembered.clear();
  }

  has(key: string): boolean {
    return this.#spans.get(key) !== undefined;
  }

  /** Returns where the events of a known request are. Throws when the key is not known. */
  spanOf(key: string): RequestSpan {
    const span = this.#spans.get(key);
    invariant(span, `request ${key} is not in the index`);
    return span;
  }

  remembered(key: string): Remembered<State> | undefined {
    return this.#remembered.get(key);
  }

  /** Notes the request of an event that is in the log at a revision, if it is the first of one. */
  note(request: RecordedRequest | undefined, revision: number): void {
    if (!request) return;
    this.#spans.set(request.key, { first: revision, last: revision + request.events - 1 });
  }

  /** Keeps the outcome of a request that was noted: one just appended, or one folded again. */
  remember(mark: RequestFingerprint, outcome: WriterOutcome<State>): void {
    this.#remembered.set(mark.key, { mark, outcome });
    if (this.#remembered.size <= rememberedMaximum) return;
    const [oldest] = this.#remembered.keys();
    if (oldest !== undefined) this.#remembered.delete(oldest);
  }
}
