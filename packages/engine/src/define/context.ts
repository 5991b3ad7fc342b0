import type {
  Aggregate,
  Decision,
  EnvironmentId,
  EventCatalogue,
  EventOf,
  Id,
  IdPrefix,
  Instant,
  KeyId,
  Stamped,
  TenantId,
  UserId,
} from '@counterfoil/kernel';
import type { ColumnName, Page, PageRequest, RowFilter } from './listing.ts';
import type { ColumnTypes, Projection, RecordedEvent } from './projection.ts';
import type { ReadTable, Selection, Selects } from './tables.ts';

/** The caller, as the API key identifies it. Nothing in a request can change it. */
export interface Principal {
  readonly tenantId: TenantId;
  readonly environmentId: EnvironmentId;
  readonly userId: UserId;
  readonly keyId: KeyId;
  readonly roles: readonly string[];
  /** Tells whether the roles allow an operation such as `wallet:write`. */
  readonly allows: (permission: string) => boolean;
}

/** A tenant with one of its environments: the place in which a request reads and writes. */
export type Place = Pick<Principal, 'tenantId' | 'environmentId'>;

/** The result of a command. A replayed outcome equals the first one, state included. */
export interface Outcome<State, Event> {
  readonly state: State;
  /** The events of this command, in order; none when nothing had to change. */
  readonly events: readonly Stamped<Event>[];
  /** Revision of the stream right after the command; -1 for a stream without events. */
  readonly revision: number;
  readonly replayed: boolean;
}

/** A row of a read table as queries return it. */
export interface Found<Resource> {
  readonly resource: Resource;
  readonly revision: number;
}

/** Reads of one caller: tenant and environment are already applied, so no query can forget them. */
export interface Reader {
  /** The row with this key, or null. Deleted records are not found (D15). */
  find<Row, Resource, Columns extends ColumnTypes>(
    table: Projection<string, Row, Resource, Columns>,
    key: string,
  ): Promise<Found<Resource> | null>;
  /** The resources with these keys, whatever their status, by key. Nothing is counted. */
  findMany<Row, Resource, Columns extends ColumnTypes>(
    table: Projection<string, Row, Resource, Columns>,
    keys: readonly string[],
  ): Promise<ReadonlyMap<string, Resource>>;
  /**
   * The ids of the rows that fit the filters, up to a number, in no order: for look-ups that are made very often, because
   * the statement stays prepared and no resource is read. Deleted records are left out.
   */
  ids<Row, Resource, Columns extends ColumnTypes>(
    table: Projection<string, Row, Resource, Columns>,
    filters: readonly RowFilter<NoInfer<Columns>>[],
    maximum: number,
  ): Promise<readonly string[]>;
  /** The newest row that fits the filters, or null. */
  first<Row, Resource, Columns extends ColumnTypes>(
    table: Projection<string, Row, Resource, Columns>,
    filters: readonly RowFilter<NoInfer<Columns>>[],
  ): Promise<Found<Resource> | null>;
  /** One page, newest first unless the request says otherwise, with the exact total. */
  list<Row, Resource, Columns extends ColumnTypes>(
    table: Projection<string, Row, Resource, Columns>,
    request: PageRequest<ColumnName<NoInfer<Columns>>>,
    filters?: readonly RowFilter<NoInfer<Columns>>[],
  ): Promise<Page<Resource>>;
  /**
   * The rows that one statement selects from several tables. Its builder knows these tables alone,
   * and of them the rows of the caller that show something, deleted ones included. The statement
   * must have a limit. Numbers beyond 32 bits and decimals come as texts.
   */
  query<const Tables extends ReadTable, Row>(
    tables: readonly Tables[],
    select: (from: Selects<Tables>) => Selection<Row>,
  ): Promise<readonly Row[]>;
}

/** An event as it stands in the log, with its links in the hash chain. */
export type HistoryEvent<Event> = RecordedEvent<Event> & {
  readonly hash: string;
  readonly previous_hash: string;
};

/**
 * A link of the hash chain of a record: an event of the record itself, or one that the engine keeps beside
 * them, such as a refused request.
 */
export type ChainLink<Event> =
  | { readonly kind: 'event'; readonly event: HistoryEvent<Event> }
  | {
      readonly kind: 'kept';
      readonly event: HistoryEvent<{ readonly type: string; readonly data: unknown }>;
    };

/**
 * A decision, or what has to be looked up before there can be one: `prepare` is called only when the
 * idempotency key has not been seen before.
 */
export type Prepared<Decide> = Decide | { readonly prepare: () => Decide | Promise<Decide> };

/** Everything that commands are carried out with: for a request, for a reaction, for due work. */
export interface CommandContext {
  /**
   * The present instant of the environment, which may have a clock of its own. Decisions get their own,
   * later instant.
   */
  readonly now: Instant;
  /**
   * A new id. With an idempotency key it follows from the key (and from the number of ids asked
   * for before), so that a repetition of the request names the same record.
   */
  newId<Prefix extends IdPrefix>(prefix: Prefix): Id<Prefix>;
  /**
   * Runs a command: looks up the idempotency key first, else decides on the folded state and appends
   * the events. If-Match binds the first execution of a request, so begin with the record it is about.
   * Throws a `Problem` when the decision does, and 503 when the outcome cannot be known.
   */
  execute<Catalogue extends EventCatalogue, State>(
    aggregate: Aggregate<string, Catalogue, State>,
    id: string,
    decision: Prepared<Decision<State, EventOf<Catalogue>>>,
  ): Promise<Outcome<State, EventOf<Catalogue>>>;
  /** The current state of an aggregate, folded from the log: never behind. */
  load<Catalogue extends EventCatalogue, State>(
    aggregate: Aggregate<string, Catalogue, State>,
    id: string,
  ): Promise<State>;
  readonly read: Reader;
}
