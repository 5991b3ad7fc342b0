import { verifyWebhook } from '@counterfoil/cli/verify-webhook';
import { secretsFrom } from '@counterfoil/modules';
import { Webhook } from 'standardwebhooks';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { sealingContext } from '../endpoint/endpoint.ts';
import { standardSendLimits } from '../sending/sender.ts';
import { type Receiver, startReceiver } from './test-receiver.ts';
import { eventually, type TestEndpoint, World } from './test-world.ts';

const test = suite<{ world: World; receiver: Receiver; hanging: Receiver; environment: string }>(
  'isolation',
);

let environments = 0;

test.before(async (context) => {
  context.world = await World.start();
});
test.after(({ world }) => world.stop());
test.before.each(async (context) => {
  environments += 1;
  context.hanging = await startReceiver();
  context.hanging.answer(() => 'hang');
  context.environment = `env_${environments}`;
  context.receiver = await startReceiver();
});
test.after.each(async ({ world, receiver, hanging }) => {
  receiver.close();
  hanging.close();
  await world.stopWorkers();
  await world.query('truncate counterfoil.webhook_messages cascade');
});

/** Publishes events about some resources, one round after the other. Gives how many. */
async function publishRounds(
  world: World,
  environment: string,
  rounds: number,
  resources: number,
): Promise<number> {
  for (let round = 0; round < rounds; round += 1) {
    for (let resource = 0; resource < resources; resource += 1) {
      const id = `cust_${resource}`;
      await world.publish({ environment, resourceId: id, body: { customer: { id, round } } });
    }
  }
  return rounds * resources;
}

/** Checks that of each resource the rounds that succeeded came in order, each at least once. */
function assertInOrder(receiver: Receiver, succeeded: ReadonlySet<string>, rounds: number): void {
  const last = new Map<string, number>();
  for (const { body, id } of receiver.received) {
    if (!succeeded.has(id)) continue;
    const { customer } = JSON.parse(body);
    const before = last.get(customer.id) ?? -1;
    assert.ok(customer.round === before || customer.round === before + 1, `${id} after ${before}`);
    last.set(customer.id, customer.round);
  }
  for (const [resource, round] of last) assert.is(round, rounds - 1, resource);
}

/** Settings with which a request that hangs does so to the end of the test, however busy the machine is. */
const forLong = {
  leaseMs: 3_600_000,
  sendLimits: { ...standardSendLimits, headersTimeout: 3_000_000, totalTimeout: 3_000_000 },
};

test('of 50 endpoints one hangs: the others get everything, it holds its own bound', async (context) => {
  const { world, receiver, hanging, environment } = context;
  const common = { environment_id: environment, max_in_flight: 4 };
  await world.addEndpoint({ ...common, url: hanging.url });
  for (let index = 1; index < 50; index += 1) {
    await world.addEndpoint({ ...common, url: `${receiver.url}/${index}` });
  }
  const published = await publishRounds(world, environment, 2, 10);
  await world.startWorker({ maximumInFlight: 32, ...forLong });
  // An answer that a busy machine did not see in time makes a delivery come again.
  const arrived = () => new Set(receiver.received.map(({ path, id }) => `${path} ${id}`)).size;
  await eventually('each has got everything', () => arrived() === 49 * published);
  assert.is(hanging.received.length, 4);
});

test('more endpoints hang than there is room: what answers goes on', async (context) => {
  const { world, receiver, hanging, environment } = context;
  const common = { environment_id: environment, order_mode: 'unordered' } as const;
  for (let index = 0; index < 12; index += 1) {
    await world.addEndpoint({ ...common, url: `${hanging.url}/${index}`, max_in_flight: 4 });
  }
  await publishRounds(world, environment, 2, 4);
  // Eight quick and eight slow ones at a time, and 48 that would like to hang.
  const worker = await world.startWorker({ maximumInFlight: 8, slowAfterMs: 30, ...forLong });
  await eventually('all the room hangs', () => hanging.received.length >= 16);
  await world.addEndpoint({ ...common, url: receiver.url, max_in_flight: 2 });
  const published = await publishRounds(world, environment, 5, 4);
  const arrived = () => new Set(receiver.received.map(({ id }) => id)).size;
  await eventually('it has got everything', () => arrived() === published);
  assert.ok(worker.status().inFlight <= 16, String(worker.status().inFlight));
});

test('an endpoint that fails for a day gets everything afterwards, for a hundred probes', async (context) => {
  const { world, receiver, environment } = context;
  const { id } = await world.addEndpoint({ url: receiver.url, environment_id: environment });
  const succeeded = new Set<string>();
  let isDown = true;
  receiver.answer((one) => {
    if (isDown) return 503;
    succeeded.add(one.id);
    return 200;
  });
  const published = await publishRounds(world, environment, 10, 20);
  const { breaker } = world.config();
  // A day in which a quarter of an hour takes 20 ms. With four attempts each all would be given up.
  await world.startWorker({
    breaker: { ...breaker, firstProbe: 1, longestProbe: 20 },
    retry: { ladder: [1, 1, 1], slowDown: 0, retryAfterMaximum: 0, blockedAttempts: 3 },
    pollMs: 5,
  });
  const probes = async (): Promise<number> => {
    const [row] = await world.query<{ probes: number }>(
      'select probes from counterfoil.webhook_health where endpoint_id = $1',
      [id],
    );
    return row?.probes ?? 0;
  };
  await eventually('a day has passed', async () => (await probes()) >= 96);
  isDown = false;
  const attempts = receiver.received.length;
  const probed = await probes();
  assert.ok(attempts <= probed + 54, `${attempts} attempts, ${probed} of them probes`);
  await eventually('all are delivered', async () => {
    const states = await world.states(id);
    return states.length === published && states.every((state) => state === 'delivered');
  });
  assertInOrder(receiver, succeeded, 10);
  assert.is(succeeded.size, published);
  const [health] = await world.query(
    'select state, failures_in_row from counterfoil.webhook_health where endpoint_id = $1',
    [id],
  );
  assert.equal(health, { state: 'closed', failures_in_row: 0 });
});

