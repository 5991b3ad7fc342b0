import { once } from 'node:events';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { startProcess } from './test-process.ts';
import { type Receiver, startReceiver } from './test-receiver.ts';
import { eventually, World } from './test-world.ts';

const test = suite<{ world: World; receiver: Receiver; environment: string }>('recovery');

let environments = 0;

test.before(async (context) => {
  context.world = await World.start();
});
test.after(({ world }) => world.stop());
test.before.each(async (context) => {
  environments += 1;
  context.environment = `env_${environments}`;
  context.receiver = await startReceiver();
});
test.after.each(async ({ world, receiver }) => {
  receiver.close();
  await world.stopWorkers();
});

const delivered = (world: World, endpointId: string, count: number) =>
  eventually(`${count} delivered`, async () => {
    const states = await world.states(endpointId);
    return states.length === count && states.every((state) => state === 'delivered');
  });

test('a worker killed between sending and recording loses nothing and sends again', async (context) => {
  const { world, receiver, environment } = context;
  const { id } = await world.addEndpoint({ url: receiver.url, environment_id: environment });
  const { child } = await startProcess(world);
  receiver.answer(() => 'hang');
  const published = [
    await world.publish({ environment, resourceId: 'cust_1' }),
    await world.publish({ environment, resourceId: 'cust_2' }),
    await world.publish({ environment, resourceId: 'cust_1' }),
  ];
  await receiver.count(2);
  const left = 'sending,sending,waiting';
  await eventually('all are queued', async () => String(await world.states(id)) === left);
  child.kill('SIGKILL');
  await once(child, 'exit');
  receiver.answer(() => 200);
  await world.startWorker();
  assert.is(String(await world.states(id)), left, 'the lease still runs');
  await world.query('update counterfoil.webhook_deliveries set lease_until = now()');
  await delivered(world, id, 3);
  const counts = published.map((one) => receiver.ids().filter((got) => got === one).length);
  assert.equal(counts, [2, 2, 1]);
  const outcomes = await world.query(
    `select delivery.event_id, attempt.attempt, attempt.outcome
       from counterfoil.webhook_attempts attempt
       join counterfoil.webhook_deliveries delivery on delivery.id = attempt.delivery_id
      where delivery.endpoint_id = $1 and delivery.event_id = $2 order by attempt.attempt`,
    [id, published[0]],
  );
  assert.equal(outcomes, [
    { event_id: published[0], attempt: 1, outcome: 'lost' },
    { event_id: published[0], attempt: 2, outcome: 'answer' },
  ]);
});

test('the process says that it is ready and ends in order', async ({ world }) => {
  const { child, port } = await startProcess(world);
  const health = await fetch(`http://127.0.0.1:${port}/healthz`);
  assert.is(health.status, 200);
  await eventually('ready', async () => {
    const ready = await fetch(`http://127.0.0.1:${port}/readyz`);
    await ready.arrayBuffer();
    return ready.status === 200;
  });
  const metrics = await (await fetch(`http://127.0.0.1:${port}/metrics`)).text();
  assert.match(metrics, /counterfoil_webhook_in_flight 0/);
  child.kill('SIGTERM');
  const [code] = await once(child, 'exit');
  assert.is(code, 0);
});

test('a worker that stops records what is under way', async (context) => {
  const { world, receiver, environment } = context;
  const { id } = await world.addEndpoint({ url: receiver.url, environment_id: environment });
  const worker = await world.startWorker();
  let release = (): void => undefined;
  const gate = new Promise<void>((resolve) => {
    release = resolve;
  });
  receiver.answer(async () => {
    await gate;
    return 200;
  });
  await world.publish({ environment });
  await receiver.count(1);
  const stopped = worker.stop();
  await eventually('nothing new is taken', async () => {
    const sessions = await world.query<{ name: string }>(
      `select application_name as name from pg_stat_activity
        where application_name like 'counterfoil webhooks %'`,
    );
    return sessions.every(({ name }) => name.endsWith('attempt-writer'));
  });
  release();
  await stopped;
  assert.equal(await world.states(id), ['delivered']);
});

test('a restart goes on where the last worker was, and nothing arrives twice', async (context) => {
  const { world, receiver, environment } = context;
  const { id } = await world.addEndpoint({ url: receiver.url, environment_id: environment });
  const published: string[] = [];
  for (let round = 1; round <= 3; round += 1) {
    published.push(await world.publish({ environment }), await world.publish({ environment }));
    const worker = await world.startWorker();
    published.push(await world.publish({ environment }));
    await delivered(world, id, round * 3);
    await worker.stop();
  }
  assert.equal(receiver.ids(), published);
});

