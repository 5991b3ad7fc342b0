import { existing, withoutNulls } from '@counterfoil/kernel';
import type { Task } from './schema.ts';
import { rowsDone, type TaskState } from './task.ts';

/** The task as the API shows it. */
export function taskView(state: TaskState): Task {
  const task = existing(state, 'task');
  const { key_id: _, file, successful, failed, bad_bytes: __, ...record } = task;
  const processed = rowsDone(task);
  return {
    ...withoutNulls(record),
    task_type: 'IMPORT',
    ...(record.task_status === 'COMPLETED' && { total_records: processed }),
    processed_records: processed,
    successful_records: successful,
    failed_records: failed,
    ...(file && { file_bytes: file.bytes, file_sha256: file.sha256 }),
  };
}
