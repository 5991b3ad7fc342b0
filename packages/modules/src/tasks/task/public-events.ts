import {
  type Change,
  type PublicEvent,
  type PublicEventTypes,
  publicEvents,
} from '@counterfoil/engine/define';
import { z } from 'zod';
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

const types: PublicEventTypes = {
  'task.created': { summary: 'An import or a run of an export is asked for', body },
  'task.completed': { summary: 'A task has ended; some of its rows may be bad', body },
  'task.failed': { summary: 'A task cannot go on, or was stopped', body },
};

/** The public events of tasks. */
export const taskPublicEvents = publicEvents(importTask, taskMessages, types);
