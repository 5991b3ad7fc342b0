import { existing } from '@counterfoil/kernel';
import type { ExportRun, ExportRunState } from './export-run.ts';

/** The run as a task, as `GET /tasks` shows it (E 23.2; D79, D84). */
export function exportRunView(state: ExportRunState) {
  const run = existing(state, 'run of an export');
  const { tenant_id, environment_id, created_at, created_by, updated_at, updated_by } = run;
  const [file] = run.completed?.files ?? [];
  return {
    id: run.id,
    ...{ tenant_id, environment_id, created_at, created_by, updated_at, updated_by },
    status: 'published' as const,
    task_type: 'EXPORT' as const,
    entity_type: run.entity_type,
    task_status: run.task_status,
    scheduled_task_id: run.scheduled_task_id,
    ...(file ? { file_name: file.key, file_bytes: file.bytes, file_sha256: file.sha256 } : {}),
    ...(run.completed ? { total_records: run.rows } : {}),
    processed_records: run.rows,
    successful_records: run.rows,
    failed_records: 0,
    ...(run.error === null ? {} : { error_summary: run.error }),
    line: 0,
    read_bytes: 0,
    ...(run.started_at === null ? {} : { started_at: run.started_at }),
    ...endOf(run),
    metadata: metadataOf(run),
  };
}

const endOf = ({ task_status, ended_at }: ExportRun) => {
  if (ended_at === null) return {};
  if (task_status === 'COMPLETED') return { completed_at: ended_at };
  return task_status === 'FAILED' ? { failed_at: ended_at } : {};
};

/** The window, and of a run that is completed what was written. */
function metadataOf({ start, end, attempts, retry_at, is_scheduled, completed }: ExportRun) {
  const bytes = completed?.files.reduce((sum, file) => sum + file.bytes, 0);
  return {
    start_time: start,
    end_time: end,
    mode: is_scheduled ? 'scheduled' : 'requested',
    attempts: String(attempts),
    ...(retry_at === null ? {} : { retry_at }),
    ...(completed
      ? {
          file_size: String(bytes),
          manifest_key: completed.manifest_key,
          generation: String(completed.generation),
          written: String(completed.is_new),
          ...(completed.late_rows === null ? {} : { late_rows: String(completed.late_rows) }),
        }
      : {}),
  };
}
