import {
  type Change,
  type PublicEvent,
  type PublicEventTypes,
  publicEvents,
} from '@counterfoil/engine/define';
import { z } from 'zod';
import { exportRun, exportRunView } from '../../scheduled-tasks/index.ts';
import type { TaskEvent } from './events.ts';
import { taskSchema } from './schema.ts';
import { importTask, type TaskState } from './task.ts';
import { taskView } from './view.ts';

/** Progress is looked up, and not told: an import would make hundreds of messages. */
const messages = {
  ImportCreated: 'task.created',
  ImportFileReceived: null,
  ImportStarted: null,
  ImportProgressed: null,
  ImportCompleted: 'task.completed',
  ImportFailed: 'task.failed',
  ImportResumed: null,
} as const satisfies Readonly<Record<TaskEvent['type'], string | null>>;

function taskMessages({ event, after }: Change<TaskState, TaskEvent>): readonly PublicEvent[] {
  const type = messages[event.type];
  if (!after || type === null) return [];
  return [{ type, resourceId: after.id, body: { task: taskView(after) } }];
}

const body = z.object({ task: taskSchema });

const types = {
  'task.created': { summary: 'An import or a run of an export is asked for', body },
  'task.completed': { summary: 'A task has ended; some of its rows may be bad', body },
  'task.failed': { summary: 'A task cannot go on, or was stopped', body },
} satisfies PublicEventTypes;

/** The public events of tasks. */
export const taskPublicEvents = publicEvents(importTask, taskMessages, types);

/** A run of an export that has failed is told once, however often it is tried again (D84). */
export const exportRunPublicEvents = publicEvents(
  exportRun,
  ({ event, after }) =>
    after && event.type === 'ExportAttemptFailed' && event.data.is_failure
      ? [{ type: 'task.failed', resourceId: after.id, body: { task: exportRunView(after) } }]
      : [],
  { 'task.failed': types['task.failed'] },
);
