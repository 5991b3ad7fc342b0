import type { Connection } from '../database/database.ts';
import type { AnyFactTables } from '../define/intake.ts';
import type { EventStore, Position } from '../log/types.ts';
import { quoted, readerRole } from '../projection/table-shape.ts';
import { fillBeside } from './fill-beside.ts';
import { fillSession } from './fill-session.ts';
import { fillingSchema, quotedSchema, readFillings } from './filling-record.ts';
import { partsLock } from './part-wishes.ts';

/** The outcome of a comparison of the tables of one intake with the log. */
export interface FactReport {
  readonly name: string;
  /** Position of the log up to which they were compared. */
  readonly position: Position;
  readonly rows: number;
  /** A sentence about each table that differs, with the first row that does. */
  readonly differences: readonly string[];
  /** The partitions that were left out, because their facts are dropped. */
  readonly leftOut: readonly string[];
}

interface VerifyFactsOptions {
  readonly store: Pick<EventStore, 'readLog'>;
  readonly connection: Connection;
  readonly tables: AnyFactTables;
}

/**
 * Fills the tables of an intake again from the log, in a schema beside the one that readers see, and compares the
 * two. Everything may keep running. Null when readers see no tables of this version yet.
 */
export async function verifyFacts(options: VerifyFactsOptions): Promise<FactReport | null> {
  const { connection, tables } = options;
  const serving = await servingOf(connection, tables);
  if (!serving) return null;
  const schema = `"${fillingSchema(serving)}_verify"`;
  const shown = fillSession(connection, quotedSchema(serving));
  const drop = `drop schema if exists ${schema} cascade`;
  await connection.query(drop);
  try {
    await connection.query(`create schema ${schema}`);
    for (const text of tables.create(schema, readerRole)) await connection.query(text);
    const { store } = options;
    const fill = fillBeside({ store, tables }, tables.filler(fillSession(connection, schema)));
    await connection.query('set synchronous_commit = off');
    await fill(0n, serving.position);
    // Held from before the snapshot on, so that no partition goes that the snapshot has.
    const lock = [partsLock(tables.name)];
    await connection.query('select pg_advisory_lock_shared(hashtextextended($1, 0))', lock);
    await connection.query('begin isolation level repeatable read');
    // The last events, and the comparison, see the same state of the tables.
    const now = await servingOf(connection, tables);
    if (!now || quotedSchema(now) !== quotedSchema(serving)) return null;
    await fill(serving.position, now.position);
    const parts = (await tables.parts?.list(shown)) ?? [];
    const leftOut = parts.filter((part) => part.isDropped).map(({ relation }) => relation);
    const report = await compare(connection, tables, {
      made: schema,
      shown: shown.schema,
      leftOut,
    });
    return { ...report, name: tables.name, position: now.position, leftOut };
  } finally {
    await connection.query('rollback');
    await connection.query('select pg_advisory_unlock_all()');
    await connection.query(drop);
  }
}

const servingOf = async (connection: Connection, { name, version }: AnyFactTables) =>
  (await readFillings(connection)).find(
    (row) => row.name === name && row.version === version && row.serving,
  );

/** Two schemas that are compared, but for some partitions. */
interface Compared {
  readonly made: string;
  readonly shown: string;
  readonly leftOut: readonly string[];
}

async function compare(
  connection: Connection,
  { compared }: AnyFactTables,
  { made, shown, leftOut }: Compared,
): Promise<Pick<FactReport, 'rows' | 'differences'>> {
  let rows = 0;
  const differences: string[] = [];
  for (const [table, select] of Object.entries(compared)) {
    const parts = await partsOf(connection, table, made, shown);
    for (const part of parts.filter(({ name }) => !leftOut.includes(name))) {
      // A partition that one of them lacks has no rows there.
      const rowsOf = (schema: string, isThere: boolean): string =>
        isThere ? select(schema, shown, part.name) : none(select(schema, shown, table));
      const [byLog, seen] = [rowsOf(made, part.isMade), rowsOf(shown, part.isShown)];
      const counted = await connection.query<{ readonly count: string }>(
        `select count(*) from (${seen}) as seen`,
      );
      rows += Number(counted.rows[0]?.count ?? 0);
      const missing = await firstBut(connection, byLog, seen);
      if (missing !== null) differences.push(`${part.name}: the log has a row more: ${missing}`);
      const extra = await firstBut(connection, seen, byLog);
      if (extra !== null) differences.push(`${part.name}: the log has no such row: ${extra}`);
    }
  }
  return { rows, differences };
}

const none = (select: string): string => `select * from (${select}) as nothing where false`;

/** A table, or a partition of one, that is compared by itself, and in which of both schemas it is there. */
interface Part {
  readonly name: string;
  readonly isMade: boolean;
  readonly isShown: boolean;
}

/**
 * The partitions that a table has in either of two schemas, and the table itself where it has none: each is compared in the
 * memory and the time that its own rows take.
 */
async function partsOf(
  connection: Connection,
  table: string,
  made: string,
  shown: string,
): Promise<readonly Part[]> {
  const { rows } = await connection.query<{ name: string; made: boolean; shown: boolean }>(
    `select part.relname as name,
            bool_or(whole.oid = to_regclass($1)) as made, bool_or(whole.oid = to_regclass($2)) as shown
       from pg_inherits
       join pg_class as whole on whole.oid = inhparent and whole.relkind = 'p'
       join pg_class as part on part.oid = inhrelid
      where whole.oid in (to_regclass($1), to_regclass($2))
      group by part.relname order by part.relname`,
    [`${made}.${quoted(table)}`, `${shown}.${quoted(table)}`],
  );
  if (rows.length === 0) return [{ name: table, isMade: true, isShown: true }];
  return rows.map((row) => ({ name: row.name, isMade: row.made, isShown: row.shown }));
}

/** A row of one selection that the other one lacks. */
async function firstBut(
  connection: Connection,
  some: string,
  others: string,
): Promise<string | null> {
  const { rows } = await connection.query<{ readonly row: string }>(
    `select row_to_json(left_over)::text as row from (${some} except all ${others}) as left_over limit 1`,
  );
  return rows[0]?.row ?? null;
}
