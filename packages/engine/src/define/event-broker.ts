import type { FeedScope, PublicFeed } from './public-feed.ts';

/** The beginning of a reader: after a position of the log, at a time, or at the oldest event kept. */
export type ReaderStart =
  | { readonly kind: 'position'; readonly after: string }
  | { readonly kind: 'time'; readonly at: string }
  | { readonly kind: 'oldest' };

/** A reader whose place the broker keeps, on behalf of an outside system. */
export interface DurableReader {
  /** Its name at the broker. */
  readonly name: string;
  readonly scope: FeedScope;
  /** First word of the event types wanted, such as `wallet`; null for all. */
  readonly resource: string | null;
  readonly start: ReaderStart;
  /** Raised to start again: a reader of another generation is replaced. */
  readonly generation: number;
  /** The most messages that may be under way unconfirmed; 1 for strict order. */
  readonly unconfirmedMaximum: number;
}

/** The state of a reader at the broker. */
export interface ReaderStatus {
  /** Messages that it has not been sent yet. */
  readonly pending: number;
  /** Messages that it was sent and has not confirmed. */
  readonly unconfirmed: number;
}

/** The broker of public events. Every method throws `Problem` 503 when it cannot be asked. */
export interface EventBroker extends PublicFeed {
  /** Position of the last event that has been published; `0` when there is none. */
  lastPosition(): Promise<string>;
  /** Makes the reader, or replaces one of an older generation. Doing it again changes nothing. */
  ensureReader(reader: DurableReader): Promise<ReaderStatus>;
  /** Null when there is no such reader. */
  readerStatus(name: string): Promise<ReaderStatus | null>;
  removeReader(name: string): Promise<void>;
}