test('of two workers one reads the stream, both deliver, and the other one takes over', async (context) => {
  const { world, receiver, environment } = context;
  const { id } = await world.addEndpoint({
    url: receiver.url,
    environment_id: environment,
    max_in_flight: 2,
  });
  let open = 0;
  let mostOpen = 0;
  receiver.answer(async () => {
    open += 1;
    mostOpen = Math.max(mostOpen, open);
    await new Promise((resolve) => setTimeout(resolve, 5));
    open -= 1;
    return 200;
  });
  const first = await world.startWorker();
  await eventually('active', () => first.status().fanOut.role === 'active');
  const second = await world.startWorker();
  await eventually('standby', () => second.status().fanOut.role === 'standby');
  const published: string[] = [];
  const publishTen = async (): Promise<void> => {
    for (let count = 0; count < 10; count += 1) {
      const resourceId = `cust_${published.length}`;
      published.push(await world.publish({ environment, resourceId }));
    }
  };
  await publishTen();
  await delivered(world, id, 10);
  await first.stop();
  await publishTen();
  await delivered(world, id, 20);
  assert.is(second.status().fanOut.role, 'active');
  assert.equal(receiver.ids().toSorted(), published.toSorted());
  assert.is(mostOpen, 2, 'the bound of the endpoint holds across workers');
});

test('messages wait until the read model is as far as they are', async (context) => {
  const { world, receiver, environment } = context;
  const worker = await world.startWorker();
  await world.setReadModelPosition('1');
  const message = await world.publish({ environment });
  await eventually('waiting', () => worker.status().fanOut.isWaiting);
  const late = await world.addEndpoint({ url: receiver.url, environment_id: environment });
  assert.equal(await world.states(late.id), []);
  await world.setReadModelPosition('1000000000000');
  await receiver.count(1);
  assert.equal(receiver.ids(), [message], 'the endpoint that came with the read model got it');
  // A read model that is lost later is noticed as well.
  await world.setReadModelPosition('1');
  const next = await world.publish({ environment });
  await eventually('waiting again', () => worker.status().fanOut.isWaiting);
  assert.is((await world.states(late.id)).length, 1, 'the next is no delivery yet');
  await world.setReadModelPosition('1000000000000');
  await receiver.count(2);
  assert.equal(receiver.ids(), [message, next]);
});

test('a stream that was made again is read again without sending anything twice', async (context) => {
  const { world, receiver, environment } = context;
  const { id } = await world.addEndpoint({ url: receiver.url, environment_id: environment });
  const worker = await world.startWorker();
  const old = [await world.publish({ environment }), await world.publish({ environment })];
  await delivered(world, id, 2);
  const before = worker.status().fanOut.sequence ?? 0;
  await worker.stop();
  await world.recreateStream();
  // The same messages at other places in the stream: one in front of them is no longer there.
  const positions = old.map((one) => BigInt(one.split('_')[1] ?? 0));
  for (const position of positions) await world.publish({ environment, position });
  const fresh: string[] = [];
  while (fresh.length < before) fresh.push(await world.publish({ environment }));
  await world.startWorker();
  await delivered(world, id, 2 + fresh.length);
  assert.equal(receiver.ids(), [...old, ...fresh]);
});

test("a message that is not the relay's is told until the stream is filled again", async (context) => {
  const { world, receiver, environment } = context;
  const { id } = await world.addEndpoint({ url: receiver.url, environment_id: environment });
  const worker = await world.startWorker();
  const fanOut = () => worker.health.find(({ name }) => name === 'webhooks fan-out')?.check();
  const first = await world.publish({ environment });
  await delivered(world, id, 1);
  const before = worker.status().fanOut.sequence ?? 0;
  await world.publishStray();
  await eventually('it is not ready', async () =>
    /not the relay's/.test(String(await fanOut()?.catch((error: unknown) => error))),
  );
  await world.recreateStream();
  const fresh: string[] = [];
  while (fresh.length <= before) fresh.push(await world.publish({ environment }));
  await delivered(world, id, 1 + fresh.length);
  assert.equal(receiver.ids(), [first, ...fresh]);
  await fanOut();
});

test('a lost database session is replaced', async (context) => {
  const { world, receiver, environment } = context;
  const { id } = await world.addEndpoint({ url: receiver.url, environment_id: environment });
  const worker = await world.startWorker();
  await eventually('active', () => worker.status().fanOut.role === 'active');
  await world.query(
    `select pg_terminate_backend(pid) from pg_stat_activity
      where application_name like 'counterfoil webhooks %'`,
  );
  const published = [await world.publish({ environment }), await world.publish({ environment })];
  await delivered(world, id, 2);
  assert.equal(receiver.ids(), published);
  await eventually('no errors', () =>
    Object.values(worker.status().errors).every((error) => error === null),
  );
});

test.run();
