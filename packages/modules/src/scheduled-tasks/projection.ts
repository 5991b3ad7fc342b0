import { recordProjection } from '@counterfoil/engine/define';
import { existing } from '@counterfoil/kernel';
import { type ScheduledTaskState, scheduledTask } from './scheduled-task.ts';
import type { ScheduledTaskResource } from './schema.ts';

/** The task as the API shows it. The contract shows nobody who made it (E 4.18). */
export function scheduledTaskView(state: ScheduledTaskState): ScheduledTaskResource {
  const {
    created_by: _,
    updated_by: __,
    next_at,
    closed_until,
    ...task
  } = existing(state, 'scheduled task');
  return { ...task, next_run_at: next_at, exported_until: closed_until };
}

/** One row per scheduled task. */
export const scheduledTaskTable = recordProjection(scheduledTask, {
  name: 'scheduled_tasks',
  version: 1,
  view: scheduledTaskView,
  columns: {
    connection_id: { type: 'text', of: (shown) => shown.connection_id },
    entity_type: { type: 'text', of: (shown) => shown.entity_type },
    interval: { type: 'text', of: (shown) => shown.interval },
    enabled: { type: 'boolean', of: (shown) => shown.enabled },
    next_at: { type: 'timestamptz', of: (shown) => shown.next_run_at, index: true },
  },
});
