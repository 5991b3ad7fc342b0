import { invariant } from '@counterfoil/kernel';
import type { RequestMark, StoredEvent } from '../log/types.ts';
import type { WriterOutcome } from './command.ts';

/** Revisions of the events of one request: consecutive, because they were appended together. */
export interface RequestSpan {
  readonly first: number;
  readonly last: number;
}

interface Remembered<State> {
  readonly mark: RequestMark;
  readonly outcome: WriterOutcome<State>;
}

/** Outcomes kept in memory per stream; older ones are folded again from the log when asked for. */
const rememberedMaximum = 256;

/**
 * Which request keys a stream has seen, and where. The index is complete, because it decides
 * whether money moves twice; the outcomes beside it are only a cache.
 */
export class RequestIndex<State> {
  readonly #spans = new Map<string, RequestSpan>();
  readonly #remembered = new Map<string, Remembered<State>>();

  has(key: string): boolean {
    return this.#spans.has(key);
  }

  /** Where the events of a known request are. Throws when the key is not known. */
  spanOf(key: string): RequestSpan {
    const span = this.#spans.get(key);
    invariant(span, `request ${key} is not in the index`);
    return span;
  }

  remembered(key: string): Remembered<State> | undefined {
    return this.#remembered.get(key);
  }

  /** Notes an event that was read from the log. */
  note(event: StoredEvent): void {
    const { request } = event.metadata;
    if (!request) return;
    const first = event.revision;
    this.#spans.set(request.key, { first, last: first + request.events - 1 });
  }

  /** Notes the outcome of a request: one just appended, or one folded again from the log. */
  remember(mark: RequestMark, span: RequestSpan, outcome: WriterOutcome<State>): void {
    this.#spans.set(mark.key, span);
    this.#remembered.set(mark.key, { mark, outcome });
    if (this.#remembered.size <= rememberedMaximum) return;
    const [oldest] = this.#remembered.keys();
    if (oldest !== undefined) this.#remembered.delete(oldest);
  }
}
