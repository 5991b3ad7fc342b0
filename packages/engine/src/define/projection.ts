import type {
  Aggregate,
  AnyAggregate,
  EventCatalogue,
  EventOf,
  Stamped,
} from '@counterfoil/kernel';

/** The types that a column of a projection may have; the engine writes the DDL. */
export type ColumnType = 'text' | 'numeric' | 'integer' | 'boolean' | 'timestamptz' | 'text[]';

/** The types of a projection's own columns, by name. */
export type ColumnTypes = Readonly<Record<string, ColumnType>>;

/**
 * The place of a member of a resource in a row: the column of the same name that filters use (`column`), a
 * column of a type that is there for this member alone, or JSON.
 */
export type MemberPlace = 'column' | 'json' | Exclude<ColumnType, 'text[]'>;

/** A column that queries filter or sort by, computed from the resource or from the folded row. */
export interface Column<Type extends ColumnType, Resource, Row> {
  readonly type: Type;
  readonly of: (resource: Resource, row: Row) => unknown;
  readonly index?: boolean;
  /**
   * True when every index holds the value as well, for a column by which nearly every list is
   * filtered: rows are then counted and skipped without being read. A change touches all indexes.
   */
  readonly listed?: boolean;
  /**
   * True for a value that changes with nearly every event of the row. The bytes of a row that change stand
   * together at its end, and PostgreSQL's log then holds them alone. A resource helps by naming last what
   * changes often.
   */
  readonly often?: boolean;
}

/** An event with its place in its stream and in the whole log. */
export type RecordedEvent<Event> = Stamped<Event> & {
  readonly event_id: string;
  /** The id part of the stream name, which is the id of the aggregate. */
  readonly aggregate_id: string;
  readonly revision: number;
  readonly position: string;
};

/** An event of one of several aggregates, told apart by the aggregate's name. */
export type EventFrom<Source extends AnyAggregate> =
  Source extends Aggregate<infer Name, infer Catalogue, infer _State>
    ? RecordedEvent<EventOf<Catalogue>> & { readonly aggregate: Name }
    : never;

/** An event of whatever aggregate. */
export type AnyProjectedEvent = RecordedEvent<EventOf<EventCatalogue>> & {
  readonly aggregate: string;
};

/** The instants that every resource shows; the columns of these names, which order lists, are the same. */
export interface Stamps {
  readonly created_at: string;
  readonly updated_at: string;
}

/**
 * A fold of events into the rows of one table. A row is found by its key, holds the folded state
 * (plain JSON) and the resource that the API answers, and declared columns to filter by. Every row
 * also has: id, tenant_id, environment_id, status, created_at, updated_at, revision, position.
 *
 * `version` must be raised with every change of the fold, the view or the columns; the projector
 * then fills a new table beside the old one and switches when it has caught up.
 */
export interface Projection<
  Name extends string,
  Row,
  Resource,
  Columns extends ColumnTypes = ColumnTypes,
> {
  readonly name: Name;
  readonly version: number;
  /** Those whose events it folds; all of one scope. */
  readonly aggregates: readonly AnyAggregate[];
  /** The aggregate whose records the rows are, each under its id; absent for rows of another kind. */
  readonly recordsOf?: AnyAggregate;
  readonly columns: { readonly [Key in keyof Columns]: Column<Columns[Key], Resource, Row> };
  /** Keys of the rows that an event changes; none when the event is of no interest. */
  readonly keys: (event: AnyProjectedEvent) => readonly string[];
  /**
   * Those of the keys whose rows the event is the first to touch, so that nobody looks for them in the database before
   * they are written. A key that is missing here costs that look. One that is here in error is noticed when its row is
   * written, and costs the batch a second way through, unless the fold removes the row at once.
   */
  readonly adds?: (event: AnyProjectedEvent) => readonly string[];
  /** The row after the event; null removes it. Pure. */
  readonly fold: (row: Row | null, event: AnyProjectedEvent, key: string) => Row | null;
  /** The resource of a row; null while there is nothing to show. Pure. */
  readonly view: (row: Row) => Resource;
  /**
   * True for a row that hardly any further event touches, so that it need not be kept in memory. Absent:
   * every row may be touched again soon.
   */
  readonly rests?: (row: Row) => boolean;
  /**
   * The members of the resource in the order of `view`, for a table that grows with every event or whose rows
   * change with nearly every event: its rows then hold what changes or is new, and no names. Readers find the
   * resource as ever. A resource with other members, or in another order, is stored as a whole.
   */
  readonly members?: Readonly<Record<string, MemberPlace>>;
}

// biome-ignore lint/suspicious/noExplicitAny: lists of projections hold every row type.
export type AnyProjection = Projection<string, any, any, any>;

/** The declared columns of a projection, whose values are computed from a resource and its row. */
type Declared<Columns extends ColumnTypes, Resource, Row> = {
  readonly [Key in keyof Columns]: Column<Columns[Key], Resource, Row>;
};

/** The places of the members of a resource; see `members` of a projection. */
type Members<Resource> = {
  readonly [Name in keyof NonNullable<Resource>]-?: MemberPlace;
};

interface RecordOptions<Name extends string, State, Resource, Columns extends ColumnTypes> {
  readonly name: Name;
  readonly version: number;
  /** The wire resource of a state; null while there is nothing to show (not created, deleted). */
  readonly view: (state: State) => Resource;
  readonly columns?: Declared<Columns, Resource, State>;
  readonly members?: Members<Resource>;
}

/** The projection of the records themselves: one row per stream, folded by the aggregate's evolve. */
export const recordProjection = <
  Name extends string,
  Catalogue extends EventCatalogue,
  State,
  Resource extends Stamps,
  const Columns extends ColumnTypes = Record<never, never>,
>(
  source: Aggregate<string, Catalogue, State>,
  { columns, ...options }: RecordOptions<Name, State, Resource, Columns>,
): Projection<Name, State, Resource, Columns> =>
  ({
    ...options,
    aggregates: [source],
    recordsOf: source,
    columns: columns ?? {},
    keys: (event) => (Object.hasOwn(source.events, event.type) ? [event.aggregate_id] : []),
    adds: (event) => (event.revision === 0 ? [event.aggregate_id] : []),
    fold: (row, event) =>
      source.evolve(row ?? source.initial, event as Stamped<EventOf<Catalogue>>),
  }) as Projection<Name, State, Resource, Columns>;

interface RowOptions<Name extends string, Event, Row, Resource, Columns extends ColumnTypes> {
  readonly name: Name;
  readonly version: number;
  readonly columns?: Declared<Columns, Resource, Row>;
  readonly keys: (event: Event) => readonly string[];
  readonly adds?: (event: Event) => readonly string[];
  readonly fold: (row: Row | null, event: Event, key: string) => Row | null;
  readonly view: (row: Row) => Resource;
  readonly rests?: (row: Row) => boolean;
  readonly members?: Members<Resource>;
}

/**
 * A projection with rows of its own, such as the entries of a ledger. Of several aggregates it folds
 * the events in the order of the log; each says in `aggregate` which of them it is of.
 */
export const projection = <
  Name extends string,
  const Source extends AnyAggregate,
  Row,
  Resource extends Stamps,
  const Columns extends ColumnTypes = Record<never, never>,
>(
  source: Source | readonly Source[],
  options: RowOptions<Name, EventFrom<Source>, Row, Resource, Columns>,
): Projection<Name, Row, Resource, Columns> =>
  ({ columns: {}, ...options, aggregates: [source].flat() }) as unknown as Projection<
    Name,
    Row,
    Resource,
    Columns
  >;
