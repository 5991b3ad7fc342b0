import { type Connection, connect } from '@counterfoil/engine';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import {
  type EndpointOptions,
  eventually,
  type TestEndpoint,
  World,
} from '../worker/test-world.ts';
import { movePosition, PositionMoved, readPosition } from './fan-out-store.ts';
import { readFigures } from './figures-store.ts';
import { standardBreakerPolicy } from './health.ts';
import { claim, delivered, givenUp, queue, record, retryNow } from './test-queue.ts';
import { dropUnwanted, reclaimExpired } from './upkeep-store.ts';

const test = suite<{ world: World; connection: Connection; environment: string }>('queue');

let environments = 0;

test.before(async (context) => {
  context.world = await World.start();
  context.connection = await connect(context.world.databaseUrl, { application: 'test' });
  // A worker that may send nothing only turns messages into deliveries.
  await context.world.startWorker({ maximumInFlight: 0, upkeepMs: 3_600_000 });
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

const addEndpoint = (
  world: World,
  environment: string,
  options: Partial<EndpointOptions> = {},
): Promise<TestEndpoint> =>
  world.addEndpoint({
    url: 'https://example.com/',
    environment_id: environment,
    order_mode: 'unordered',
    ...options,
  });

test('a claim takes each delivery once, with what is to be sent', async (context) => {
  const { world, connection, environment } = context;
  const { id } = await addEndpoint(world, environment);
  const published = await queue(world, environment, id, 3);
  const claimed = await claim(connection);
  assert.equal(claimed.map(({ eventId }) => eventId).toSorted(), published);
  assert.is(claimed[0]?.body.toString(), '{"event_type":"customer.updated"}');
  assert.is(claimed[0]?.attempt, 1);
  assert.equal(await claim(connection), []);
});

test('when there is less room than work every endpoint gets a part', async (context) => {
  const { world, connection, environment } = context;
  const endpoints = [
    await addEndpoint(world, environment, { max_in_flight: 3 }),
    await addEndpoint(world, environment, { max_in_flight: 3 }),
    await addEndpoint(world, environment, { max_in_flight: 3 }),
  ];
  await queue(world, environment, endpoints[2]?.id ?? '', 4);
  const counts = async (limit: number): Promise<readonly number[]> => {
    const claimed = await claim(connection, limit);
    return endpoints.map(({ id }) => claimed.filter((one) => one.endpointId === id).length);
  };
  assert.equal(await counts(3), [1, 1, 1]);
  assert.equal(await counts(3), [1, 1, 1]);
  assert.equal(await counts(100), [1, 1, 1], 'none above its own bound');
  assert.equal(await counts(100), [0, 0, 0]);
});

test('nothing is claimed while the endpoints are behind the messages', async (context) => {
  const { world, connection, environment } = context;
  const { id } = await addEndpoint(world, environment);
  await queue(world, environment, id, 1);
  await world.setReadModelPosition('1');
  assert.equal(await claim(connection), []);
  await world.changeEndpoint(id, { enabled: false });
  assert.is(await dropUnwanted(connection), 0, 'nor dropped');
  await world.setReadModelPosition('1000000000000');
  assert.is(await dropUnwanted(connection), 1);
});

test('a worker whose claim has expired changes nothing any more', async (context) => {
  const { world, connection, environment } = context;
  const { id } = await addEndpoint(world, environment);
  await queue(world, environment, id, 1);
  const [first] = await claim(connection, 1, 0);
  assert.is(await reclaimExpired(connection), 1);
  const [second] = await claim(connection);
  assert.is(second?.attempt, 2);
  assert.is(await reclaimExpired(connection), 0, 'the new lease runs');
  await record(connection, first, givenUp);
  assert.equal(await world.states(id), ['sending']);
  await record(connection, second, delivered);
  assert.equal(await world.states(id), ['delivered']);
  const attempts = await world.query(
    `select attempt, outcome, status_code from counterfoil.webhook_attempts order by attempt`,
  );
  assert.equal(attempts, [
    { attempt: 1, outcome: 'answer', status_code: 500 },
    { attempt: 2, outcome: 'answer', status_code: 200 },
  ]);
});

test('that it was delivered counts also after the claim has expired, if nobody has it by then', async (context) => {
  const { world, connection, environment } = context;
  const { id } = await addEndpoint(world, environment, { order_mode: 'resource_fifo' });
  await queue(world, environment, id, 2);
  const [first] = await claim(connection, 1, 0);
  assert.is(await reclaimExpired(connection), 1);
  await record(connection, first, retryNow);
  assert.equal(await world.states(id), ['pending', 'waiting'], 'a failure does not');
  await record(connection, first, delivered);
  assert.equal(await world.states(id), ['delivered', 'pending']);
});

test('recording the same outcome twice is recording it once', async (context) => {
  const { world, connection, environment } = context;
  const { id } = await addEndpoint(world, environment);
  await queue(world, environment, id, 1);
  const [claimed] = await claim(connection);
  await record(connection, claimed, retryNow);
  await record(connection, claimed, retryNow);
  const [again] = await claim(connection);
  assert.equal([again?.attempt, again?.failures], [2, 1]);
});

test('without a head-of-line time-out nothing overtakes', async (context) => {
  const { world, connection, environment } = context;
  const { id } = await addEndpoint(world, environment, {
    order_mode: 'resource_fifo',
    order_guard_seconds: null,
  });
  await queue(world, environment, id, 2);
  const rows = await world.query(
    `select next_at = 'infinity' as never from counterfoil.webhook_deliveries order by id`,
  );
  assert.equal(rows, [{ never: false }, { never: true }]);
  assert.is((await claim(connection)).length, 1);
});

test('an endpoint gives no more in a second than its rate', async (context) => {
  const { world, connection, environment } = context;
  const { id } = await addEndpoint(world, environment, { rate_limit_per_second: 3 });
  await queue(world, environment, id, 8);
  const usedUntil = (seconds: number) =>
    world.query(
      `update counterfoil.webhook_rates set used_until = now() + $2 * interval '1 second'
        where endpoint_id = $1 returning 1`,
      [id, seconds],
    );
  assert.is((await claim(connection)).length, 3, 'a second at once');
  assert.is((await usedUntil(60)).length, 1);
  assert.is((await claim(connection)).length, 0);
  await usedUntil(-60);
  assert.is((await claim(connection)).length, 3, 'what was not used is lost');
});

test('in strict order one is under way, whatever it is about', async (context) => {
  const { world, connection, environment } = context;
  const { id } = await addEndpoint(world, environment, { order_mode: 'strict_fifo' });
  for (const resourceId of ['cust_1', 'cust_2', 'cust_3']) {
    await world.publish({ environment, resourceId });
  }
  await eventually('queued', async () => (await world.states(id)).length === 3);
  const [first, ...others] = await claim(connection);
  assert.equal(others, []);
  await record(connection, first, retryNow);
  const [again] = await claim(connection);
  assert.is(again?.id, first?.id);
  await record(connection, again, delivered);
  assert.equal(await world.states(id), ['delivered', 'pending', 'waiting']);
});

/** Lets an endpoint fail until it is held back. Returns the deliveries that were tried. */
async function failUntilOpen(connection: Connection): Promise<void> {
  for (let failures = 0; failures < standardBreakerPolicy.failuresInRow; failures += 1) {
    const [claimed] = await claim(connection, 1);
    await record(connection, claimed, retryNow);
  }
}

test('while an endpoint is held back one goes out as a probe, each time another', async (context) => {
  const { world, connection, environment } = context;
  const { id } = await addEndpoint(world, environment);
  await queue(world, environment, id, 3);
  await failUntilOpen(connection);
  assert.equal(await claim(connection), [], 'not before its time');
  const probed = new Set<string>();
  for (let probe = 0; probe < 3; probe += 1) {
    await world.query(`update counterfoil.webhook_health set next_probe_at = now()`);
    const [claimed, ...others] = await claim(connection);
    assert.equal([claimed?.isProbe, others.length], [true, 0]);
    assert.equal(await claim(connection), [], 'one at a time');
    await record(connection, claimed, givenUp);
    probed.add(claimed?.id ?? '');
  }
  assert.is(probed.size, 3);
  await world.query(`update counterfoil.webhook_health set next_probe_at = now()`);
  await record(connection, (await claim(connection))[0], delivered);
  assert.is((await claim(connection)).length, 1, 'at first one at a time');
});

test('what was asked for by hand goes out although the rest is held back', async (context) => {
  const { world, connection, environment } = context;
  const { id } = await addEndpoint(world, environment);
  const [message] = await queue(world, environment, id, 2);
  await failUntilOpen(connection);
  await world.query(
    `insert into counterfoil.webhook_deliveries
       (event_id, endpoint_id, environment_id, resource_id, trigger, task_id, state, next_at)
     values ($1, $2, $3, 'cust_1', 'resend', 'wtask_1', 'pending', 'epoch')`,
    [message, id, environment],
  );
  const [claimed, ...others] = await claim(connection);
  assert.equal([claimed?.trigger, others.length], ['resend', 0]);
  await record(connection, claimed, retryNow);
  const states = await world.states(id);
  assert.equal(states, ['pending', 'pending', 'exhausted'], 'and it is tried once');
});

test('the figures of the queue', async (context) => {
  const { world, connection, environment } = context;
  const { id } = await addEndpoint(world, environment, { order_mode: 'resource_fifo' });
  const { id: other } = await addEndpoint(world, environment);
  await queue(world, environment, id, 2);
  await world.query(
    `update counterfoil.webhook_deliveries set next_at = now() - interval '90 seconds'
      where endpoint_id = $1`,
    [other],
  );
  await world.query(
    `update counterfoil.webhook_deliveries set state = 'sending'
      where id = (select max(id) from counterfoil.webhook_deliveries where endpoint_id = $1)`,
    [other],
  );
  const { deliveries, oldestDueSeconds } = await readFigures(connection);
  assert.equal(deliveries, { pending: 2, waiting: 1, sending: 1 });
  assert.ok(oldestDueSeconds >= 90, String(oldestDueSeconds));
});

test('of two workers one writes reports, until it ends: what both wrote would be told twice', async (context) => {
  const { world } = context;
  const holders = async () => {
    const rows = await world.query<{ name: string }>(
      `select application_name as name from pg_locks join pg_stat_activity using (pid)
        where locktype = 'advisory' and granted
          and application_name = 'counterfoil webhooks reports'`,
    );
    return rows.length;
  };
  const first = await world.startWorker({ maximumInFlight: 0 });
  await eventually('one has it', async () => (await holders()) === 1);
  await first.stop();
  await eventually('another one has it', async () => (await holders()) === 1);
});

test('the figures of endpoints and of the stream', async (context) => {
  const { world, connection, environment } = context;
  const before = await readFigures(connection);
  const { id } = await addEndpoint(world, environment);
  await addEndpoint(world, environment);
  await addEndpoint(world, environment, { enabled: false });
  await queue(world, environment, id, 1);
  await failUntilOpen(connection);
  const { sequence } = await readPosition(connection);
  await world.query(
    `insert into counterfoil.relay_checkpoint (stream, sequence, position) values ('s', $1, 1)`,
    [sequence + 7],
  );
  const { endpoints, unread } = await readFigures(connection);
  assert.is(endpoints.open, before.endpoints.open + 1);
  assert.is(endpoints.closed, before.endpoints.closed + 1);
  assert.equal([before.unread, unread], [0, 7]);
});

test('the position of the reader can only be moved from where it is', async ({ connection }) => {
  const here = await readPosition(connection);
  const there = { ...here, sequence: here.sequence + 1 };
  try {
    await movePosition(connection, there, here);
    assert.unreachable('it was moved from somewhere else');
  } catch (error) {
    assert.instance(error, PositionMoved);
  }
  await movePosition(connection, here, here);
});

test.run();
