import type {
  Aggregate,
  AnyAggregate,
  EventCatalogue,
  EventOf,
  Stamped,
} from '@counterfoil/kernel';

/** Column types that a read model may declare; the engine writes the DDL. */
export type ColumnType = 'text' | 'numeric' | 'integer' | 'boolean' | 'timestamptz' | 'text[]';

/** A column that queries filter or sort by, computed from the resource or from the folded row. */
export interface Column<Resource, Row = never> {
  readonly type: ColumnType;
  readonly of: (resource: Resource, row: Row) => unknown;
  readonly index?: boolean;
  /**
   * True when every index holds the value as well, for a column by which nearly every list is
   * filtered: rows are then counted and skipped without being read. A change touches all indexes.
   */
  readonly listed?: boolean;
}

/** An event as a projection sees it: with its place in its stream and in the whole log. */
export type Placed<Event> = Stamped<Event> & {
  readonly event_id: string;
  /** The id part of the stream name, which is the id of the aggregate. */
  readonly aggregate_id: string;
  readonly revision: number;
  readonly position: string;
};

/**
 * A read model: rows that are folds of events. A row is found by its key, holds the folded state
 * (plain JSON) and the resource that the API answers, and declared columns to filter by. Every
 * row also has: id, tenant_id, environment_id, status, created_at, updated_at, revision, position.
 *
 * `version` must be raised with every change of the fold, the view or the columns; the projector
 * then fills a new table beside the old one and switches when it has caught up.
 */
export interface ReadTable<Name extends string, Row, Resource> {
  readonly name: Name;
  readonly version: number;
  readonly aggregate: AnyAggregate;
  readonly columns: Readonly<Record<string, Column<Resource, Row>>>;
  /** Keys of the rows that an event changes; none when the event is of no interest. */
  readonly keys: (event: Placed<EventOf<EventCatalogue>>) => readonly string[];
  /** The row after the event; null removes it. Pure. */
  readonly fold: (
    row: Row | null,
    event: Placed<EventOf<EventCatalogue>>,
    key: string,
  ) => Row | null;
  readonly view: (row: Row) => Resource;
}

// biome-ignore lint/suspicious/noExplicitAny: lists of tables hold every row type.
export type AnyReadTable = ReadTable<string, any, any>;

interface DocumentOptions<Name extends string, State, Resource> {
  readonly name: Name;
  readonly version: number;
  /** The wire resource of a state; null while there is nothing to show (not created, deleted). */
  readonly view: (state: State) => Resource;
  readonly columns?: Readonly<Record<string, Column<Resource, State>>>;
}

/** The read model of an aggregate itself: one row per stream, folded by the aggregate's evolve. */
export const documents = <
  Name extends string,
  Catalogue extends EventCatalogue,
  State,
  Resource extends object,
>(
  aggregate: Aggregate<string, Catalogue, State>,
  options: DocumentOptions<Name, State, Resource>,
): ReadTable<Name, State, Resource> => ({
  name: options.name,
  version: options.version,
  aggregate,
  columns: options.columns ?? {},
  keys: (event) => (Object.hasOwn(aggregate.events, event.type) ? [event.aggregate_id] : []),
  fold: (row, event) =>
    aggregate.evolve(row ?? aggregate.initial, event as Stamped<EventOf<Catalogue>>),
  view: options.view,
});

interface RowOptions<Name extends string, Catalogue extends EventCatalogue, Row, Resource> {
  readonly name: Name;
  readonly version: number;
  readonly columns?: Readonly<Record<string, Column<Resource, Row>>>;
  readonly keys: (event: Placed<EventOf<Catalogue>>) => readonly string[];
  readonly fold: (row: Row | null, event: Placed<EventOf<Catalogue>>, key: string) => Row | null;
  readonly view: (row: Row) => Resource;
}

/** A read model with rows of its own, such as the entries of a ledger. */
export const rows = <
  Name extends string,
  Catalogue extends EventCatalogue,
  Row,
  Resource extends object,
>(
  // biome-ignore lint/suspicious/noExplicitAny: the state of the aggregate plays no part here.
  aggregate: Aggregate<string, Catalogue, any>,
  options: RowOptions<Name, Catalogue, Row, Resource>,
): ReadTable<Name, Row, Resource> =>
  ({
    columns: {},
    ...options,
    keys: (event: Placed<EventOf<Catalogue>>) =>
      Object.hasOwn(aggregate.events, event.type) ? options.keys(event) : [],
    aggregate,
  }) as unknown as ReadTable<Name, Row, Resource>;
