import { type Connection, connect, planByIndex } from '@counterfoil/engine';
import { instantOf, randomId } from '@counterfoil/kernel';
import { secretsFrom } from '@counterfoil/modules';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { latestBody, nextTask, type OpenTask, readPast } from '../queue/task-store.ts';
import { claim, givenUp, putTask, queue, record, rowsRead, taskOf } from '../queue/test-queue.ts';
import { createEndpointCache } from './endpoint-cache.ts';
import { workOnNext } from './tasks.ts';
import { World } from './test-world.ts';

const test = suite<{ world: World; connection: Connection; environment: string }>('tasks');

let environments = 0;

test.before(async (context) => {
  context.world = await World.start();
  context.connection = await connect(context.world.databaseUrl, { application: 'test' });
  await context.connection.query(planByIndex);
});
test.after(async ({ world, connection }) => {
  await connection.close();
  await world.stop();
});
test.before.each(async (context) => {
  environments += 1;
  context.environment = `env_${environments}`;
  await context.world.query('truncate counterfoil.webhook_messages cascade');
});

/** Lets a worker that may send nothing make a delivery of one message. */
async function queueOne(world: World, environment: string, endpointId: string): Promise<string> {
  const worker = await world.startWorker({ maximumInFlight: 0, upkeepMs: 3_600_000 });
  const [message = ''] = await queue(world, environment, endpointId, 1);
  await worker.stop();
  return message;
}

/** Makes an environment with many messages out of its first one, all from long ago. */
async function multiply(world: World, count: number): Promise<void> {
  await world.query(
    `insert into counterfoil.webhook_messages
     select 'evt_!' || lpad(n::text, 12, '0') || '_0', tenant_id, environment_id, event_type,
            resource_id, n, sequence, stream, revision, correlation_id,
            occurred_at - interval '30 days' + n * interval '1 second',
            created_at - interval '30 days' + n * interval '1 second', body
       from counterfoil.webhook_messages, generate_series(1, $1) n`,
    [count],
  );
  await world.query('analyze');
}

const open = (environment: string, endpointId: string, since: string): OpenTask =>
  ({
    environment_id: environment,
    endpoint_id: endpointId,
    kind: 'recover',
    since,
    until: instantOf(Date.now() + 60_000),
    states: ['failed'],
    reached: '',
  }) as unknown as OpenTask;

test('a look for tasks does not go through all that there ever were', async (context) => {
  const { world, connection, environment } = context;
  const { id } = await world.addEndpoint({
    url: 'https://x.example/',
    environment_id: environment,
  });
  const long = instantOf(Date.now() - 30 * 86_400_000);
  const finished = { ...taskOf(environment, id, { kind: 'resend', message_id: 'evt_1' }) };
  for (let count = 0; count < 300; count += 1) {
    const task = { ...finished, id: randomId('wtask', long), created_at: long };
    await putTask(world, task);
  }
  await world.query(
    `insert into counterfoil.webhook_task_runs
       (task_id, environment_id, requested_at, state, finished_at)
     select id, environment_id, created_at, 'finished', now() from counterfoil.webhook_tasks`,
  );
  const last = { ...finished, id: randomId('wtask', instantOf(Date.now())) };
  await putTask(world, last);
  const endpoints = createEndpointCache(secretsFrom(world.secretKey).sealer);
  assert.is((await nextTask(connection))?.id, last.id);
  assert.is(await workOnNext(connection, endpoints), true);
  assert.is(await nextTask(connection), null);
  const read = await rowsRead(connection, () => nextTask(connection));
  assert.ok(read < 100, `${read} rows`);
});

test('a sample of a type that never happens is not looked for for ever', async (context) => {
  const { world, connection, environment } = context;
  const { id } = await world.addEndpoint({
    url: 'https://x.example/',
    environment_id: environment,
  });
  await queueOne(world, environment, id);
  await multiply(world, 5_000);
  const read = await rowsRead(connection, async () => {
    assert.is(await latestBody(connection, environment, 'wallet.created'), null);
    assert.match((await latestBody(connection, environment, 'customer.updated')) ?? '', 'customer');
  });
  assert.ok(read < 3_000, `${read} rows`);
});

test('a step of a recovery reads no more messages than it is allowed', async (context) => {
  const { world, connection, environment } = context;
  const { id } = await world.addEndpoint({
    url: 'https://x.example/',
    environment_id: environment,
  });
  const message = await queueOne(world, environment, id);
  await record(connection, (await claim(connection))[0], givenUp);
  await multiply(world, 5_000);
  const yesterday = instantOf(Date.now() - 86_400_000);
  const recent = await rowsRead(connection, async () => {
    const { messages, isLast } = await readPast(connection, open(environment, id, yesterday), 500);
    assert.equal([messages.map((one) => one.id), isLast], [[message], true]);
  });
  assert.ok(recent < 100, `${recent} rows for the last day`);
  const all = await rowsRead(connection, async () => {
    const whole = open(environment, id, instantOf(0));
    const { messages, isLast } = await readPast(connection, whole, 500);
    assert.equal([messages.length, isLast], [500, false]);
  });
  assert.ok(all < 3_000, `${all} rows for one step`);
});

test.run();