test('what is held back for longer than the horizon is given up without being sent', async (context) => {
  const { world, receiver, environment } = context;
  const { id } = await world.addEndpoint({ url: receiver.url, environment_id: environment });
  receiver.answer(() => 500);
  await publishRounds(world, environment, 2, 6);
  const { breaker } = world.config();
  const policy = { ...breaker, failuresInRow: 3, firstProbe: 3_600_000, horizon: 1 };
  await world.startWorker({ breaker: policy, upkeepMs: 5 });
  await eventually('all are given up', async () => {
    const states = await world.states(id);
    return states.length === 12 && states.every((state) => state === 'exhausted');
  });
  assert.ok(receiver.received.length < 12, 'most of them were never sent');
  const reports = await world.query('select message from counterfoil.webhook_reports');
  const left = reports.length;
  // The worker takes them off the list, because the endpoint is not in this log.
  await eventually('reported', async () => {
    const rows = await world.query('select 1 from counterfoil.webhook_reports');
    return rows.length === 0 && left <= 12;
  });
});

test('who answers 410 gets nothing more', async (context) => {
  const { world, receiver, environment } = context;
  const { id } = await world.addEndpoint({ url: receiver.url, environment_id: environment });
  receiver.answer(() => 410);
  await publishRounds(world, environment, 3, 1);
  await world.startWorker();
  await eventually('held back', async () => {
    const [row] = await world.query<{ disable_reason: string }>(
      'select disable_reason from counterfoil.webhook_health where endpoint_id = $1',
      [id],
    );
    return row?.disable_reason === 'gone';
  });
  assert.equal(await world.states(id), ['exhausted', 'pending', 'waiting']);
  // Enabled again, it starts again.
  receiver.answer(() => 200);
  await world.changeEndpoint(id, { enabled_at: '2100-01-01T00:00:00.000Z' as never });
  await eventually(
    'goes on',
    async () => String(await world.states(id)) === 'exhausted,delivered,delivered',
  );
});

test('a thin endpoint gets ids, signed over what it gets', async (context) => {
  const { world, receiver, environment } = context;
  const { secret } = await world.addEndpoint({
    url: receiver.url,
    environment_id: environment,
    payload: 'thin',
  });
  await world.publish({ environment, body: { customer: { id: 'cust_1', name: 'Zoë' } } });
  await world.startWorker();
  await receiver.count(1);
  const [one] = receiver.received;
  const { event } = verifyWebhook(Buffer.from(one?.body ?? ''), one?.headers ?? {}, [secret]);
  assert.equal(event, { event_type: 'customer.updated', customer: { id: 'cust_1' } });
});

/** Gives the endpoint another secret, as a rotation with a grace period does. */
async function rotate(world: World, { id, secret }: TestEndpoint, next: string): Promise<void> {
  const { sealer } = secretsFrom(world.secretKey);
  const seal = (text: string) => sealer.seal(text, sealingContext(id, 'secret'));
  const until = new Date(Date.now() + 3_600_000).toISOString() as never;
  await world.changeEndpoint(id, {
    secret: seal(next),
    former_secrets: [{ secret: seal(secret), until }],
  });
}

test('a secret is exchanged under traffic, and no verification fails', async (context) => {
  const { world, receiver, environment } = context;
  const endpoint = await world.addEndpoint({ url: receiver.url, environment_id: environment });
  const next = `whsec_${Buffer.alloc(32, 9).toString('base64')}`;
  let known = endpoint.secret;
  const refused: string[] = [];
  receiver.answer(({ body, headers, id }) => {
    try {
      new Webhook(known).verify(body, headers as Record<string, string>);
      verifyWebhook(Buffer.from(body), headers, [known]);
      return 200;
    } catch {
      refused.push(id);
      return 401;
    }
  });
  await world.startWorker();
  const before = await publishRounds(world, environment, 3, 10);
  await rotate(world, endpoint, next);
  const during = await publishRounds(world, environment, 3, 10);
  // The receiver still has the former one. It changes over when it likes, within the grace period.
  await receiver.count(before + during);
  assert.ok(receiver.received.at(-1)?.headers['webhook-signature']?.includes(' '), 'signed twice');
  known = next;
  await publishRounds(world, environment, 3, 10);
  await eventually('all are delivered', async () => {
    const states = await world.states(endpoint.id);
    return states.length === 90 && states.every((state) => state === 'delivered');
  });
  assert.equal(refused, []);
});

test.run();
