import { type Connection, connect } from '@counterfoil/engine';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { giveUpOld } from '../queue/giving-up.ts';
import { withQueueLock } from '../queue/queue-lock.ts';
import { claim, delivered, queue, record, retryInAnHour } from '../queue/test-queue.ts';
import { removeOld } from '../queue/upkeep-store.ts';
import { eventually, World } from './test-world.ts';

const retention = { attemptDays: 30, messageDays: 90 };

const test = suite<{ world: World; connection: Connection; environment: string }>('retention');

let environments = 0;

test.before(async (context) => {
  context.world = await World.start();
  context.connection = await connect(context.world.databaseUrl, { application: 'test' });
});
test.after(async ({ world, connection }) => {
  await connection.close();
  await world.stop();
});
test.before.each((context) => {
  environments += 1;
  context.environment = `env_${environments}`;
});
test.after.each(async ({ world }) => {
  await world.stopWorkers();
  await world.query('truncate counterfoil.webhook_messages cascade');
});

const count = async (world: World, table: string): Promise<number> => {
  const [row] = await world.query<{ count: string }>(
    `select count(*) as count from counterfoil.${table}`,
  );
  return Number(row?.count);
};

const age = (world: World, days: number) =>
  world.query(
    `update counterfoil.webhook_messages set created_at = created_at - $1 * interval '1 day'`,
    [days],
  );

test('what is old goes as fast as it came', async ({ world, connection, environment }) => {
  const { id } = await world.addEndpoint({
    url: 'https://x.example/',
    environment_id: environment,
  });
  const reading = await world.startWorker({ maximumInFlight: 0 });
  await queue(world, environment, id, 1);
  await record(connection, (await claim(connection))[0], delivered);
  await reading.stop();
  await world.query(
    `insert into counterfoil.webhook_messages
     select 'evt_x' || n || '_0', tenant_id, environment_id, event_type, resource_id, position,
            sequence, stream, revision, correlation_id, occurred_at, created_at, body
       from counterfoil.webhook_messages, generate_series(1, 6000) n`,
  );
  await world.query(
    `insert into counterfoil.webhook_attempts
       (delivery_id, attempt, environment_id, endpoint_id, event_id, trigger, outcome, recorded_at)
     select delivery_id, n, environment_id, endpoint_id, event_id, trigger, outcome,
            recorded_at - interval '31 days'
       from counterfoil.webhook_attempts, generate_series(2, 6000) n`,
  );
  await age(world, 91);
  await world.startWorker({ maximumInFlight: 0 });
  await eventually('all is gone', async () => (await count(world, 'webhook_messages')) === 0);
  assert.is(await count(world, 'webhook_attempts'), 0);
});

test('what is not old stays', async ({ world, connection, environment }) => {
  const { id } = await world.addEndpoint({
    url: 'https://x.example/',
    environment_id: environment,
  });
  await world.startWorker({ maximumInFlight: 0, upkeepMs: 3_600_000 });
  await queue(world, environment, id, 2);
  await record(connection, (await claim(connection))[0], delivered);
  await record(connection, (await claim(connection))[0], delivered);
  await age(world, 89);
  await world.query(
    `update counterfoil.webhook_attempts set recorded_at = now() - interval '31 days'
      where delivery_id = (select min(delivery_id) from counterfoil.webhook_attempts)`,
  );
  assert.is(await removeOld(connection, retention), false);
  assert.equal(
    [await count(world, 'webhook_messages'), await count(world, 'webhook_attempts')],
    [2, 1],
  );
});

test('what is old and has not been delivered is given up and reported, and its group goes on', async (context) => {
  const { world, connection, environment } = context;
  const { id } = await world.addEndpoint({
    url: 'https://x.example/',
    environment_id: environment,
    order_mode: 'strict_fifo',
  });
  const reading = await world.startWorker({ maximumInFlight: 0, upkeepMs: 3_600_000 });
  await queue(world, environment, id, 2);
  await record(connection, (await claim(connection))[0], retryInAnHour);
  await age(world, 91);
  const [fresh] = await queue(world, environment, id, 1);
  await reading.stop();
  assert.equal(await world.states(id), ['pending', 'waiting', 'waiting']);
  assert.is(await removeOld(connection, retention), false);
  assert.is((await world.states(id)).length, 3, 'none goes unheard of');
  const giveUp = () => withQueueLock(connection, 'queue', () => giveUpOld(connection, retention));
  assert.equal([await giveUp(), await giveUp()], [2, 0]);
  assert.is(await count(world, 'webhook_reports'), 2);
  await removeOld(connection, retention);
  assert.equal(await world.states(id), ['pending']);
  const [next] = await claim(connection);
  assert.is(next?.eventId, fresh);
});

test('a group in which nothing is under way any more is found and goes on', async (context) => {
  const { world, connection, environment } = context;
  const { id } = await world.addEndpoint({
    url: 'https://x.example/',
    environment_id: environment,
    order_mode: 'strict_fifo',
  });
  const reading = await world.startWorker({ maximumInFlight: 0, upkeepMs: 3_600_000 });
  const [first, second] = await queue(world, environment, id, 3);
  await reading.stop();
  await world.query('delete from counterfoil.webhook_messages where event_id = $1', [first]);
  assert.equal(await claim(connection), []);
  await world.startWorker({ maximumInFlight: 0 });
  await eventually('it goes on', async () => (await world.states(id))[0] === 'pending');
  assert.equal(
    (await claim(connection)).map(({ eventId }) => eventId),
    [second],
  );
});

test.run();
