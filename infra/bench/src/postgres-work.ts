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

/** Asks PostgreSQL what it has done so far. */
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
 * The work between two moments, for each entry. Its sessions tell their counts up to a second late, so
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
