import type { Connection } from '@counterfoil/engine';
import type { RequestedTask } from '../task/schema.ts';
import type { PlannedDelivery, Routed } from './fan-out-plan.ts';

/*
 * What looks through the past is planned anew each time: prepared while there is little of it, it
 * would go on sorting all there is when there is much.
 */

/** A task that is not finished, as it was asked for. */
export interface OpenTask extends RequestedTask {
  /** Id of the last message that was looked at. */
  readonly reached: string;
}

interface OpenRow {
  /** JSON text. */
  readonly resource: string;
  readonly reached: string;
}

/**
 * Takes a task that has not been begun, else one that is not finished; null when there is neither.
 *
 * Tasks come in the order in which they were asked for, apart from what the clocks of API processes
 * are out. So in each environment only those are looked at that are not much older than the last one
 * that was begun: an hour is beyond any clock that can be worked with.
 */
export async function nextTask(connection: Connection): Promise<OpenTask | null> {
  const unbegun = await connection.query<OpenRow>(
    `with recursive environment (id) as (
       (select environment_id from counterfoil.webhook_tasks order by environment_id limit 1)
       union all
       select later.environment_id
         from environment previous
        cross join lateral (
          select environment_id from counterfoil.webhook_tasks
           where environment_id > previous.id order by environment_id limit 1) later
     )
     select task.resource, '' as reached
       from environment
      cross join lateral (
        select max(requested_at) as last from counterfoil.webhook_task_runs
         where environment_id = environment.id) begun
      cross join lateral (
        select resource, created_at, id from counterfoil.webhook_tasks task
         where task.environment_id = environment.id
           and task.created_at >= coalesce(begun.last - interval '1 hour', '-infinity')
           and not exists (select from counterfoil.webhook_task_runs run
                            where run.task_id = task.id offset 0)
         order by created_at, id limit 1) task
      order by task.created_at, task.id limit 1`,
    [],
  );
  const [row] = unbegun.rows[0] ? unbegun.rows : await runningTask(connection);
  return row ? { ...(JSON.parse(row.resource) as RequestedTask), reached: row.reached } : null;
}

/** The task that was begun first of those that are not finished. */
async function runningTask(connection: Connection): Promise<readonly OpenRow[]> {
  const { rows } = await connection.query<OpenRow>(
    `select task.resource, run.reached
       from counterfoil.webhook_task_runs run
       join counterfoil.webhook_tasks task
         on task.environment_id = run.environment_id and task.id = run.task_id
      where run.state = 'running' order by run.started_at limit 1`,
    [],
  );
  return rows;
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
  await connection.query(
    `insert into counterfoil.webhook_task_runs as run
       (task_id, environment_id, state, reached, examined, queued, message_id, detail, finished_at,
        requested_at)
     values ($1, $2, $3, $4, $5, $6, $7, $8, case when $3 = 'running' then null else now() end, $9)
     on conflict (task_id) do update
        set state = excluded.state, reached = greatest(run.reached, excluded.reached),
            examined = run.examined + excluded.examined, queued = run.queued + excluded.queued,
            message_id = coalesce(excluded.message_id, run.message_id), detail = excluded.detail,
            finished_at = excluded.finished_at`,
    [
      id,
      environment_id,
      state,
      reached,
      examined,
      queued,
      messageId ?? null,
      detail ?? null,
      created_at,
    ],
    { prepared: true },
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
  const { rows } = await connection.query<
    Omit<PastMessage, 'position'> & { readonly position: string; readonly isAsked: boolean }
  >(
    `select message.event_id as id, message.event_type as type, message.position,
            message.environment_id as "environmentId", message.resource_id as "resourceId",
            delivery.id as "deliveryId", delivery.state as "deliveryState",
            message.occurred_at >= $4 and message.occurred_at < $5 as "isAsked"
       from (select * from counterfoil.webhook_messages
              where environment_id = $1 and event_id > $3 and position > 0
                and event_id >= (select event_id from counterfoil.webhook_messages
                                  where created_at >= $4::timestamptz - interval '1 day'
                                    and position > 0
                                  order by created_at, event_id limit 1)
              order by event_id limit $6) message
       left join counterfoil.webhook_deliveries delivery
         on delivery.event_id = message.event_id and delivery.endpoint_id = $2
        and delivery.task_id = ''
      order by message.event_id`,
    [task.environment_id, task.endpoint_id, task.reached, task.since, task.until, maximum],
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
  await connection.query(
    `update counterfoil.webhook_deliveries delivery
        set state = planned.state, trigger = 'recovery', failures = 0, queued_at = now(),
            finished_at = null, ordering_key = planned.ordering_key,
            release_number = case when planned.state = 'pending' then nextval('counterfoil.webhook_release_numbers') end,
            head_of_line_seconds = planned.head_of_line_seconds,
            next_at = coalesce(now() + planned.due_in * interval '1 second', 'infinity')
       from unnest($1::bigint[], $2::text[], $3::text[], $4::integer[], $5::integer[])
         as planned (id, state, ordering_key, head_of_line_seconds, due_in)
      where delivery.id = planned.id and delivery.state in ('exhausted', 'skipped')`,
    [
      deliveries.map(({ id }) => id),
      deliveries.map(({ planned }) => planned.state),
      deliveries.map(({ planned }) => planned.orderingKey),
      deliveries.map(({ planned }) => planned.headOfLineSeconds),
      deliveries.map(({ planned }) => planned.dueInSeconds),
    ],
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
  const { count } = await connection.query(
    `insert into counterfoil.webhook_deliveries
       (event_id, endpoint_id, environment_id, resource_id, trigger, task_id, state, next_at)
     select event_id, $3, environment_id, resource_id, $4, $5, 'pending', 'epoch'
       from counterfoil.webhook_messages where environment_id = $1 and event_id = $2`,
    [environment_id, messageId, endpoint_id, trigger, id],
    { prepared: true },
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
  const { rows } = await connection.query<{ body: string }>(
    `select convert_from(body, 'UTF8') as body from counterfoil.webhook_messages
      where event_id = (
        select event_id
          from (select event_id, event_type from counterfoil.webhook_messages
                 where environment_id = $1 and position > 0
                 order by event_id desc limit ${sampleMaximum}) recent
         where event_type = $2 order by event_id desc limit 1)`,
    [environmentId, type],
  );
  return rows[0]?.body ?? null;
}

/** Stores a message that no event of the log has caused: its position is 0. */
export async function insertTestMessage(
  connection: Connection,
  { id, tenant_id, environment_id }: OpenTask,
  message: { readonly id: string; readonly type: string; readonly body: string },
): Promise<void> {
  await connection.query(
    `insert into counterfoil.webhook_messages
       (event_id, tenant_id, environment_id, event_type, resource_id, position, sequence, stream,
        revision, correlation_id, occurred_at, body)
     values ($1, $2, $3, $4, 'test', 0, 0, '', 0, $5, now(), convert_to($6, 'UTF8'))`,
    [message.id, tenant_id, environment_id, message.type, id, message.body],
    { prepared: true },
  );
}
