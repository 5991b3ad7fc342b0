import type { ServerResponse } from 'node:http';
import { Webhook } from 'standardwebhooks';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { type Received, type Receiver, startReceiver } from './test-receiver.ts';
import { eventually, World } from './test-world.ts';

const test = suite<{ world: World; receiver: Receiver; environment: string }>('delivery');

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

/** The requests about each resource, told from the `customer` member of the body. */
function byResource(received: readonly Received[]): Map<string, Received[]> {
  const resources = new Map<string, Received[]>();
  for (const one of received) {
    const { id } = JSON.parse(one.body).customer;
    resources.set(id, [...(resources.get(id) ?? []), one]);
  }
  return resources;
}

test('what was published arrives, signed, with exactly its bytes', async (context) => {
  const { world, receiver, environment } = context;
  const headers = { Authorization: 'Bearer mine' };
  const { secret } = await world.addEndpoint({
    url: receiver.url,
    environment_id: environment,
    headers,
  });
  await world.startWorker();
  const customer = { id: 'cust_1', name: 'Zoë 👩🏽 <&>' };
  const id = await world.publish({ environment, revision: 7, body: { customer } });
  await receiver.count(1);
  const [one] = receiver.received;
  assert.ok(one);
  assert.is(one.body, JSON.stringify({ event_type: 'customer.updated', customer }));
  const verified = new Webhook(secret).verify(one.body, one.headers as Record<string, string>);
  assert.equal(verified, { event_type: 'customer.updated', customer });
  assert.is(one.id, id);
  assert.is(one.headers['content-type'], 'application/json');
  assert.is(one.headers['webhook-attempt'], '1');
  assert.is(one.headers['webhook-resource'], 'cust_1');
  assert.is(one.headers['webhook-sequence'], '7');
  assert.is(one.headers.authorization, 'Bearer mine');
});

test('an endpoint gets the types it wants, of its environment, from its creation on', async (context) => {
  const { world, receiver, environment } = context;
  await world.addEndpoint({
    url: `${receiver.url}/some`,
    environment_id: environment,
    event_types: ['wallet.created', 'invoice.*'],
  });
  const late = await world.publish({ environment, type: 'wallet.created' });
  const position = BigInt(late.split('_')[1] ?? 0);
  await world.addEndpoint({
    url: `${receiver.url}/late`,
    environment_id: environment,
    createdPosition: position,
  });
  await world.publish({ environment: 'env_other', type: 'wallet.created' });
  await world.publish({ environment, type: 'wallet.updated' });
  await world.publish({ environment, type: 'invoice.update.finalized', resourceId: 'inv_1' });
  await world.startWorker();
  await receiver.count(4);
  const [row] = await world.query<{ count: string }>(
    'select count(*) from counterfoil.webhook_deliveries where environment_id = $1',
    [environment],
  );
  assert.is(row?.count, '4');
  const got = (path: string) =>
    receiver.received
      .filter((one) => one.path.endsWith(path))
      .map(({ body }) => JSON.parse(body).event_type)
      .sort();
  assert.equal(got('/some'), ['invoice.update.finalized', 'wallet.created']);
  assert.equal(got('/late'), ['invoice.update.finalized', 'wallet.updated']);
});

test('events of one resource arrive in order and one at a time, resources in parallel', async (context) => {
  const { world, receiver, environment } = context;
  await world.addEndpoint({ url: receiver.url, environment_id: environment });
  let open = 0;
  let mostOpen = 0;
  receiver.answer(async () => {
    open += 1;
    mostOpen = Math.max(mostOpen, open);
    await new Promise((resolve) => setTimeout(resolve, Math.random() * 10));
    open -= 1;
    return Math.random() < 0.1 ? 500 : 200;
  });
  const published: string[] = [];
  for (let round = 0; round < 10; round += 1) {
    for (const resourceId of ['cust_1', 'cust_2', 'cust_3']) {
      const body = { customer: { id: resourceId, round } };
      published.push(await world.publish({ environment, resourceId, body }));
    }
    if (round === 4) await world.startWorker();
  }
  await eventually('all are delivered', async () => {
    const [row] = await world.query<{ count: string }>(
      `select count(*) from counterfoil.webhook_deliveries
        where environment_id = $1 and state = 'delivered'`,
      [environment],
    );
    return row?.count === '30';
  });
  assert.equal(new Set(receiver.ids()), new Set(published));
  for (const [resource, requests] of byResource(receiver.received)) {
    const rounds = requests.map(({ body }) => JSON.parse(body).customer.round);
    assert.equal(
      rounds,
      rounds.toSorted((left, right) => left - right),
      resource,
    );
    requests.slice(1).forEach((request, index) => {
      assert.ok((requests[index]?.ended ?? Number.POSITIVE_INFINITY) < request.began, resource);
    });
  }
  assert.ok(mostOpen > 1, 'resources do not wait for each other');
});

