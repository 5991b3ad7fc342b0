import { type Connection, connect, planByIndex } from '@counterfoil/engine';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { type EndpointOptions, World } from '../worker/test-world.ts';
import { giveUpHeldBack } from './giving-up.ts';
import { standardBreakerPolicy } from './health.ts';
import { releaseNext, releaseOvertaking, stuckGroups } from './ordering.ts';
import { withQueueLock } from './queue-lock.ts';
import {
  claim,
  delivered,
  givenUp,
  passDelays,
  passHeadOfLine,
  queue,
  record,
  recoverAll,
  retryInAnHour,
  retryNow,
  rowsRead,
} from './test-queue.ts';
import { dropUnwanted } from './upkeep-store.ts';

const test = suite<{ world: World; connection: Connection; environment: string }>('ordering');

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

const addEndpoint = async (
  world: World,
  environment: string,
  options: Partial<EndpointOptions> = {},
): Promise<string> => {
  const given = { url: 'https://example.com/', environment_id: environment, ...options };
  return (await world.addEndpoint(given)).id;
};

const overtake = (connection: Connection): Promise<number> =>
  withQueueLock(connection, 'queue', () => releaseOvertaking(connection));

test('nothing overtakes what has not been tried: a worker was away for longer than the head-of-line time-out', async (context) => {
  const { world, connection, environment } = context;
  const id = await addEndpoint(world, environment);
  const [first] = await queue(world, environment, id, 3);
  await passHeadOfLine(world);
  assert.is(await overtake(connection), 0);
  const claimed = await claim(connection);
  assert.equal(
    claimed.map(({ eventId }) => eventId),
    [first],
  );
});

test('nothing overtakes what is due or under way: it waits for room, not for a receiver that fails', async (context) => {
  const { world, connection, environment } = context;
  const id = await addEndpoint(world, environment);
  await queue(world, environment, id, 2);
  const [first] = await claim(connection);
  await passHeadOfLine(world);
  assert.is(await overtake(connection), 0, 'under way');
  await record(connection, first, retryNow);
  await passHeadOfLine(world);
  assert.is(await overtake(connection), 0, 'due again');
  await record(connection, (await claim(connection))[0], retryInAnHour);
  await passHeadOfLine(world);
  assert.is(await overtake(connection), 1, 'it fails, and is not tried again for an hour');
});

test('while an endpoint is held back no event overtakes another, however long', async (context) => {
  const { world, connection, environment } = context;
  const id = await addEndpoint(world, environment);
  const published = await queue(world, environment, id, 4);
  for (let failures = 0; failures < standardBreakerPolicy.failuresInRow; failures += 1) {
    await passDelays(world);
    await record(connection, (await claim(connection))[0], retryInAnHour);
  }
  for (let passes = 0; passes < 4; passes += 1) {
    await passHeadOfLine(world);
    assert.is(await overtake(connection), 0);
  }
  // Well again: in the order in which they happened, one after the other.
  await world.query('update counterfoil.webhook_health set next_probe_at = now()');
  for (const expected of published) {
    await passHeadOfLine(world);
    await overtake(connection);
    const [next, ...others] = await claim(connection);
    assert.equal([next?.eventId, others.length], [expected, 0]);
    await record(connection, next, delivered);
  }
});

test('a group goes on with the last that was sent, not with one that had been overtaken', async (context) => {
  const { world, connection, environment } = context;
  const id = await addEndpoint(world, environment);
  await queue(world, environment, id, 4);
  const [first] = await claim(connection);
  assert.equal(await world.states(id), ['sending', 'waiting', 'waiting', 'waiting']);
  await record(connection, first, retryInAnHour);
  assert.is(await overtake(connection), 0, 'the time-out has not passed');
  await passHeadOfLine(world);
  assert.is(await overtake(connection), 1, 'one overtakes, the next waits for it');
  assert.is(await overtake(connection), 0);
  assert.is(await passHeadOfLine(world), 1, 'the time-out of the next has begun');
  const [second] = await claim(connection);
  await passDelays(world);
  const [again] = await claim(connection);
  assert.is(again?.id, first?.id);
  await record(connection, again, delivered);
  assert.equal(await world.states(id), ['delivered', 'sending', 'waiting', 'waiting']);
  await record(connection, second, delivered);
  assert.equal(await world.states(id), ['delivered', 'delivered', 'pending', 'waiting']);
  await record(connection, (await claim(connection))[0], retryInAnHour);
  await passHeadOfLine(world);
  assert.is(
    await overtake(connection),
    1,
    'the time-out of the last began when it came to be first',
  );
});

/** Fills the group of one resource without a worker, which is quicker. */
async function fill(world: World, environment: string, endpointId: string, count: number) {
  await queue(world, environment, endpointId, 1);
  await world.query(
    `insert into counterfoil.webhook_messages
       (event_id, tenant_id, environment_id, event_type, resource_id, position, sequence, stream,
        revision, correlation_id, occurred_at, body)
     select 'evt_x' || lpad(n::text, 12, '0') || '_0', tenant_id, environment_id, event_type,
            resource_id, position + n, sequence, stream, revision, correlation_id, now(), body
       from counterfoil.webhook_messages, generate_series(1, $1) n`,
    [count - 1],
  );
  await world.query(
    `insert into counterfoil.webhook_deliveries
       (event_id, endpoint_id, environment_id, resource_id, ordering_key, state, next_at)
     select event_id, $1, environment_id, resource_id, resource_id, 'waiting', 'infinity'
       from counterfoil.webhook_messages where event_id like 'evt_x%' order by event_id`,
    [endpointId],
  );
}

