import { Client } from 'pg';

/** Bytes of PostgreSQL's log that one kind of record took, for one table or index. */
interface Cause {
  /** The table or index; null for records that are about none. */
  readonly relation: string | null;
  readonly kind: string;
  readonly records: number;
  readonly bytes: number;
  /** Those of them that are whole pages: the first change of a page after a checkpoint. */
  readonly pages: number;
}

/** The place in the log and what came in between are for superusers: here the one of the embedded server. */
async function asSuperuser<Result>(
  databaseUrl: string,
  work: (client: Client) => Promise<Result>,
): Promise<Result> {
  const url = new URL(databaseUrl);
  url.username = 'postgres';
  const client = new Client({ connectionString: url.href });
  await client.connect();
  try {
    return await work(client);
  } finally {
    await client.end();
  }
}

/** The end of the log, as PostgreSQL writes it. */
export const endOfLog = (databaseUrl: string): Promise<string> =>
  asSuperuser(databaseUrl, async (client) => {
    // Here, so that its own records come before the place.
    await client.query('create extension if not exists pg_walinspect');
    const { rows } = await client.query<{ place: string }>(
      'select pg_current_wal_insert_lsn()::text as place',
    );
    return rows[0]?.place ?? '0/0';
  });

const causes = `
  with record as (
    select start_lsn, resource_manager || ' ' || record_type as kind, record_length, fpi_length
      from pg_get_wal_records_info($1, pg_current_wal_flush_lsn())),
  place as (
    select distinct on (start_lsn) start_lsn, relfilenode
      from pg_get_wal_block_info($1, pg_current_wal_flush_lsn(), false)
     where reldatabase = (select oid from pg_database where datname = current_database())
     order by start_lsn, block_id)
  select class.relname as relation, record.kind, count(*)::int as records,
         sum(record_length)::float8 as bytes, sum(fpi_length)::float8 as pages
    from record left join place using (start_lsn)
         left join pg_class as class on pg_relation_filenode(class.oid) = place.relfilenode
   group by 1, 2 order by 4 desc`;

/** The log since a place, by cause. Throws when PostgreSQL keeps that part of it no longer. */
export const logSince = (databaseUrl: string, place: string): Promise<readonly Cause[]> =>
  asSuperuser(databaseUrl, async (client) => {
    const { rows } = await client.query<Cause>(causes, [place]);
    return rows;
  });

/** The causes as a table that a person can read, per entry, the greatest first. */
export function describeLog(title: string, found: readonly Cause[], entries: number): string {
  const per = (figure: number): string => (figure / Math.max(1, entries)).toFixed(2).padStart(9);
  const total = found.reduce((sum, { bytes }) => sum + bytes, 0);
  const lines = found.map(
    ({ relation, kind, records, bytes, pages }) =>
      `${per(bytes)} ${per(pages)} ${per(records)}  ${kind} of ${relation ?? 'no table'}`,
  );
  return [
    `# ${title}`,
    '',
    `PostgreSQL's log: ${(total / Math.max(1, entries)).toFixed(0)} bytes per entry, with ${entries} entries.`,
    '',
    '    bytes     pages   records  per entry',
    ...lines,
    '',
  ].join('\n');
}
