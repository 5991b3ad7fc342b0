import { setTimeout as pause } from 'node:timers/promises';
import { Client } from 'pg';
import type { Figure } from './report.ts';

/** Counts of PostgreSQL since it was started. */
export interface PostgresWork {
  /** Bytes of its write-ahead log. */
  readonly log: number;
  /** Transactions, statements outside of one among them. */
  readonly commits: number;
  /** Updates of rows that hold nothing but how far something has come. */
  readonly positions: number;
  /** Rows of the ledger's read table that were added. */
  readonly entries: number;
}

const positionTables = [
  'filling',
  'projection',
  'projector',
  'reaction',
  'relay_checkpoint',
  'webhook_position',
] as const;

const counts = `
  select pg_wal_lsn_diff(pg_current_wal_insert_lsn(), '0/0')::float8 as log,
         (select xact_commit::float8 from pg_stat_database
           where datname = current_database()) as commits,
         coalesce(sum(n_tup_upd) filter (where relname = any($1)), 0)::float8 as positions,
         coalesce(sum(n_tup_ins) filter (where relname in (
           select relation from counterfoil.projection where name = 'wallet_transactions'
         )), 0)::float8 as entries
    from pg_stat_user_tables where schemaname = 'counterfoil'`;

/** A session that has nothing to do tells its counts after ten seconds. */
const toldAfterMilliseconds = 11_000;

/** Asks PostgreSQL what it has done so far, once all of its sessions have told what they did. */
export async function exactPostgresWork(databaseUrl: string): Promise<PostgresWork> {
  await pause(toldAfterMilliseconds);
  return await postgresWork(databaseUrl);
}

/** Asks PostgreSQL what it has done so far, as far as its sessions have told. */
export async function postgresWork(databaseUrl: string): Promise<PostgresWork> {
  const client = new Client({ connectionString: databaseUrl });
  await client.connect();
  try {
    const { rows } = await client.query<PostgresWork>(counts, [positionTables]);
    if (!rows[0]) throw new Error('PostgreSQL has told no counts.');
    return rows[0];
  } finally {
    await client.end();
  }
}

/**
 * The work between two moments, for each entry. Sessions at work tell their counts a second late and others ten, so
 * commits and updates are divided by the entries that were counted with them; the log is exact.
 */
export function workPerEntry(
  before: PostgresWork,
  after: PostgresWork,
  entries: number,
): readonly Figure[] {
  const of = (name: keyof PostgresWork): number => after[name] - before[name];
  const counted = Math.max(1, of('entries'));
  return [
    {
      name: "PostgreSQL's log",
      value: of('log') / Math.max(1, entries),
      unit: 'bytes per entry',
    },
    { name: 'commits', value: of('commits') / counted, unit: 'per entry' },
    { name: 'updates of position rows', value: of('positions') / counted, unit: 'per entry' },
  ];
}
