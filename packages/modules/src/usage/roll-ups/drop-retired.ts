import type { FillSession } from '@counterfoil/engine/define';

/** Rows that one piece takes out. */
const rowsMaximum = 20_000;

/** Takes out a piece of what measures kept that no meter needs any more. False when nothing is left of them. */
export async function dropRetired({ query, schema }: FillSession): Promise<boolean> {
  const { rows } = await query<{ number: number }>(
    `select number from ${schema}.measure where is_retired order by number limit 1`,
  );
  const [measure] = rows;
  if (!measure) return false;
  const tables = ['hourly', 'distinct_value', 'bucket', 'grouped', 'group_value', 'measure_gap'];
  for (const table of tables) {
    const { count } = await query(
      `delete from ${schema}.${table}
        where ctid = any(array(select ctid from ${schema}.${table} where measure = $1 limit ${rowsMaximum}))`,
      [measure.number],
    );
    if (count > 0) return true;
  }
  await query(`delete from ${schema}.measure where number = $1`, [measure.number]);
  return true;
}
