import type { Compilable, OperationNodeSource, QueryCreator } from 'kysely';
import type { AnyProjection, Projection } from './projection.ts';

declare const json: unique symbol;

/** The text of a JSON value of a type; see `fromJson`. */
export type JsonText<Value> = string & { readonly [json]?: Value };

/** Returns the value that a text of JSON stands for. */
export const fromJson = <Value>(text: JsonText<Value>): Value => JSON.parse(text) as Value;

/** The values that statements read from columns, by type. Numbers are texts: none is rounded. */
interface ReadValues {
  readonly text: string;
  readonly numeric: string;
  readonly integer: string;
  readonly boolean: boolean;
  readonly timestamptz: string;
  readonly 'text[]': readonly string[];
}

/** The columns that the table of every projection has, as statements read them. */
interface CommonColumns<Resource> {
  readonly id: string;
  readonly tenant_id: string;
  /** Nothing where rows belong to the tenant as a whole. */
  readonly environment_id: string;
  readonly status: string | null;
  readonly created_at: string;
  readonly updated_at: string;
  readonly revision: string;
  readonly position: string;
  readonly resource: JsonText<NonNullable<Resource>>;
}

declare const row: unique symbol;

/**
 * A table that no event fills, such as the queue of webhooks, with a column `environment_id`. Its
 * migration grants the role of readers what they may see and gives it row-level security.
 */
export interface OperationalTable<Name extends string, Row> {
  readonly name: Name;
  readonly [row]?: Row;
}

/** Declares an operational table with the columns that readers may see. */
export const operationalTable =
  <Row>() =>
  <const Name extends string>(name: Name): OperationalTable<Name, Row> => ({ name });

/** A table that requests may read. */
export type ReadTable = AnyProjection | OperationalTable<string, unknown>;

/** Tells projections from operational tables. */
export const isProjection = (table: ReadTable): table is AnyProjection => 'aggregates' in table;

/** The columns of a table, as statements read them. */
export type TableOf<Table extends ReadTable> =
  Table extends Projection<string, infer _Row, infer Resource, infer Columns>
    ? CommonColumns<Resource> & {
        readonly [Name in keyof Columns]: ReadValues[Columns[Name]] | null;
      }
    : Table extends OperationalTable<string, infer Row>
      ? Row
      : never;

/** Some tables by name, for statements that are checked against them. */
export type TablesOf<Tables extends ReadTable> = {
  readonly [Table in Tables as Table['name']]: TableOf<Table>;
};

/** A builder of statements that read some tables and know no others. */
export type Selects<Tables extends ReadTable> = Pick<
  QueryCreator<TablesOf<Tables>>,
  'selectFrom' | 'selectNoFrom' | 'with'
>;

/** A statement that selects rows. */
export type Selection<Row> = Compilable<Row> & OperationNodeSource;
