import type { FeedScope } from './public-feed.ts';

/** What a downstream system may read with credentials of its own. */
export interface ReaderAccess {
  /** Name of its durable reader at the broker. */
  readonly name: string;
  readonly scope: FeedScope;
  /** First word of the event types wanted, such as `wallet`; null for all. */
  readonly resource: string | null;
  /** Those in force; null when there are none. */
  readonly credentials: AccessCredentials | null;
  /** When any of this was changed last. */
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
 * The servers that downstream systems connect to: a place of its own for every reader, from which
 * nothing else can be reached. What tells the gateway something throws `Problem` 503 when it cannot be
 * told, and may be repeated.
 */
export interface EventGateway {
  /** Addresses for downstream systems. */
  readonly urls: readonly string[];
  /** Where a reader gets new events without a durable reader. */
  liveSubject(access: ReaderAccess): string;
  /** The content of a `.creds` file. The same access gives the same. Throws without credentials. */
  credentialsOf(access: ReaderAccess): string;
  /** Lets in those with the credentials in force and throws out all others. */
  keepAccess(access: ReaderAccess): Promise<void>;
  /** Removes the reader's place with all who are in it. */
  removeAccess(access: ReaderAccess): Promise<void>;
  /** Looks at what the gateway has, and tells it only what it lacks and what it should not have. */
  reconcile(wanted: WantedAccess): Promise<void>;
}

export interface WantedAccess {
  readonly kept: readonly ReaderAccess[];
  readonly removed: readonly ReaderAccess[];
}
