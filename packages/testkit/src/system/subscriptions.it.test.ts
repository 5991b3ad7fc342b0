import { connect, type NatsConnection } from 'nats';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { eventually } from '../eventually.ts';
import { type SharedStack, sharedStack, type TestTenant } from '../stack.ts';

const test = suite('event subscriptions');

let stack: SharedStack;
let one: TestTenant;
let two: TestTenant;
const opened: NatsConnection[] = [];
test.before(async () => {
  stack = await sharedStack();
  [one, two] = [await stack.tenant('subscriber-one'), await stack.tenant('subscriber-two')];
});
test.after(async () => {
  for (const connection of opened) await connection.close();
});

interface Subscription {
  readonly id: string;
  readonly nats: { readonly stream: string; readonly consumer: string };
}

const subscribe = (tenant: TestTenant, body: object = {}): Promise<Subscription> =>
  tenant.ok('POST', '/feed/subscriptions', { name: 'warehouse', ...body });

/** Connects as a downstream system does. */
async function reader(): Promise<NatsConnection> {
  const connection = await connect({
    servers: new URL(stack.natsUrl).host,
    maxReconnectAttempts: -1,
    reconnectTimeWait: 50,
  });
  opened.push(connection);
  return connection;
}

/** Takes and confirms so many messages of a subscription. */
async function take(
  connection: NatsConnection,
  { nats }: Subscription,
  count: number,
): Promise<{ event_type: string; customer: { name: string } }[]> {
  const stream = connection.jetstream({ checkAPI: false });
  // Where the broker is slow to answer, the reader is made after the answer of the API.
  const consumer = await eventually(() =>
    stream.consumers.get(nats.stream, nats.consumer).catch(() => false as const),
  );
  const taken = [];
  for await (const message of await consumer.consume({ max_messages: 10 })) {
    taken.push(message.json<{ event_type: string; customer: { name: string } }>());
    message.ack();
    if (taken.length === count) break;
  }
  await connection.flush();
  return taken;
}

async function newCustomers(tenant: TestTenant, names: readonly string[]): Promise<string> {
  let position = '';
  for (const name of names) {
    const answer = await tenant.call('POST', '/customers', { external_id: name, name });
    assert.is(answer.status, 201);
    position = answer.headers.get('counterfoil-position') ?? '';
  }
  return position;
}

const namesOf = (taken: readonly { customer: { name: string } }[]) =>
  taken.map(({ customer }) => customer.name);

test('begins with what comes next, at a position, or with the oldest, and starts again when asked', async () => {
  const position = await newCustomers(one, ['a', 'b']);
  await eventually(async () => {
    const { items } = await one.ok('GET', '/feed');
    return items.at(-1)?.position === position;
  });
  const next = await subscribe(one);
  const oldest = await subscribe(one, { from: 'oldest' });
  const after = await subscribe(one, { after_position: position });
  await newCustomers(two, ['foreign']);
  await newCustomers(one, ['c', 'd']);

  assert.equal(namesOf(await take(await reader(), next, 2)), ['c', 'd']);
  const connection = await reader();
  assert.equal(namesOf(await take(connection, oldest, 4)), ['a', 'b', 'c', 'd']);
  assert.equal(namesOf(await take(await reader(), after, 2)), ['c', 'd']);

  await eventually(async () => {
    const { delivery } = await one.ok('GET', `/feed/subscriptions/${oldest.id}`);
    return delivery.pending === 0 && delivery.unconfirmed === 0;
  });
  await one.ok('POST', `/feed/subscriptions/${oldest.id}/replay`, { from: 'oldest' });
  assert.equal(namesOf(await take(connection, oldest, 4)), ['a', 'b', 'c', 'd']);
});

test('a kind of record alone, and both starts at once are refused', async () => {
  const wallets = await subscribe(one, { resource: 'wallet', from: 'oldest' });
  const { delivery } = await one.ok('GET', `/feed/subscriptions/${wallets.id}`);
  assert.equal(delivery, { pending: 0, unconfirmed: 0 });
  const both = { name: 'x', from: 'oldest', after_position: '1' };
  const refused = await one.call('POST', '/feed/subscriptions', both);
  assert.is(refused.status, 400);
  assert.match(refused.body.errors[0].message, /at most one of/);
});

test('a subscription outlives the broker, and so does its place', async () => {
  const subscription = await subscribe(one);
  await newCustomers(one, ['before']);
  const connection = await reader();
  assert.equal(namesOf(await take(connection, subscription, 1)), ['before']);
  await stack.parts.nats.stop();
  await newCustomers(one, ['meanwhile']);
  await stack.parts.nats.start();
  const again = await reader();
  const taken = await take(again, subscription, 1);
  assert.ok(['before', 'meanwhile'].includes(namesOf(taken)[0] ?? ''), 'at least once');
  if (namesOf(taken)[0] === 'before') {
    assert.equal(namesOf(await take(again, subscription, 1)), ['meanwhile']);
  }
});

test('a deleted subscription leaves no consumer behind, and does not come back', async () => {
  const { id, nats } = await subscribe(one);
  const connection = await reader();
  const manager = await connection.jetstreamManager({ checkAPI: false });
  assert.is((await manager.consumers.info(nats.stream, nats.consumer)).name, id);
  await one.ok('DELETE', `/feed/subscriptions/${id}`);
  const consumers = await manager.consumers.list(nats.stream).next();
  assert.not.ok(consumers.some(({ name }) => name === id));
  assert.is((await one.call('GET', `/feed/subscriptions/${id}`)).status, 404);
  assert.is((await two.call('DELETE', `/feed/subscriptions/${id}`)).status, 404);
});

test('a consumer that was removed by hand is made again', async () => {
  const { nats } = await subscribe(one, { from: 'oldest' });
  const connection = await reader();
  const manager = await connection.jetstreamManager({ checkAPI: false });
  await manager.consumers.delete(nats.stream, nats.consumer);
  await eventually(() =>
    manager.consumers.info(nats.stream, nats.consumer).catch(() => false as const),
  );
});

test('another tenant knows nothing of a subscription', async () => {
  const { id } = await subscribe(one);
  const path = `/feed/subscriptions/${id}`;
  assert.is((await two.call('GET', path)).status, 404);
  assert.is((await one.call('GET', path)).status, 200);
  assert.is((await two.call('POST', `/feed/subscriptions/${id}/replay`, {})).status, 404);
});

test.run();