test('a failure is tried again with the same id; what comes after it waits', async (context) => {
  const { world, receiver, environment } = context;
  const { id: endpointId, secret } = await world.addEndpoint({
    url: receiver.url,
    environment_id: environment,
  });
  receiver.answer(() => (receiver.received.length <= 2 ? 500 : 200));
  const first = await world.publish({ environment });
  const second = await world.publish({ environment });
  const worker = await world.startWorker();
  await receiver.count(4);
  assert.equal(receiver.ids(), [first, first, first, second]);
  assert.equal(
    receiver.received.map(({ headers }) => headers['webhook-attempt']),
    ['1', '2', '3', '1'],
  );
  for (const { body, headers } of receiver.received) {
    assert.ok(new Webhook(secret).verify(body, headers as Record<string, string>));
  }
  await eventually('recorded', async () =>
    (await world.states(endpointId)).every((state) => state === 'delivered'),
  );
  const attempts = await world.query(
    `select attempt.attempt, attempt.outcome, attempt.status_code, attempt.detail
       from counterfoil.webhook_attempts attempt
       join counterfoil.webhook_deliveries delivery on delivery.id = attempt.delivery_id
      where delivery.event_id = $1 order by attempt.attempt`,
    [first],
  );
  assert.equal(attempts, [
    { attempt: 1, outcome: 'answer', status_code: 500, detail: 'answered' },
    { attempt: 2, outcome: 'answer', status_code: 500, detail: 'answered' },
    { attempt: 3, outcome: 'answer', status_code: 200, detail: 'answered' },
  ]);
  const text = await worker.metrics.registry.metrics();
  assert.match(text, /counterfoil_webhook_attempts_total\{outcome="5xx"\} 2/);
  assert.match(text, /counterfoil_webhook_deliveries_total\{result="delivered"\} 2/);
  assert.match(text, /counterfoil_webhook_delivery_seconds_count 2/);
  assert.match(text, /counterfoil_webhook_queue_depth\{state="pending"\} \d/);
});

test('a delivery that is given up lets the next one go; a receiver can refuse a message for good', async (context) => {
  const { world, receiver, environment } = context;
  const { id: endpointId } = await world.addEndpoint({
    url: receiver.url,
    environment_id: environment,
  });
  const [failing, refused, fine] = [
    await world.publish({ environment }),
    await world.publish({ environment }),
    await world.publish({ environment }),
  ];
  const refuse = (response: ServerResponse): void => {
    response.writeHead(422, { 'webhook-delivery': 'abort-message' }).end();
  };
  receiver.answer(({ id }) => (id === failing ? 500 : id === refused ? refuse : 200));
  await world.startWorker();
  await receiver.count(6);
  assert.equal(receiver.ids(), [failing, failing, failing, failing, refused, fine]);
  await eventually(
    'recorded',
    async () => String(await world.states(endpointId)) === 'exhausted,exhausted,delivered',
  );
});

test('after the head-of-line time-out later events overtake, one at a time', async (context) => {
  const { world, receiver, environment } = context;
  const { id: endpointId } = await world.addEndpoint({
    url: receiver.url,
    environment_id: environment,
    order_guard_seconds: 1,
  });
  const [stuck, second, third] = [
    await world.publish({ environment }),
    await world.publish({ environment }),
    await world.publish({ environment }),
  ];
  receiver.answer(({ id }) => (id === stuck ? 500 : 200));
  const retry = { ...world.config().retry, ladder: [60_000] };
  await world.startWorker({ retry });
  await receiver.count(3);
  assert.equal(receiver.ids(), [stuck, second, third]);
  const [, overtaking, following] = receiver.received;
  assert.ok((overtaking?.ended ?? Number.POSITIVE_INFINITY) < (following?.began ?? 0));
  await eventually(
    'recorded',
    async () => String(await world.states(endpointId)) === 'pending,delivered,delivered',
  );
});

