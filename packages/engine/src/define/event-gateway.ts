import type { FeedScope } from './public-feed.ts';

/** The access that a system outside has with its own credentials, to one thing alone. */
export type GatewayAccess = ReaderAccess | SenderAccess;

interface OwnAccess {
  /** Of the record that the credentials belong to. */
  readonly name: string;
  readonly scope: FeedScope;
  /** Those in force; null when there are none. */
  readonly credentials: AccessCredentials | null;
  /** The last change of any of this. */
  readonly changedAt: string;
}

/** A downstream system reads the public events of an environment; its name is that of its durable reader. */
export interface ReaderAccess extends OwnAccess {
  readonly kind: 'reader';
  /** First word of the event types wanted, such as `wallet`; null for all. */
  readonly resource: string | null;
}

/** A system sends facts to an environment. */
export interface SenderAccess extends OwnAccess {
  readonly kind: 'sender';
  /** The name of the intake that takes them. */
  readonly intake: string;
  /** The API key for which it sends: it may do what the key may, as long as the key counts. */
  readonly keyId: string;
}

export interface AccessCredentials {
  /** Raised with every issue: those of another generation are void. */
  readonly generation: number;
  readonly issuedAt: string;
  /** Null when they do not expire. */
  readonly expiresAt: string | null;
}

/**
 * The servers that systems outside connect to: a place for each, from which nothing else can be reached. A call
 * that changes something at the gateway throws `Problem` 503 when the gateway cannot be told, and may be repeated.
 */
export interface EventGateway {
  /** Addresses for systems outside. */
  readonly urls: readonly string[];
  /** The subject on which a reader gets new events without a durable reader. */
  liveSubject(access: ReaderAccess): string;
  /** The content of a `.creds` file. The same access gives the same. Throws without credentials. */
  credentialsOf(access: GatewayAccess): string;
  /** Admits clients with the credentials in force and disconnects all others. */
  keepAccess(access: GatewayAccess): Promise<void>;
  /** Removes the place of a system and disconnects everybody in it. */
  removeAccess(access: GatewayAccess): Promise<void>;
  /** Compares with what the gateway has, and changes only the difference. */
  reconcile(wanted: WantedAccess): Promise<void>;
}

export interface WantedAccess {
  readonly kept: readonly GatewayAccess[];
  readonly removed: readonly GatewayAccess[];
}
