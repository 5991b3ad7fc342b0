import { listShape } from '@counterfoil/engine/define';
import {
  instantSchema,
  recordStampsShape,
  recordStatusSchema,
  referenceSchema,
} from '@counterfoil/kernel';
import { z } from 'zod';
import { offeredTypeSchema, testType } from '../endpoint/event-types.ts';
import { recoveredStateSchema, type Task, type TaskWork } from './task.ts';

/** The state of a task. `refused`: its message or endpoint is no longer there. */
const taskStateSchema = z.enum(['queued', 'running', 'finished', 'cancelled', 'refused']);

/** The progress of a task, from the worker's own table. */
export const taskProgressSchema = z.object({
  state: taskStateSchema,
  examined: z.number().int().meta({ description: 'Messages that were looked at' }),
  queued: z.number().int().meta({ description: 'Deliveries that were put into the queue' }),
  message_id: z.string().nullable().meta({ description: 'Of a test: the message that was made' }),
  detail: z.string().nullable(),
  finished_at: instantSchema.nullable(),
});
export type TaskProgress = z.output<typeof taskProgressSchema>;

/** A task of which the worker knows nothing yet. */
export const noProgress: TaskProgress = {
  state: 'queued',
  examined: 0,
  queued: 0,
  message_id: null,
  detail: null,
  finished_at: null,
};

const requestedSchema = z.object({
  ...recordStampsShape,
  status: recordStatusSchema,
  kind: z.enum(['test', 'resend', 'recover']),
  endpoint_id: z.string(),
  event_type: z.string().nullable(),
  message_id: z.string().nullable(),
  since: instantSchema.nullable(),
  until: instantSchema.nullable(),
  states: z.array(recoveredStateSchema).nullable(),
  is_cancelled: z.boolean(),
});
export type RequestedTask = z.output<typeof requestedSchema>;

/** A task with its progress, as the API shows it. */
export const taskSchema = z
  .object({ ...requestedSchema.shape, progress: taskProgressSchema })
  .meta({ id: 'WebhookTask' });
export type TaskResource = z.output<typeof taskSchema>;

type OfWork = 'event_type' | 'message_id' | 'since' | 'until' | 'states';
const noWork = { event_type: null, message_id: null, since: null, until: null, states: null };

function workMembers(work: TaskWork): Pick<RequestedTask, OfWork> {
  switch (work.kind) {
    case 'test':
      return { ...noWork, event_type: work.event_type };
    case 'resend':
      return { ...noWork, message_id: work.message_id };
    case 'recover':
      return { ...noWork, since: work.since, until: work.until, states: work.states };
    default:
      return work satisfies never;
  }
}

/** The resource of a task, without its progress. */
export const requestedTask = ({ work, ...task }: Task): RequestedTask => ({
  ...task,
  kind: work.kind,
  ...workMembers(work),
});

/** The whole resource. A cancellation counts at once, also while the worker has not seen it. */
export function taskResource(requested: RequestedTask, progress: TaskProgress): TaskResource {
  const isOpen = progress.state === 'queued' || progress.state === 'running';
  const state = requested.is_cancelled && isOpen ? 'cancelled' : progress.state;
  return { ...requested, progress: { ...progress, state } };
}

/** The body that asks for a test, with one of the types that are offered. */
export const testBodySchema = (offered: ReadonlySet<string>) =>
  z
    .object({
      event_type: z
        .union([offeredTypeSchema(offered), z.literal(testType)])
        .default(testType)
        .meta({ description: 'The type to send a sample of' }),
    })
    .meta({ id: 'TestWebhookEndpoint' });

/** The body that asks for a recovery. */
export const recoverBodySchema = z
  .object({
    since: instantSchema.meta({ description: 'Events that happened at this instant or later' }),
    until: instantSchema.optional().meta({ description: 'And before this one; left out: now' }),
    states: z
      .array(recoveredStateSchema)
      .min(1)
      .max(3)
      .transform((states) => [...new Set(states)])
      .default(['failed', 'skipped'])
      .meta({
        description:
          'failed: given up; skipped: happened while it was disabled; missing: never its delivery, as its filter was another one',
      }),
  })
  .meta({ id: 'RecoverWebhookEndpoint' });

/** The path of a task. */
export const taskPathSchema = z.object({ id: referenceSchema('wtask') });

/** The page and the filters of a list of tasks. */
export const taskListSchema = z.object({
  ...listShape,
  endpoint_id: referenceSchema('webhook').optional(),
});
