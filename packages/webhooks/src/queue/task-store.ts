import {
  type Connection,
  given,
  literals,
  transactionTime,
  writtenOnce,
} from '@counterfoil/engine';
import { fromJson } from '@counterfoil/engine/define';
import { sql } from 'kysely';
import type { RequestedTask } from '../task/schema.ts';
import type { PlannedDelivery, Routed } from './fan-out-plan.ts';
import {
  afterSeconds,
  asItStands,
  bodyText,
  excluded,
  nextRelease,
  none,
  queue,
} from './schema.ts';

/*
 * What looks through the past is planned again each time: prepared while there is little of it, it
 * would go on sorting all there is when there is much.
 */

/** A task that is not finished, as it was asked for. */
export interface OpenTask extends RequestedTask {
  /** Id of the last message that was looked at. */
  readonly reached: string;
}

const firstUnbegun = writtenOnce(() => {
  const first = queue
    .selectFrom('webhook_tasks as task')
    .select('task.environment_id')
    .orderBy('task.environment_id')
    .limit(1);
  const later = first.where('task.environment_id', '>', sql.ref<string>('previous.environment_id'));
  const begun = queue
    .selectFrom('webhook_task_runs as run')
    .select(({ fn }) => fn.max('run.requested_at').as('last'))
    .where('run.environment_id', '=', sql.ref<string>('environment.environment_id'));
  const begunAs = queue
    .selectFrom('webhook_task_runs as run')
    .select('run.task_id')
    .where('run.task_id', '=', sql.ref<string>('task.id'))
    .offset(asItStands);
  const unbegun = queue
    .selectFrom('webhook_tasks as task')
    .select(['task.resource', 'task.created_at', 'task.id'])
    .where('task.environment_id', '=', sql.ref<string>('environment.environment_id'))
    .where(
      'task.created_at',
      '>=',
      sql<string>`coalesce(begun.last - interval '1 hour', '-infinity')`,
    )
    .where(none(begunAs))
    .orderBy('task.created_at')
    .orderBy('task.id')
    .limit(1);
  return queue
    .withRecursive('environment(environment_id)', (query) =>
      query
        .selectFrom(first.as('first'))
        .selectAll()
        .unionAll((union) =>
          union
            .selectFrom('environment as previous')
            .crossJoinLateral(later.as('later'))
            .selectAll('later'),
        ),
    )
    .selectFrom('environment')
    .crossJoinLateral(begun.as('begun'))
    .crossJoinLateral(unbegun.as('unbegun'))
    .select(['unbegun.resource', sql.lit('').as('reached')])
    .orderBy('unbegun.created_at')
    .orderBy('unbegun.id')
    .limit(1);
});

/** The task that was begun first of those that are not finished. */
const firstRunning = writtenOnce(() =>
  queue
    .selectFrom('webhook_task_runs as run')
    .innerJoin('webhook_tasks as task', (join) =>
      join
        .onRef('task.environment_id', '=', 'run.environment_id')
        .onRef('task.id', '=', 'run.task_id'),
    )
    .select(['task.resource', 'run.reached'])
    .where('run.state', '=', 'running')
    .orderBy('run.started_at')
    .limit(1),
);

/**
 * Takes a task that has not been begun, else one that is not finished; null when there is neither.
 *
 * Tasks come in the order in which they were asked for, but for the differences between the clocks
 * of API processes. So in each environment only those are looked at that are not much older than
 * the last one that was begun: an hour is beyond any clock that can be worked with.
 */
export async function nextTask(connection: Connection): Promise<OpenTask | null> {
  // At once, for mostly both find nothing.
  const [unbegun, running] = await Promise.all([
    connection.run(firstUnbegun, { prepared: true }),
    connection.run(firstRunning, { prepared: true }),
  ]);
  const row = unbegun.rows[0] ?? running.rows[0];
  return row ? { ...fromJson(row.resource), reached: row.reached } : null;
}

