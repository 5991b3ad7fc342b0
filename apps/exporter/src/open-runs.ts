import { type Connection, schemaName } from '@counterfoil/engine';
import { exportRunTable } from '@counterfoil/modules';

/** A run that may be carried out now. */
export interface OpenRun {
  readonly id: string;
  readonly tenant_id: string;
  readonly environment_id: string;
  readonly position: string;
}

/** Runs that are taken at once. */
const runsMaximum = 32;

/** Runs that are known to the exporter. */
export interface KnownRuns {
  /** Those that wait, and hold back the later windows of their tasks. */
  readonly resting: readonly string[];
  /** Those that have ended, also where the table does not show it yet. */
  readonly ended: readonly string[];
}

/**
 * The runs that may be carried out: of each scheduled task its earliest window that is not done, unless that is to wait, and every
 * run that somebody asked for. Tenants take turns, and of each the longest open one is first.
 */
export async function openRuns(
  connection: Connection,
  { resting, ended }: KnownRuns,
): Promise<readonly OpenRun[]> {
  const { rows } = await connection.query<OpenRun>(
    `select id, tenant_id, environment_id, position from (
       select distinct on (scheduled_task_id, case when is_scheduled then '' else id end)
              id, tenant_id, environment_id, position, retry_at, open_until
         from ${schemaName}.${exportRunTable.name}
        where open_until is not null and id <> all($2::text[])
        order by scheduled_task_id, case when is_scheduled then '' else id end, open_until, id) as first
      where (retry_at is null or retry_at <= now()) and id <> all($1::text[])
      order by row_number() over (partition by tenant_id order by open_until, id), open_until, id
      limit ${runsMaximum}`,
    [resting, ended],
    { prepared: true },
  );
  return rows;
}
