import { BrokenInvariant } from '@counterfoil/kernel';
import {
  type AliasedRawBuilder,
  type Compilable,
  type CompiledQuery,
  DummyDriver,
  Kysely,
  PostgresAdapter,
  PostgresDialect,
  PostgresIntrospector,
  PostgresQueryCompiler,
  type RawBuilder,
  sql,
} from 'kysely';
import { Pool } from 'pg';
import { schemaName } from './database.ts';
import type { EngineTables } from './schema.ts';

/** Writes statements and runs none. It knows no table. */
export const anyStatement = new Kysely<Record<string, object>>({
  dialect: {
    createAdapter: () => new PostgresAdapter(),
    createDriver: () => new DummyDriver(),
    createIntrospector: (database) => new PostgresIntrospector(database),
    createQueryCompiler: () => new PostgresQueryCompiler(),
  },
});

/**
 * Returns a builder of statements on these tables of the schema `counterfoil`. It runs none: they
 * go over a `Connection`, or over a session that is bound to a tenant.
 */
export const statementsOn = <Tables>(): Kysely<Tables> =>
  anyStatement.withSchema(schemaName) as unknown as Kysely<Tables>;

/** Statements on the engine's own tables. */
export const statements = statementsOn<EngineTables>();

/** The instant at which the transaction began, by the clock of the database. */
export const transactionTime = sql<string>`now()`;

/**
 * Sets up a session whose statements name few rows by an index. Prepared while the tables are as good as
 * empty, they would be planned to read them as a whole, and go on doing so while they fill.
 */
export const planByIndex =
  'set enable_seqscan = off; set enable_hashjoin = off; set enable_mergejoin = off';

/**
 * A statement that is written when it is run for the first time, and then kept: for what is asked again and again with
 * the same values, mostly to find nothing. To write a long one takes longer than to run it.
 */
export function writtenOnce<Row>(write: () => Compilable<Row>): Compilable<Row> {
  let written: CompiledQuery<Row> | null = null;
  return {
    compile() {
      written ??= write().compile();
      return written;
    },
  };
}

/** The same for statements into which the values of a policy are written, of which there are few: one for each of them. */
export function writtenFor<Policy extends object, Row>(
  write: (policy: Policy) => Compilable<Row>,
): (policy: Policy) => Compilable<Row> {
  const written = new WeakMap<Policy, Compilable<Row>>();
  return (policy) => {
    const statement = written.get(policy) ?? writtenOnce(() => write(policy));
    written.set(policy, statement);
    return statement;
  };
}

/** The place of a value in a text that is written once, and run with other values each time. */
export const parameter = <Value>(number: number): RawBuilder<Value> => sql.raw(`$${number}`);

/**
 * The text of a statement whose values all stand as `parameter`. Throws `BrokenInvariant` where it has one of its own,
 * whose number would be that of another.
 */
export function statementText(statement: Compilable<unknown>): string {
  const { sql: text, parameters } = statement.compile();
  if (parameters.length > 0) throw new BrokenInvariant(`a value of its own stands in: ${text}`);
  return text;
}

/** Each value as it stands in the text of a statement, for conditions that an index is bound to. */
export const literals = <const Value extends string>(
  ...values: readonly Value[]
): readonly RawBuilder<Value>[] => values.map((value) => sql.lit(value));

/** A column of given items: its type in Postgres, and its value in an item. */
export type GivenColumn<Item> = readonly [
  type: 'text' | 'integer' | 'bigint' | 'boolean' | 'timestamptz' | 'bytea',
  of: (item: Item, index: number) => unknown,
];

export type GivenColumns<Item> = Readonly<Record<string, GivenColumn<Item>>>;

type GivenRow<Columns extends GivenColumns<never>> = {
  readonly [Name in keyof Columns]: ReturnType<Columns[Name][1]>;
};

/**
 * Returns any number of items as a table of a statement. Each column is one parameter, so that the
 * statement stays the same however many they are.
 */
export function given<const Name extends string, Item, const Columns extends GivenColumns<Item>>(
  name: Name,
  items: readonly Item[],
  columns: Columns,
): AliasedRawBuilder<GivenRow<Columns>, Name> {
  const lists = Object.values(columns).map(
    ([type, of]) => sql`${sql.val(items.map(of))}::${sql.raw(type)}[]`,
  );
  const names = Object.keys(columns).map((column) => sql.ref(column));
  const alias = sql`${sql.ref(name)}(${sql.join(names)})`;
  return sql<GivenRow<Columns>>`unnest(${sql.join(lists)})`.as<Name>(alias);
}

/**
 * Opens the tables of a database for statements that run at once, each in whatever session is free.
 * It connects when needed.
 */
export function openKysely<Tables>(url: string, connections: number): Kysely<Tables> {
  const pool = new Pool({
    connectionString: url,
    max: connections,
    connectionTimeoutMillis: 5_000,
  });
  // A broken session is replaced at the next use; without listeners, the pool's for idle ones and its
  // own while it is at work, its loss would end the process.
  pool.on('error', () => undefined);
  pool.on('connect', (client) => client.on('error', () => undefined));
  return new Kysely<Tables>({ dialect: new PostgresDialect({ pool }) });
}