/** The progress of a task by one step. */
export interface Step {
  readonly state: 'running' | 'finished' | 'cancelled' | 'refused';
  readonly reached?: string;
  readonly examined?: number;
  readonly queued?: number;
  readonly messageId?: string;
  /** The reason for a refusal. */
  readonly detail?: string;
}

/** Writes down how far a task is. */
export async function recordStep(
  connection: Connection,
  { id, environment_id, created_at }: OpenTask,
  { state, reached = '', examined = 0, queued = 0, messageId, detail }: Step,
): Promise<void> {
  const finished = state === 'running' ? null : transactionTime;
  await connection.run(
    queue
      .insertInto('webhook_task_runs')
      .values({
        task_id: id,
        environment_id,
        state,
        reached,
        examined: String(examined),
        queued: String(queued),
        message_id: messageId ?? null,
        detail: detail ?? null,
        requested_at: created_at,
        finished_at: finished,
      })
      .onConflict((conflict) =>
        conflict.column('task_id').doUpdateSet({
          ...excluded('state', 'detail', 'finished_at'),
          reached: sql<string>`greatest(webhook_task_runs.reached, excluded.reached)`,
          examined: sql<string>`webhook_task_runs.examined + excluded.examined`,
          queued: sql<string>`webhook_task_runs.queued + excluded.queued`,
          message_id: sql<string>`coalesce(excluded.message_id, webhook_task_runs.message_id)`,
        }),
      ),
  );
}

/** A message of the past, with the endpoint's delivery of it, if there is one. */
export interface PastMessage extends Routed {
  readonly deliveryId: string | null;
  readonly deliveryState: string | null;
}

/** A part of the past, in the order of the log. */
export interface Past {
  /** The messages of the part that belong to the period. */
  readonly messages: readonly PastMessage[];
  /** The last message of the part, whether it belongs to the period or not; null when it has none. */
  readonly reached: string | null;
  /** True when there are no messages after this part. */
  readonly isLast: boolean;
}

/**
 * The next messages of a period after one that was reached. Looks at so many messages at most, so
 * that the queue is not held up for long. It begins with those that were stored a day before the
 * period: nothing is stored before it happens, by whatever clock.
 */
export async function readPast(
  connection: Connection,
  task: OpenTask,
  maximum: number,
): Promise<Past> {
  const { environment_id, endpoint_id, reached, since, until } = task;
  const oldest = queue
    .selectFrom('webhook_messages as message')
    .select('message.event_id')
    .where('message.created_at', '>=', sql<string>`${since}::timestamptz - interval '1 day'`)
    .where('message.position', '>', '0')
    .orderBy('message.created_at')
    .orderBy('message.event_id')
    .limit(1);
  const part = queue
    .selectFrom('webhook_messages as message')
    .selectAll()
    .where('message.environment_id', '=', environment_id)
    .where('message.event_id', '>', reached)
    .where('message.position', '>', '0')
    .where('message.event_id', '>=', oldest)
    .orderBy('message.event_id')
    .limit(maximum);
  const { rows } = await connection.run(
    queue
      .selectFrom(part.as('message'))
      .leftJoin('webhook_deliveries as delivery', (join) =>
        join
          .onRef('delivery.event_id', '=', 'message.event_id')
          .on('delivery.endpoint_id', '=', endpoint_id)
          .on('delivery.task_id', '=', ''),
      )
      .select(({ and, eb }) => [
        'message.event_id as id',
        'message.event_type as type',
        'message.position',
        'message.environment_id as environmentId',
        'message.resource_id as resourceId',
        'delivery.id as deliveryId',
        'delivery.state as deliveryState',
        and([eb('message.occurred_at', '>=', since), eb('message.occurred_at', '<', until)]).as(
          'isAsked',
        ),
      ])
      .orderBy('message.event_id'),
  );
  return {
    messages: rows
      .filter(({ isAsked }) => isAsked)
      .map(({ isAsked: _, ...row }) => ({ ...row, position: BigInt(row.position) })),
    reached: rows.at(-1)?.id ?? null,
    isLast: rows.length < maximum,
  };
}