test('an endpoint that hangs holds up neither others nor more than its share', async (context) => {
  const { world, receiver, environment } = context;
  const hanging = await startReceiver();
  hanging.answer(() => 'hang');
  const common = { environment_id: environment, order_mode: 'unordered' } as const;
  await world.addEndpoint({ ...common, url: hanging.url, max_in_flight: 2 });
  await world.addEndpoint({ ...common, url: receiver.url, max_in_flight: 2 });
  for (let count = 0; count < 40; count += 1) await world.publish({ environment });
  const worker = await world.startWorker({ maximumInFlight: 8 });
  await receiver.count(40);
  assert.is(hanging.received.length, 2);
  assert.is(worker.status().inFlight <= 8, true);
  hanging.close();
  await world.query(`update counterfoil.webhook_deliveries set state = 'cancelled'
    where environment_id = '${environment}' and state <> 'delivered'`);
});

test('a target that is not allowed is never reached', async (context) => {
  const { world, receiver, environment } = context;
  const { id: endpointId } = await world.addEndpoint({
    url: receiver.url,
    environment_id: environment,
  });
  await world.publish({ environment });
  await world.startWorker({ policy: { allowHttp: true, allowedCidrs: [], deniedCidrs: [] } });
  await eventually('given up', async () => (await world.states(endpointId))[0] === 'exhausted');
  assert.is(receiver.received.length, 0);
  const reasons = await world.query<{ reason: string }>(
    'select reason from counterfoil.webhook_attempts where endpoint_id = $1',
    [endpointId],
  );
  assert.equal(
    reasons.map(({ reason }) => reason),
    ['blocked_address', 'blocked_address', 'blocked_address'],
  );
});

test('a worker with another secret key sends nothing and does no harm', async (context) => {
  const { world, receiver, environment } = context;
  const { id } = await world.addEndpoint({ url: receiver.url, environment_id: environment });
  await world.publish({ environment });
  const wrong = await world.startWorker({}, 'ab'.repeat(32));
  const reasons = () =>
    world.query('select reason from counterfoil.webhook_attempts where endpoint_id = $1', [id]);
  await eventually('tried', async () => (await reasons()).length > 0);
  await wrong.stop();
  assert.equal(await reasons(), [{ reason: 'sealed' }]);
  assert.equal(await world.states(id), ['pending']);
  assert.is(receiver.received.length, 0);
  await world.startWorker();
  await world.query(
    'update counterfoil.webhook_deliveries set next_at = now() where endpoint_id = $1',
    [id],
  );
  await receiver.count(1);
});

test('a disabled endpoint is skipped, a deleted one cancelled', async (context) => {
  const { world, receiver, environment } = context;
  receiver.answer(() => 500);
  const retry = { ...world.config().retry, ladder: [60_000] };
  const { id } = await world.addEndpoint({ url: receiver.url, environment_id: environment });
  await world.startWorker({ retry });
  await world.publish({ environment });
  await world.publish({ environment });
  await receiver.count(1);
  await world.changeEndpoint(id, { enabled: false, disabled_reason: 'by_request' });
  await eventually('skipped', async () => String(await world.states(id)) === 'skipped,skipped');
  await world.publish({ environment });
  await eventually('recorded as skipped', async () => (await world.states(id)).length === 3);
  assert.is((await world.states(id))[2], 'skipped');
  await world.changeEndpoint(id, { enabled: true, disabled_reason: null });
  await world.publish({ environment });
  await world.publish({ environment });
  await receiver.count(2);
  // An endpoint that is gone gets no delivery of a message that is read later.
  await eventually('recorded', async () => (await world.states(id)).length === 5);
  await world.changeEndpoint(id, { enabled: false, status: 'deleted' });
  await eventually(
    'cancelled',
    async () => String(await world.states(id)) === 'skipped,skipped,skipped,cancelled,cancelled',
  );
  await world.publish({ environment });
  assert.is(receiver.received.length, 2);
});

test.run();