test('to let the next go costs no more in a group that is long', async (context) => {
  const { world, connection, environment } = context;
  const id = await addEndpoint(world, environment);
  await fill(world, environment, id, 3_000);
  await world.query('analyze');
  await connection.query(planByIndex);
  const [first] = await claim(connection);
  assert.ok(first);
  const [{ release } = { release: '' }] = await world.query<{ release: string }>(
    'select release_number as release from counterfoil.webhook_deliveries where id = $1',
    [first.id],
  );
  await record(connection, first, retryInAnHour);
  const group = { endpointId: id, orderingKey: 'cust_1' };
  const released = await rowsRead(connection, () =>
    releaseNext(connection, [{ ...group, lastRelease: release }]),
  );
  assert.ok(released < 100, `${released} rows to let the next go`);
  await world.query(
    `update counterfoil.webhook_deliveries set next_at = now() where event_id like 'evt_x%1_0'
      and event_id = (select min(event_id) from counterfoil.webhook_deliveries
                       where event_id like 'evt_x%')`,
  );
  const overtaken = await rowsRead(connection, () => releaseOvertaking(connection));
  assert.ok(overtaken < 100, `${overtaken} rows to let one overtake`);
  const looked = await rowsRead(connection, () => stuckGroups(connection));
  assert.ok(looked < 100, `${looked} rows to find what is stuck`);
});

test('an endpoint that is enabled again while its queue is being dropped gets what is left of it', async (context) => {
  const { world, connection, environment } = context;
  const id = await addEndpoint(world, environment, { order_guard_seconds: null });
  await fill(world, environment, id, 1_500);
  await world.changeEndpoint(id, { enabled: false });
  await withQueueLock(connection, 'queue', () => dropUnwanted(connection));
  await world.changeEndpoint(id, { enabled: true });
  for (;;) {
    const [next] = await claim(connection);
    if (!next) break;
    await record(connection, next, delivered);
  }
  const left = (await world.states(id)).filter((state) => state === 'waiting');
  assert.is(left.length, 0, 'nothing waits for what will not come');
});

test('of recovered deliveries one is under way, also when a later one is finished', async (context) => {
  const { world, connection, environment } = context;
  const id = await addEndpoint(world, environment);
  await queue(world, environment, id, 3);
  for (let count = 0; count < 3; count += 1) {
    await record(connection, (await claim(connection))[0], givenUp);
  }
  await queue(world, environment, id, 1);
  await record(connection, (await claim(connection))[0], retryInAnHour);
  await recoverAll(world, connection, environment, id);
  assert.equal(await world.states(id), ['waiting', 'waiting', 'waiting', 'pending']);
  await passHeadOfLine(world);
  assert.is(await overtake(connection), 1);
  const [recovered] = await claim(connection);
  await passDelays(world);
  await record(connection, (await claim(connection))[0], delivered);
  assert.equal(await world.states(id), ['sending', 'waiting', 'waiting', 'delivered']);
  await record(connection, recovered, delivered);
  assert.equal(await world.states(id), ['delivered', 'pending', 'waiting', 'delivered']);
});

test('what is recovered overtakes before what happened later', async (context) => {
  const { world, connection, environment } = context;
  const id = await addEndpoint(world, environment);
  const old = await queue(world, environment, id, 2);
  for (let count = 0; count < 2; count += 1) {
    await record(connection, (await claim(connection))[0], givenUp);
  }
  const [, later] = await queue(world, environment, id, 2);
  await record(connection, (await claim(connection))[0], retryInAnHour);
  await recoverAll(world, connection, environment, id);
  assert.equal(await world.states(id), ['waiting', 'waiting', 'pending', 'waiting']);
  for (const expected of [...old, later]) {
    await passHeadOfLine(world);
    assert.is(await overtake(connection), 1);
    const [next, ...others] = await claim(connection);
    assert.equal([next?.eventId, others.length], [expected, 0]);
    await record(connection, next, retryInAnHour);
  }
});

test('a recovery goes by the order of the log, whatever has become of each', async (context) => {
  const { world, connection, environment } = context;
  const id = await addEndpoint(world, environment);
  const published = await queue(world, environment, id, 5);
  for (let count = 0; count < 5; count += 1) {
    await record(connection, (await claim(connection))[0], givenUp);
  }
  // Two of them were never its deliveries.
  await world.query(`delete from counterfoil.webhook_deliveries where event_id = any($1)`, [
    [published[0], published[2]],
  ]);
  await recoverAll(world, connection, environment, id);
  const came: string[] = [];
  for (;;) {
    const [next, ...others] = await claim(connection);
    assert.is(others.length, 0);
    if (!next) break;
    came.push(next.eventId);
    await record(connection, next, delivered);
  }
  assert.equal(came, published);
});

test('what is given up in the midst of a group lets nothing go past what is under way', async (context) => {
  const { world, connection, environment } = context;
  const id = await addEndpoint(world, environment);
  await queue(world, environment, id, 3);
  for (let failures = 0; failures < standardBreakerPolicy.failuresInRow; failures += 1) {
    await passDelays(world);
    await record(connection, (await claim(connection))[0], retryNow);
  }
  await world.query('update counterfoil.webhook_health set next_probe_at = now()');
  const [probe] = await claim(connection);
  await world.query(
    `update counterfoil.webhook_deliveries set queued_at = now() - interval '73 hours'
      where state = 'waiting' and event_id < (select max(event_id) from counterfoil.webhook_messages)`,
  );
  await withQueueLock(connection, 'queue', () => giveUpHeldBack(connection, standardBreakerPolicy));
  assert.equal(await world.states(id), ['sending', 'exhausted', 'waiting']);
  await record(connection, probe, delivered);
  assert.equal(await world.states(id), ['delivered', 'exhausted', 'pending']);
});

test.run();
