import type { QueryCreator } from 'kysely';
import { type Connection, connect, schemaName } from '../database/database.ts';
import { anyStatement } from '../database/statements.ts';
import type { AnyFactTables, FactReads } from '../define/intake.ts';
import type { EventStore, Position } from '../log/types.ts';
import { quoted, readerRole } from '../projection/table-shape.ts';
import { fillBeside } from './fill-beside.ts';
import { fillSession } from './fill-session.ts';
import { statementWith } from './given-places.ts';

export interface FactsBesideOptions {
  readonly store: Pick<EventStore, 'readLog'>;
  readonly database: string;
  readonly tables: AnyFactTables;
  /** The position of the log up to which they are filled. */
  readonly upTo: Position;
  /** Told now and then how far it has come. */
  readonly onProgress?: (position: Position) => void;
}

/** Stretches of the log after each of which progress is told. */
const stretches = 20n;

/** Another process does the same on this database. */
export class FactsBesideTaken extends Error {
  override readonly name = 'FactsBesideTaken';
  constructor(what: string) {
    super(
      `${what} is being derived again from the log by another process. Try again when it is done.`,
    );
  }
}

/**
 * Fills tables of facts from the log in a schema that nobody else reads, hands out reads of them, and drops them when `use` has
 * ended. No facts are missing that are dropped from the tables of readers. Everything may keep running.
 *
 * @throws FactsBesideTaken while another process does the same
 */
export async function withFactsBeside<Result>(
  { store, database, tables, upTo, onProgress }: FactsBesideOptions,
  use: (facts: FactReads) => Promise<Result>,
): Promise<Result> {
  const connection = await connect(database, { application: 'counterfoil verify', copies: true });
  const name = `${schemaName}_${tables.name}_v${tables.version}_beside`;
  const schema = quoted(name);
  const drop = `drop schema if exists ${schema} cascade`;
  try {
    // The lock ends with the session.
    const { rows } = await connection.query<{ readonly taken: boolean }>(
      'select pg_try_advisory_lock(hashtextextended($1, 0)) as taken',
      [name],
    );
    if (!rows[0]?.taken) throw new FactsBesideTaken(tables.name);
    await connection.query(drop);
    try {
      await connection.query(`create schema ${schema}`);
      for (const text of tables.create(schema, readerRole)) await connection.query(text);
      const fill = fillBeside({ store, tables }, tables.filler(fillSession(connection, schema)));
      await connection.query('set synchronous_commit = off');
      for (let part = 0n; part < stretches; part += 1n) {
        const end = (upTo * (part + 1n)) / stretches;
        await fill((upTo * part) / stretches, end);
        onProgress?.(end);
      }
      await analyze(connection, name);
      return await use(readsOf(connection, name, upTo));
    } finally {
      await connection.query(drop);
    }
  } finally {
    await connection.close();
  }
}

/** Tells PostgreSQL what is in the tables: nobody has had the time to find out. */
async function analyze(connection: Connection, schema: string): Promise<void> {
  const { rows } = await connection.query<{ readonly name: string }>(
    `select relname as name from pg_class
      where relnamespace = to_regnamespace($1) and relkind in ('r', 'p') and not relispartition`,
    [quoted(schema)],
  );
  for (const { name } of rows) await connection.query(`analyze ${quoted(schema)}.${quoted(name)}`);
}

/** Reads of whatever environment over one session: each statement says of which. */
function readsOf(connection: Connection, schema: string, upTo: Position): FactReads {
  const query: FactReads['query'] = async <Tables extends object, Row>(
    _tables: unknown,
    select: (from: QueryCreator<Tables>) => {
      compile(): { sql: string; parameters: readonly unknown[] };
    },
  ) => {
    const builder = anyStatement.withSchema(schema) as unknown as QueryCreator<Tables>;
    const { sql: text, parameters } = select(builder).compile();
    return (await connection.query<Row>(text, [...parameters])).rows;
  };
  const position = String(upTo);
  return {
    query,
    queryAtOnce: query,
    ask: async (statement, given) => {
      const { text, values } = statementWith(statement, schema, given);
      return (await connection.query(text, values)).rows as never;
    },
    shown: async () => position,
    changedAt: async () => position,
    filling: () => schema,
    progress: async () => ({ head: position, shown: position, missing: 0 }),
  };
}
