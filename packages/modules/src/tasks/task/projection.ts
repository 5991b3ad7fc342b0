import { recordProjection } from '@counterfoil/engine/define';
import { type ImportTask, importTask } from './task.ts';
import { taskView } from './view.ts';

/** Tells whether an import has everything that it needs to be carried out, and has not ended. */
export const isRunnable = ({ task_status, file, file_url }: ImportTask): boolean =>
  task_status === 'PROCESSING' ||
  (task_status === 'PENDING' && (file !== null || file_url !== null));

/** One row per task. */
export const taskTable = recordProjection(importTask, {
  name: 'tasks',
  version: 1,
  view: taskView,
  columns: {
    task_type: { type: 'text', of: ({ task_type }) => task_type },
    task_status: { type: 'text', of: ({ task_status }) => task_status },
    entity_type: { type: 'text', of: ({ entity_type }) => entity_type },
    scheduled_task_id: {
      type: 'text',
      of: ({ scheduled_task_id }) => scheduled_task_id,
      index: true,
    },
    created_by: { type: 'text', of: ({ created_by }) => created_by },
    /** Of an import that is to be carried out, when it was asked for: how processes of the api find their work. */
    runnable_since: {
      type: 'timestamptz',
      of: ({ created_at }, row) => (row && isRunnable(row) ? created_at : null),
      index: true,
    },
  },
});
