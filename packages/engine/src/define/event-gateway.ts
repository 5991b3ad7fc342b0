import type { FeedScope } from './public-feed.ts';

/** The access that a downstream system has with its own credentials. */
export interface ReaderAccess {
  /** Name of its durable reader at the broker. */
  readonly name: string;
  readonly scope: FeedScope;
  /** First word of the event types wanted, such as `wallet`; null for all. */
  readonly resource: string | null;
  /** Those in force; null when there are none. */
  readonly credentials: AccessCredentials | null;
  /** The last change of any of this. */
  readonly changedAt: string;
}

export interface AccessCredentials {
  /** Raised with every issue: those of another generation are void. */
  readonly generation: number;
  readonly issuedAt: string;
  /** Null when they do not expire. */
  readonly expiresAt: string | null;
}

/**
 * The servers that downstream systems connect to: a place for each reader, from which nothing else
 * can be reached. A call that changes something at the gateway throws `Problem` 503 when the gateway
 * cannot be told, and may be repeated.
 */
export interface EventGateway {
  /** Addresses for downstream systems. */
  readonly urls: readonly string[];
  /** The subject on which a reader gets new events without a durable reader. */
  liveSubject(access: ReaderAccess): string;
  /** The content of a `.creds` file. The same access gives the same. Throws without credentials. */
  credentialsOf(access: ReaderAccess): string;
  /** Admits clients with the credentials in force and disconnects all others. */
  keepAccess(access: ReaderAccess): Promise<void>;
  /** Removes the reader's place and disconnects everybody in it. */
  removeAccess(access: ReaderAccess): Promise<void>;
  /** Compares with what the gateway has, and changes only the difference. */
  reconcile(wanted: WantedAccess): Promise<void>;
}

export interface WantedAccess {
  readonly kept: readonly ReaderAccess[];
  readonly removed: readonly ReaderAccess[];
}
