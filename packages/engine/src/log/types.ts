import type { Actor, Instant } from '@counterfoil/kernel';

/**
 * Place of an event in the whole log, or between two of them (position.ts). Rises with every event; has
 * gaps; 0n is before the first.
 */
export type Position = bigint;

/** Identity of a request, for idempotency. It stands in the first event that the request caused. */
export interface RequestFingerprint {
  /** The idempotency key and the method and path it was sent to, hashed together: 128 bits in base64url. */
  readonly key: string;
  /** SHA-256 of each parsed top-level field of the request, 48 bits in base64url, to name those that differ. */
  readonly fields: Readonly<Record<string, string>>;
}

/** The same in the log, with the number of events that the request caused, from this one on. */
export interface RecordedRequest extends RequestFingerprint {
  readonly events: number;
}

/** Metadata of every event that we write. The log keeps a shorter form: see recorded-metadata.ts. */
export interface EventMetadata {
  readonly tenant_id: string;
  readonly environment_id: string | null;
  readonly actor: Actor;
  readonly occurred_at: Instant;
  readonly schema_version: number;
  readonly $correlationId: string;
  readonly $causationId: string;
  readonly request?: RecordedRequest;
  /** Hash of this event and of all before it in its stream: see hash-chain.ts. */
  readonly hash: string;
}

/** An event as it goes to the store. `data` is JSON-safe by construction. */
export interface NewEvent {
  /** UUID. The same command always makes the same ids. */
  readonly id: string;
  readonly type: string;
  readonly data: unknown;
  readonly metadata: EventMetadata;
}

/** An event as the store gives it back. */
export interface StoredEvent extends NewEvent {
  readonly stream: string;
  readonly revision: number;
  readonly position: Position;
}

/** The reason why an append did not succeed, as far as it can be known. */
export type AppendFailure =
  /** The stream is at another revision than expected; nothing was written. */
  | 'conflict'
  /** The stream was deleted; nothing was written. */
  | 'deleted'
  /** The append exceeds the size limit; nothing was written. */
  | 'too_large'
  /** Time-out or cut connection: it may or may not have been written. Read the tail. */
  | 'unknown_outcome'
  /** The store cannot be reached; nothing was sent. */
  | 'unavailable'
  /** A defect on our side (not JSON, bad id) or a refusal that repeating cannot change. */
  | 'fatal';

/** An append that did not succeed, with what is known about the reason. */
export class AppendError extends Error {
  override readonly name = 'AppendError';
  readonly failure: AppendFailure;
  constructor(failure: AppendFailure, message: string, options?: ErrorOptions) {
    super(message, options);
    this.failure = failure;
  }
}

/** The store does not know our user, or does not let it read. Only an administrator can change that. */
export class StoreRefused extends Error {
  constructor(refused: 'user' | 'right', options?: ErrorOptions) {
    super(
      refused === 'user'
        ? 'The event store refuses the user and password of EVENTSTORE_URL: correct them.'
        : 'The event store does not let the user of EVENTSTORE_URL read $all: let an administrator grant it.',
      options,
    );
    this.name = 'StoreRefused';
  }
}

/** The store cannot be read now. */
export class StoreUnavailable extends Error {
  override readonly name: string = 'StoreUnavailable';
}

/**
 * The store has ended a subscription because more came at once than it keeps for it: version 23.10 does so
 * with more than 32 events. It only has to be opened again.
 */
export class ConsumerTooSlow extends StoreUnavailable {
  override readonly name = 'ConsumerTooSlow';
}

export interface Appended {
  /** Revision of the last event written. */
  readonly revision: number;
  /** Position of the last event written. */
  readonly position: Position;
}

/** An item of a subscription; they come strictly in order. */
export type LogItem =
  | { readonly kind: 'event'; readonly event: StoredEvent }
  /** The filter has considered everything up to this position. */
  | { readonly kind: 'checkpoint'; readonly position: Position }
  /** Everything that was there at this moment has been handed over. */
  | { readonly kind: 'caught_up' };

/** The place of an event, as it is known before the event is read. */
export type EventPlace = Pick<StoredEvent, 'stream' | 'revision'>;

/** An event of the log that nobody has read. */
export interface UnreadEvent extends EventPlace, Pick<StoredEvent, 'id' | 'position'> {
  /** The length of its JSON. */
  readonly characters: number;
  /** The event; null for one of a stream that is none of ours. Throws `UnreadableEvent`. */
  read(): StoredEvent | null;
}

export type CheckpointRate = 'often' | 'seldom';

export interface SubscriptionOptions {
  /** Only streams whose name starts with one of these. */
  readonly prefixes: readonly string[];
  /** Asked before an event is read: one that is not wanted is a checkpoint to the caller. */
  readonly wants?: (event: UnreadEvent) => boolean;
  /**
   * The rate of checkpoints while nothing that is followed is written: one with 32 events of the log unless given,
   * `seldom` with 1,024, for a subscriber to whom places without events are of no use.
   */
  readonly checkpoints?: CheckpointRate;
  /** Asked at every (re)start: the position after which items are handed over. */
  readonly after: () => Position | Promise<Position>;
  readonly signal: AbortSignal;
  /** Called at each loss of the connection; the subscription reconnects by itself, with back-off. */
  readonly onLost?: (error: Error) => void;
}

/** The event store as the engine uses it. There is one implementation, around the client. */
export interface EventStore {
  /**
   * Appends events as one atomic write at an exact revision (-1: the stream must not exist).
   * Throws `AppendError`.
   */
  append(stream: string, events: readonly NewEvent[], expectedRevision: number): Promise<Appended>;
  /** Events of one stream from a revision on (inclusive), forwards. None when the stream does not exist. */
  readStream(
    stream: string,
    options?: { readonly from?: number; readonly maximum?: number },
  ): AsyncIterable<StoredEvent>;
  /** The last event of a stream, or null. */
  readLast(stream: string): Promise<StoredEvent | null>;
  /**
   * A bounded read of the log: our events whose stream has one of the prefixes, after a position
   * (exclusive) up to a position (inclusive), in order.
   */
  readLog(options: {
    readonly prefixes: readonly string[];
    readonly after: Position;
    readonly upTo: Position;
    readonly signal?: AbortSignal;
  }): AsyncIterable<StoredEvent>;
  /**
   * Follows the log for ever, in batches: everything that has arrived, at most `maximum` items.
   * Reconnects by itself. Ends only when the signal aborts. The caller gets the next batch when it asks
   * for it; meanwhile a bounded buffer fills.
   */
  follow(options: SubscriptionOptions, maximum: number): AsyncIterable<readonly LogItem[]>;
  /** Position of the last event of the log with one of the prefixes or of any stream; 0n if empty. */
  head(): Promise<Position>;
  /**
   * The store's own time in milliseconds, in whole seconds that have passed; null when it does not tell.
   * Throws `StoreUnavailable`.
   */
  time(): Promise<number | null>;
  /** Resolves when the store answers a read; throws `StoreUnavailable` otherwise. */
  ping(): Promise<void>;
  close(): Promise<void>;
}
