import type { Connection } from '@counterfoil/engine';
import { instantOf, randomId } from '@counterfoil/kernel';
// biome-ignore lint/correctness/noUndeclaredDependencies: only tests import this file.
import { secretsFrom } from '@counterfoil/modules';
// biome-ignore lint/correctness/noUndeclaredDependencies: only tests import this file.
import * as assert from 'uvu/assert';
import { taskTable } from '../projection.ts';
import type { AttemptResult, FollowUp } from '../sending/retry.ts';
import type { TaskState } from '../task/task.ts';
import { createEndpointCache } from '../worker/endpoint-cache.ts';
import { workOnNext } from '../worker/tasks.ts';
import { eventually, type World } from '../worker/test-world.ts';
import { recordOutcomes } from './attempt-store.ts';
import { type Claimed, claimDeliveries } from './claim.ts';
import { standardBreakerPolicy } from './health.ts';

type Task = NonNullable<TaskState>;

/** The follow-up of a success. */
export const delivered: FollowUp = { kind: 'delivered' };
/** The follow-up of a failure that is tried again at once. */
export const retryNow: FollowUp = { kind: 'retry', delay: 0 };
/** The follow-up of a failure that is tried again in an hour. */
export const retryInAnHour: FollowUp = { kind: 'retry', delay: 3_600_000 };
/** The follow-up of the last failure. */
export const givenUp: FollowUp = { kind: 'exhausted', cause: 'attempts' };

/** Claims as a worker does. */
export const claim = (
  connection: Connection,
  limit = 100,
  leaseMs = 60_000,
): Promise<readonly Claimed[]> => claimDeliveries(connection, { limit, leaseMs });

/** Records what came of a claimed delivery, as a worker does. */
export function record(
  connection: Connection,
  delivery: Claimed | undefined,
  followUp: FollowUp,
): Promise<void> {
  assert.ok(delivery);
  const status = followUp.kind === 'delivered' ? 200 : 500;
  const result: AttemptResult = { kind: 'answer', status, retryAfterSeconds: null };
  const sent = { result, detail: '', milliseconds: 1, address: null };
  return recordOutcomes(connection, [{ delivery, sent, followUp }], standardBreakerPolicy);
}

/** Publishes messages about one resource and waits until they are deliveries of the endpoint. */
export async function queue(
  world: World,
  environment: string,
  endpointId: string,
  count: number,
): Promise<readonly string[]> {
  const before = (await world.states(endpointId)).length;
  const ids: string[] = [];
  for (let published = 0; published < count; published += 1) {
    ids.push(await world.publish({ environment }));
  }
  await eventually(
    'queued',
    async () => (await world.states(endpointId)).length === before + count,
  );
  return ids;
}

/** Ends the head-of-line time-outs that are running. Returns how many there were. */
export async function passHeadOfLine(world: World): Promise<number> {
  const passed = await world.query(
    `update counterfoil.webhook_deliveries set next_at = now()
      where state = 'waiting' and next_at < 'infinity' returning 1`,
  );
  return passed.length;
}

/** Makes everything due that waits to be tried again. */
export async function passDelays(world: World): Promise<void> {
  await world.query(
    `update counterfoil.webhook_deliveries set next_at = now() where state = 'pending'`,
  );
}

/** Asks for a recovery of everything, as the API would, and does it. */
export async function recoverAll(
  world: World,
  connection: Connection,
  environment: string,
  endpointId: string,
): Promise<void> {
  const work: Task['work'] = {
    kind: 'recover',
    since: instantOf(0),
    until: instantOf(Date.now() + 60_000),
    states: ['failed', 'skipped', 'missing'],
  };
  await putTask(world, taskOf(environment, endpointId, work));
  const endpoints = createEndpointCache(secretsFrom(world.secretKey).sealer);
  while (await workOnNext(connection, endpoints)) {
    // One step after the other.
  }
}

/** A task as it is when it has been asked for. */
export function taskOf(environment: string, endpointId: string, work: Task['work']): Task {
  const now = instantOf(Date.now());
  const stamps = { created_at: now, created_by: 'system', updated_at: now, updated_by: 'system' };
  return {
    ...stamps,
    id: randomId('wtask', now),
    tenant_id: 'tenant_1',
    environment_id: environment,
    status: 'published',
    endpoint_id: endpointId,
    is_cancelled: false,
    work,
  };
}

/** Puts a task into the read table, as the projector would. */
export async function putTask(world: World, task: Task): Promise<void> {
  const columns = Object.entries(taskTable.columns).map(
    ([name, column]) => [name, column.of(taskTable.view(task), task)] as const,
  );
  await world.query(
    `insert into counterfoil.webhook_tasks_v${taskTable.version} (id, tenant_id, environment_id,
       status, created_at, updated_at, revision, position, state, resource,
       ${columns.map(([name]) => name).join(', ')})
     values ($1, $2, $3, $4, $5, $5, 0, 1, $6, $7,
       ${columns.map((_, index) => `$${index + 8}`).join(', ')})`,
    [
      task.id,
      task.tenant_id,
      task.environment_id,
      task.status,
      task.created_at,
      JSON.stringify(task),
      JSON.stringify(taskTable.view(task)),
      ...columns.map(([, value]) => value),
    ],
  );
}

/** Counts the rows of the worker's tables that a piece of work reads. */
export async function rowsRead(
  connection: Connection,
  work: () => Promise<unknown>,
): Promise<number> {
  // Within one transaction, because the figures of a session are handed over between two.
  await connection.query('begin');
  const before = await rowsReadUntilNow(connection);
  await work();
  const after = await rowsReadUntilNow(connection);
  await connection.query('rollback');
  return after - before;
}

async function rowsReadUntilNow(connection: Connection): Promise<number> {
  const { rows } = await connection.query<{ read: string }>(
    `select sum(seq_tup_read + idx_tup_fetch) as read from pg_stat_xact_user_tables
      where relname like 'webhook_%'`,
  );
  return Number(rows[0]?.read);
}
