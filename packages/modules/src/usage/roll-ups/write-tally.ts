import type { FillSession } from '@counterfoil/engine/define';
import { columnOf, type DigestRow, type GroupRow, type HourRow, type Tally } from './tally.ts';

/** Adds what events add up to to what is there. */
export async function writeTally(session: FillSession, tally: Tally): Promise<void> {
  const { hours, distinct, buckets, groups } = tally;
  if (hours.length > 0) await addHours(session, hours);
  if (distinct.length > 0) await addDistinct(session, distinct);
  if (buckets.length > 0) await addBuckets(session, buckets);
  if (groups.length > 0) await addGroups(session, groups);
}

const keysOf = (
  rows: readonly (HourRow | DigestRow | GroupRow)[],
): readonly (readonly unknown[])[] => [
  rows.map(({ measure }) => measure.environment),
  rows.map(({ measure }) => measure.number),
  rows.map(({ account }) => account),
  rows.map(({ start }) => start),
];

const latestColumns = ['latest', 'latest_at', 'latest_position', 'latest_number'];

/** The later one by time and, at one instant, in the log. */
const keepLatest = (column: string): string =>
  `${column} = case when (excluded.latest_at, excluded.latest_position, excluded.latest_number)
                       > (kept.latest_at, kept.latest_position, kept.latest_number)
                    then excluded.${column} else kept.${column} end`;

async function addHours({ query, schema }: FillSession, rows: readonly HourRow[]): Promise<void> {
  await query(
    `insert into ${schema}.hourly as kept
       (environment, measure, account, hour, count, total, moment, greatest,
        latest, latest_at, latest_position, latest_number)
     select * from unnest($1::int[], $2::int[], $3::bigint[], $4::timestamptz[], $5::bigint[],
                          $6::numeric[], $7::numeric[], $8::numeric[],
                          $9::numeric[], $10::timestamptz[], $11::bigint[], $12::int[])
         on conflict (measure, account, hour) do update set
            count = kept.count + excluded.count,
            total = kept.total + excluded.total,
            moment = kept.moment + excluded.moment,
            greatest = greatest(kept.greatest, excluded.greatest),
            ${latestColumns.map(keepLatest).join(', ')}`,
    [
      ...keysOf(rows),
      rows.map(({ count }) => count),
      rows.map(({ total }) => columnOf(total)),
      rows.map(({ moment }) => columnOf(moment)),
      rows.map(({ greatest }) => columnOf(greatest)),
      rows.map(({ latest }) => columnOf(latest?.value ?? null)),
      rows.map(({ latest }) => latest?.at ?? null),
      rows.map(({ latest }) => latest?.position ?? null),
      rows.map(({ latest }) => latest?.number ?? null),
    ],
  );
}

async function addDistinct(
  { query, schema }: FillSession,
  rows: readonly DigestRow[],
): Promise<void> {
  await query(
    `insert into ${schema}.distinct_value (environment, measure, account, hour, value)
     select * from unnest($1::int[], $2::int[], $3::bigint[], $4::timestamptz[], $5::uuid[])
         on conflict do nothing`,
    [...keysOf(rows), rows.map(({ digest }) => digest)],
  );
}

async function addBuckets(
  { query, schema }: FillSession,
  rows: readonly DigestRow[],
): Promise<void> {
  await query(
    `insert into ${schema}.bucket as kept (environment, measure, account, start, grouped, greatest)
     select * from unnest($1::int[], $2::int[], $3::bigint[], $4::timestamptz[], $5::uuid[], $6::numeric[])
         on conflict (measure, account, start, grouped)
         do update set greatest = excluded.greatest where excluded.greatest > kept.greatest`,
    [
      ...keysOf(rows),
      rows.map(({ digest }) => digest),
      rows.map(({ greatest }) => columnOf(greatest)),
    ],
  );
}

async function addGroups({ query, schema }: FillSession, rows: readonly GroupRow[]): Promise<void> {
  const digests = rows.map(({ digest }) => digest);
  await query(
    `insert into ${schema}.grouped as kept (environment, measure, account, hour, value, count, total)
     select * from unnest($1::int[], $2::int[], $3::bigint[], $4::timestamptz[], $5::uuid[],
                          $6::bigint[], $7::numeric[])
         on conflict (measure, account, hour, value)
         do update set count = kept.count + excluded.count, total = kept.total + excluded.total`,
    [
      ...keysOf(rows),
      digests,
      rows.map(({ count }) => count),
      rows.map(({ total }) => columnOf(total)),
    ],
  );
  const named = new Map(rows.map((row) => [`${row.measure.number} ${row.digest}`, row]));
  const values = [...named.values()];
  await query(
    `insert into ${schema}.group_value (environment, measure, value, text)
     select * from unnest($1::int[], $2::int[], $3::uuid[], $4::text[]) on conflict do nothing`,
    [
      values.map(({ measure }) => measure.environment),
      values.map(({ measure }) => measure.number),
      values.map(({ digest }) => digest),
      // In JSON: a text can have characters that a column cannot.
      values.map(({ text }) => (text === null ? null : JSON.stringify(text))),
    ],
  );
}
