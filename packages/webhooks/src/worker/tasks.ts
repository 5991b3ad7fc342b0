import type { Connection } from '@counterfoil/engine';
import { sleep } from '@counterfoil/engine';
import { wantsType } from '../endpoint/event-types.ts';
import { groupsOf, planDeliveries, type Target, type Wanted } from '../queue/fan-out-plan.ts';
import { insertDeliveries, readOpenGroups } from '../queue/fan-out-store.ts';
import { startHeadOfLine } from '../queue/ordering.ts';
import { withQueueLock } from '../queue/queue-lock.ts';
import {
  insertTestMessage,
  latestBody,
  nextTask,
  type OpenTask,
  type PastMessage,
  queueByHand,
  readPast,
  recordStep,
  requeue,
  type Step,
} from '../queue/task-store.ts';
import type { EndpointCache } from './endpoint-cache.ts';
import { type Loop, type LoopOptions, startLoop, untilNext } from './loop.ts';

/** The parts of the loop that carries out tasks. */
export interface TasksOptions extends LoopOptions {
  readonly endpoints: EndpointCache;
  /** Milliseconds between two looks for tasks. */
  readonly intervalMs: number;
  /** Called when deliveries have become due. */
  readonly onDue: () => void;
}

/** Messages that one step of a recovery looks at. */
const stepMaximum = 500;

/** Starts to carry out tasks: tests, resendings, recoveries. */
export function startTasks(options: TasksOptions): Loop {
  return startLoop(options, async ({ connection, signal, succeeded }) => {
    while (!signal.aborted) {
      const hasWorked = await workOnNext(connection, options.endpoints);
      succeeded();
      if (hasWorked) options.onDue();
      else await sleep(untilNext(options.intervalMs), signal);
    }
  });
}

/**
 * Brings one task a step further; false when there is none. Several workers may try: the lock lets
 * one at a time. It is not taken as long as there is nothing to do.
 */
export async function workOnNext(
  connection: Connection,
  endpoints: EndpointCache,
): Promise<boolean> {
  if ((await nextTask(connection)) === null) return false;
  return await withQueueLock(connection, 'queue', async () => {
    const task = await nextTask(connection);
    if (!task) return false;
    const targets = await endpoints.targets(connection, [task.environment_id]);
    const target = targets.find(({ id }) => id === task.endpoint_id);
    await recordStep(connection, task, await stepOf(connection, task, target));
    return true;
  });
}

async function stepOf(
  connection: Connection,
  task: OpenTask,
  target: Target | undefined,
): Promise<Step> {
  if (task.is_cancelled) return { state: 'cancelled' };
  if (!target) return { state: 'refused', detail: 'The endpoint has been deleted.' };
  if (!target.enabled) return { state: 'refused', detail: 'The endpoint is disabled.' };
  switch (task.kind) {
    case 'test':
      return await sendTest(connection, task);
    case 'resend':
      return await resend(connection, task);
    case 'recover':
      return await recover(connection, task, target);
    default:
      return task.kind satisfies never;
  }
}

/** A sample is the last real message of its type, so that it looks as real ones will. */
async function sendTest(connection: Connection, task: OpenTask): Promise<Step> {
  const type = task.event_type ?? '';
  const latest = await latestBody(connection, task.environment_id, type);
  const sample = latest === null ? {} : (JSON.parse(latest) as object);
  const body = JSON.stringify({ ...sample, event_type: type, test: true });
  const id = `evt_test_${task.id.split('_')[1]}`;
  await insertTestMessage(connection, task, { id, type, body });
  await queueByHand(connection, task, id, 'test');
  return { state: 'finished', examined: 1, queued: 1, messageId: id };
}

async function resend(connection: Connection, task: OpenTask): Promise<Step> {
  const isThere = await queueByHand(connection, task, task.message_id ?? '', 'resend');
  return isThere
    ? { state: 'finished', examined: 1, queued: 1 }
    : { state: 'refused', detail: 'The message is no longer kept.' };
}

/** Tells whether a message of the past is one that is to be delivered again. */
function isAsked(message: PastMessage, { states }: OpenTask, target: Target): boolean {
  switch (message.deliveryState) {
    case null:
      return states?.includes('missing') === true && wantsType(target.eventTypes, message.type);
    case 'exhausted':
      return states?.includes('failed') === true;
    case 'skipped':
      return states?.includes('skipped') === true;
    default:
      return false;
  }
}

/**
 * Deliveries that had ended go back to their place in the order, new ones behind those that wait.
 */
async function recover(connection: Connection, task: OpenTask, target: Target): Promise<Step> {
  const { messages, reached, isLast } = await readPast(connection, task, stepMaximum);
  const wanted: Wanted<PastMessage>[] = messages
    .filter((message) => isAsked(message, task, target))
    .map((message) => ({ message, target }));
  const groups = groupsOf(wanted);
  const open = await readOpenGroups(connection, groups);
  const planned = planDeliveries(wanted, open);
  const ended = wanted.flatMap(({ message: { deliveryId } }, index) => {
    const delivery = planned[index];
    return deliveryId === null || !delivery ? [] : [{ id: deliveryId, planned: delivery }];
  });
  const missing = planned.filter((_, index) => wanted[index]?.message.deliveryId === null);
  await requeue(connection, ended);
  if (missing.length > 0) await insertDeliveries(connection, missing, 'recovery');
  // Another one may be the first that waits now.
  await startHeadOfLine(connection, groups);
  return {
    state: isLast ? 'finished' : 'running',
    reached: reached ?? task.reached,
    examined: messages.length,
    queued: wanted.length,
  };
}
