import {
  aggregate,
  createdStamps,
  type Decision,
  type EventOf,
  instantSchema,
  invalidOperation,
  Problem,
  type RecordStamps,
  type Stamped,
  updatedStamps,
  writable,
} from '@counterfoil/kernel';
import { z } from 'zod';

/** The state of the past deliveries that are to be delivered again. */
export const recoveredStateSchema = z.enum(['failed', 'skipped', 'missing']);

/** The work of the delivery worker beyond what events ask for. */
const workSchema = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('test'), event_type: z.string() }),
  z.object({ kind: z.literal('resend'), message_id: z.string() }),
  z.object({
    kind: z.literal('recover'),
    since: instantSchema,
    until: instantSchema,
    states: z.array(recoveredStateSchema),
  }),
]);
export type TaskWork = z.output<typeof workSchema>;

const events = {
  WebhookTaskRequested: z.object({ id: z.string(), endpoint_id: z.string(), work: workSchema }),
  WebhookTaskCancelled: z.object({}),
};
/** An event of a task. */
export type TaskEvent = EventOf<typeof events>;

/** A task as the log knows it. How far it has come stands in a table of the worker. */
export interface Task extends RecordStamps {
  readonly id: string;
  readonly status: 'published';
  readonly endpoint_id: string;
  readonly work: TaskWork;
  readonly is_cancelled: boolean;
}

/** Null until the task has been asked for. */
export type TaskState = Task | null;

function evolve(state: TaskState, event: Stamped<TaskEvent>): TaskState {
  if (event.type === 'WebhookTaskRequested') {
    const { data, stamp } = event;
    return { ...data, ...createdStamps(stamp), status: 'published', is_cancelled: false };
  }
  if (state === null) return state;
  switch (event.type) {
    case 'WebhookTaskCancelled':
      return { ...state, ...updatedStamps(event.stamp), is_cancelled: true };
    default:
      return event satisfies never;
  }
}

/** Something that the delivery worker is asked to do once: a test, a resending, a recovery. */
export const webhookTask = aggregate({
  name: 'webhook_task',
  scope: 'environment',
  clock: 'system',
  events,
  initial: null as TaskState,
  evolve,
});

/** A decision about a task. */
export type TaskDecision = Decision<TaskState, TaskEvent>;

/** The task, if there is one; else 404. */
export const requireTask = (state: TaskState, id: string): Task =>
  writable(state, 'webhook task', id);

/** Asks for a task. 409 when the id is taken. */
export const requestTask =
  (id: string, endpointId: string, work: TaskWork): TaskDecision =>
  (state) => {
    if (state !== null) {
      throw new Problem('already_exists', `There is already a webhook task ${id}.`);
    }
    return [{ type: 'WebhookTaskRequested', data: { id, endpoint_id: endpointId, work } }];
  };

/**
 * Ends a recovery where it is; deliveries that it has queued stay. No event when it was cancelled.
 */
export const cancelTask =
  (id: string): TaskDecision =>
  (state) => {
    const { work, is_cancelled } = requireTask(state, id);
    if (work.kind !== 'recover') {
      throw invalidOperation(
        'Only a recovery can be cancelled: other tasks are a single message.',
        {
          reason: 'unsuitable',
        },
      );
    }
    return is_cancelled ? [] : [{ type: 'WebhookTaskCancelled', data: {} }];
  };
