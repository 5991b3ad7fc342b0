import type { Connection } from '../database/database.ts';
import type { AnyFactTables } from '../define/intake.ts';
import type { EventStore, Position, StoredEvent } from '../log/types.ts';
import { readerRole } from '../projection/table-shape.ts';
import { fillDecoder, fillPrefixes } from './fill-batch.ts';
import { fillSession } from './fill-session.ts';
import { fillingSchema, quotedSchema, readFillings } from './filling-record.ts';
import { weigherOf, writtenTogether } from './portions.ts';

/** The outcome of a comparison of the tables of one intake with the log. */
export interface FactReport {
  readonly name: string;
  /** Position of the log up to which they were compared. */
  readonly position: Position;
  readonly rows: number;
  /** A sentence about each table that differs, with the first row that does. */
  readonly differences: readonly string[];
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
  const drop = `drop schema if exists ${schema} cascade`;
  await connection.query(drop);
  try {
    await connection.query(`create schema ${schema}`);
    for (const text of tables.create(schema, readerRole)) await connection.query(text);
    const fill = filling(options, schema);
    await connection.query('set synchronous_commit = off');
    await fill(0n, serving.position);
    await connection.query('begin isolation level repeatable read');
    // The last events, and the comparison, see the same state of the tables.
    const now = await servingOf(connection, tables);
    if (!now || quotedSchema(now) !== quotedSchema(serving)) return null;
    await fill(serving.position, now.position);
    const report = await compare(connection, tables, schema, quotedSchema(now));
    return { ...report, name: tables.name, position: now.position };
  } finally {
    await connection.query('rollback');
    await connection.query(drop);
  }
}

const servingOf = async (connection: Connection, { name, version }: AnyFactTables) =>
  (await readFillings(connection)).find(
    (row) => row.name === name && row.version === version && row.serving,
  );

function filling({ store, connection, tables }: VerifyFactsOptions, schema: string) {
  const filler = tables.filler(fillSession(connection, schema));
  const decode = fillDecoder(tables);
  const prefixes = fillPrefixes(tables);
  const weigh = weigherOf(tables);
  return async (after: Position, upTo: Position): Promise<void> => {
    let batch: StoredEvent[] = [];
    let weight = 0;
    const flush = async (): Promise<void> => {
      await filler.take(decode(batch));
      [batch, weight] = [[], 0];
    };
    for await (const event of store.readLog({ prefixes, after, upTo })) {
      batch.push(event);
      weight += weigh(event);
      if (weight >= writtenTogether) await flush();
    }
    await flush();
    while (filler.hasMore) await filler.tend?.();
  };
}

async function compare(
  connection: Connection,
  { compared }: AnyFactTables,
  made: string,
  shown: string,
): Promise<Pick<FactReport, 'rows' | 'differences'>> {
  let rows = 0;
  const differences: string[] = [];
  for (const [table, select] of Object.entries(compared)) {
    const [byLog, seen] = [select(made, shown), select(shown, shown)];
    const counted = await connection.query<{ readonly count: string }>(
      `select count(*) from (${seen}) as seen`,
    );
    rows += Number(counted.rows[0]?.count ?? 0);
    const missing = await firstBut(connection, byLog, seen);
    if (missing !== null) differences.push(`${table}: the log has a row more: ${missing}`);
    const extra = await firstBut(connection, seen, byLog);
    if (extra !== null) differences.push(`${table}: the log has no such row: ${extra}`);
  }
  return { rows, differences };
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
