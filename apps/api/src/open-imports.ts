import type { Connection } from '@counterfoil/engine';
import type { EnvironmentId, TenantId } from '@counterfoil/kernel';
import { uploadOf } from '@counterfoil/modules';

/** An import that is to be looked at. */
export interface FoundImport {
  readonly id: string;
  readonly tenant_id: TenantId;
  readonly environment_id: EnvironmentId;
}

/** Imports that one look takes. */
const foundMaximum = 100;

/** In a new installation the projector makes the table a moment later. */
async function isThere(connection: Connection): Promise<boolean> {
  const { rows } = await connection.query<{ known: boolean }>(
    "select to_regclass('counterfoil.tasks') is not null as known",
  );
  return rows[0]?.known ?? false;
}

/** The imports that wait or were begun: of each tenant the oldest first, and no tenant behind all of another's. */
export async function runnableImports(connection: Connection): Promise<readonly FoundImport[]> {
  if (!(await isThere(connection))) return [];
  const { rows } = await connection.query<FoundImport>(
    `select id, tenant_id, environment_id
       from (select id, tenant_id, environment_id, runnable_since,
                    row_number() over (partition by tenant_id order by runnable_since) as place
               from counterfoil.tasks where runnable_since is not null) as waiting
      order by place, runnable_since limit ${foundMaximum}`,
  );
  return rows;
}

/** The imports that have waited for a file for so many hours, of which nothing has come, or nothing is left. */
export async function abandonedImports(
  connection: Connection,
  hours: number,
): Promise<readonly FoundImport[]> {
  if (!(await isThere(connection))) return [];
  const { rows } = await connection.query<FoundImport>(
    `select id, tenant_id, environment_id from counterfoil.tasks as task
      where task_type = 'IMPORT' and task_status = 'PENDING' and runnable_since is null
        and created_at < now() - make_interval(hours => $1)
        and not exists (select from counterfoil.file
                         where environment_id = task.environment_id and name = task.id || $2)
      order by created_at limit ${foundMaximum}`,
    [hours, uploadOf('', '').name],
  );
  return rows;
}