/** Puts deliveries that had ended back into the queue. */
export async function requeue(
  connection: Connection,
  deliveries: readonly { readonly id: string; readonly planned: PlannedDelivery }[],
): Promise<void> {
  if (deliveries.length === 0) return;
  const planned = given('planned', deliveries, {
    id: ['bigint', ({ id }) => id],
    state: ['text', ({ planned: { state } }) => state],
    ordering_key: ['text', ({ planned: { orderingKey } }) => orderingKey],
    head_of_line_seconds: ['integer', ({ planned: { headOfLineSeconds } }) => headOfLineSeconds],
    due_in: ['integer', ({ planned: { dueInSeconds } }) => dueInSeconds],
  });
  await connection.run(
    queue
      .updateTable('webhook_deliveries as delivery')
      .from(planned)
      .set(({ ref }) => ({
        state: ref('planned.state'),
        trigger: 'recovery',
        failures: 0,
        queued_at: transactionTime,
        finished_at: null,
        ordering_key: ref('planned.ordering_key'),
        release_number: sql<string>`case when planned.state = 'pending' then ${nextRelease} end`,
        head_of_line_seconds: ref('planned.head_of_line_seconds'),
        next_at: afterSeconds(ref('planned.due_in')),
      }))
      .whereRef('delivery.id', '=', 'planned.id')
      .where('delivery.state', 'in', literals('exhausted', 'skipped')),
    { prepared: true },
  );
}

/**
 * Queues a message for an endpoint once more, without an ordering key and ahead of everything. False when there
 * is no such message.
 */
export async function queueByHand(
  connection: Connection,
  { id, environment_id, endpoint_id }: OpenTask,
  messageId: string,
  trigger: 'resend' | 'test',
): Promise<boolean> {
  const copied = ['event_id', 'environment_id', 'resource_id'] as const;
  const { count } = await connection.run(
    queue
      .insertInto('webhook_deliveries')
      .columns([...copied, 'endpoint_id', 'trigger', 'task_id', 'state', 'next_at'])
      .expression(({ selectFrom }) =>
        selectFrom('webhook_messages')
          .select(copied)
          .select([
            sql`${endpoint_id}`.as('endpoint_id'),
            sql`${trigger}`.as('trigger'),
            sql`${id}`.as('task_id'),
            sql.lit('pending').as('state'),
            sql.lit('epoch').as('next_at'),
          ])
          .where('environment_id', '=', environment_id)
          .where('event_id', '=', messageId),
      ),
  );
  return count > 0;
}

/** Messages among which a sample is looked for. */
const sampleMaximum = 1_000;

/** The body of the latest message of a type in an environment; null when there is none of late. */
export async function latestBody(
  connection: Connection,
  environmentId: string,
  type: string,
): Promise<string | null> {
  const recent = queue
    .selectFrom('webhook_messages')
    .select(['event_id', 'event_type'])
    .where('environment_id', '=', environmentId)
    .where('position', '>', '0')
    .orderBy('event_id', 'desc')
    .limit(sampleMaximum);
  const latest = queue
    .selectFrom(recent.as('recent'))
    .select('event_id')
    .where('event_type', '=', type)
    .orderBy('event_id', 'desc')
    .limit(1);
  const { rows } = await connection.run(
    queue.selectFrom('webhook_messages').select(bodyText.as('body')).where('event_id', '=', latest),
  );
  return rows[0]?.body ?? null;
}

/** Stores a message that no event of the log has caused: its position is 0. */
export async function insertTestMessage(
  connection: Connection,
  { id, tenant_id, environment_id }: OpenTask,
  message: { readonly id: string; readonly type: string; readonly body: string },
): Promise<void> {
  await connection.run(
    queue.insertInto('webhook_messages').values({
      event_id: message.id,
      tenant_id,
      environment_id,
      event_type: message.type,
      resource_id: 'test',
      position: '0',
      sequence: '0',
      stream: '',
      revision: '0',
      correlation_id: id,
      occurred_at: transactionTime,
      body: sql<string>`convert_to(${message.body}, 'UTF8')`,
    }),
  );
}
