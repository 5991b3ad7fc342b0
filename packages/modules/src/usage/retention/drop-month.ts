import type { FillSession } from '@counterfoil/engine/define';
import { monthNamed } from '../month.ts';

/** Measures that are still being completed need the events of every month. */
export async function areMeasuresComplete({ query, schema }: FillSession): Promise<boolean> {
  const { rows } = await query(
    `select from ${schema}.measure where not is_complete and not is_retired limit 1`,
  );
  return rows.length === 0;
}

/**
 * Drops the events of a month, in the transaction of the caller. What they add up to by the hour stays, and what readers have to know:
 * of which names there were some, and when. False while a measure is not complete.
 */
export async function dropMonth(session: FillSession, month: string): Promise<boolean> {
  if (!(await areMeasuresComplete(session))) return false;
  const { query, schema } = session;
  const relation = `${schema}.${monthNamed(month).name}`;
  // What readers were told when it came back the last time is over.
  await query(`delete from ${schema}.dropped_usage where month = '${month}' or until < now()`);
  await query(
    `insert into ${schema}.dropped_usage (environment, name, month, events, first_at, last_at)
     select environment, name, '${month}', count(*), min(at), max(at) from ${relation}
      group by environment, name`,
  );
  await query(`insert into ${schema}.dropped_month (month) values ('${month}')`);
  // Last, because it waits for readers, and holds up those that come meanwhile.
  await query(`drop table ${relation}`);
  return true;
}
