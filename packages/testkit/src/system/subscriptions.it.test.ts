import { connect, type Events, type NatsConnection, NatsError } from 'nats';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { eventually } from '../eventually.ts';
import { type Stack, startStack, type TestTenant } from '../stack.ts';

const test = suite('event subscriptions');

let stack: Stack;
let one: TestTenant;
let two: TestTenant;
const opened: NatsConnection[] = [];
test.before(async () => {
  stack = await startStack();
  [one, two] = [await stack.tenant('subscriber-one'), await stack.tenant('subscriber-two')];
});
test.after(async () => {
  for (const connection of opened) await connection.close();
  await stack.stop();
});

interface Subscription {
  readonly id: string;
  readonly nats: {
    readonly stream: string;
    readonly consumer: string;
    readonly inbox_prefix: string;
    readonly live_subjects: string;
  };
  readonly credentials: { readonly user: string; readonly password: string };
}

const subscribe = (tenant: TestTenant, body: object = {}): Promise<Subscription> =>
  tenant.ok('POST', '/events/subscriptions', { name: 'warehouse', ...body });

/** Logs in as a downstream system does, as soon as NATS knows the login. */
const login = ({ credentials, nats }: Subscription): Promise<NatsConnection> =>
  eventually(async () => {
    try {
      const connection = await connect({
        servers: new URL(stack.natsUrl).host,
        user: credentials.user,
        pass: credentials.password,
        inboxPrefix: nats.inbox_prefix,
        maxReconnectAttempts: -1,
        reconnectTimeWait: 50,
      });
      opened.push(connection);
      return connection;
    } catch (error) {
      if (error instanceof NatsError && error.code === 'AUTHORIZATION_VIOLATION') return false;
      throw error;
    }
  });

/** Takes and confirms so many messages of a subscription. */
async function take(
  connection: NatsConnection,
  { nats }: Subscription,
  count: number,
): Promise<{ event_type: string; customer: { name: string } }[]> {
  const stream = connection.jetstream({ checkAPI: false });
  const consumer = await stream.consumers.get(nats.stream, nats.consumer);
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

test('begins with what comes next, at a position, or with the oldest, and begins anew when asked', async () => {
  const position = await newCustomers(one, ['a', 'b']);
  await eventually(async () => {
    const { items } = await one.ok('GET', '/events');
    return items.at(-1)?.position === position;
  });
  const next = await subscribe(one);
  const oldest = await subscribe(one, { from: 'oldest' });
  const after = await subscribe(one, { after_position: position });
  await newCustomers(two, ['foreign']);
  await newCustomers(one, ['c', 'd']);

  assert.equal(namesOf(await take(await login(next), next, 2)), ['c', 'd']);
  const reader = await login(oldest);
  assert.equal(namesOf(await take(reader, oldest, 4)), ['a', 'b', 'c', 'd']);
  assert.equal(namesOf(await take(await login(after), after, 2)), ['c', 'd']);

  await eventually(async () => {
    const { delivery } = await one.ok('GET', `/events/subscriptions/${oldest.id}`);
    return delivery.pending === 0 && delivery.unconfirmed === 0;
  });
  await one.ok('POST', `/events/subscriptions/${oldest.id}/replay`, { from: 'oldest' });
  assert.equal(namesOf(await take(reader, oldest, 4)), ['a', 'b', 'c', 'd']);
});

test('a kind of record alone, and both starts at once are refused', async () => {
  const wallets = await subscribe(one, { resource: 'wallet', from: 'oldest' });
  const { delivery } = await one.ok('GET', `/events/subscriptions/${wallets.id}`);
  assert.equal(delivery, { pending: 0, unconfirmed: 0 });
  const both = { name: 'x', from: 'oldest', after_position: '1' };
  const refused = await one.call('POST', '/events/subscriptions', both);
  assert.is(refused.status, 400);
  assert.match(refused.body.errors[0].message, /at most one of/);
});

test('a login outlives the broker, and so does its place', async () => {
  const subscription = await subscribe(one);
  await newCustomers(one, ['before']);
  const reader = await login(subscription);
  assert.equal(namesOf(await take(reader, subscription, 1)), ['before']);
  await stack.parts.nats.stop();
  await newCustomers(one, ['meanwhile']);
  await stack.parts.nats.start();
  const again = await login(subscription);
  const taken = await take(again, subscription, 1);
  assert.ok(['before', 'meanwhile'].includes(namesOf(taken)[0] ?? ''), 'at least once');
  if (namesOf(taken)[0] === 'before') {
    assert.equal(namesOf(await take(again, subscription, 1)), ['meanwhile']);
  }
});

/** Whether a publication is denied; a request that nobody answers was allowed. */
async function isDenied(connection: NatsConnection, subject: string): Promise<boolean> {
  try {
    await connection.request(subject, '{}', { timeout: 1_000 });
    return false;
  } catch (error) {
    return error instanceof NatsError && error.isPermissionError();
  }
}

/** Whether listening is denied. */
const isDeaf = (connection: NatsConnection, subject: string): Promise<boolean> =>
  new Promise((resolve) => {
    const subscription = connection.subscribe(subject, {
      callback: (error) => {
        if (error) resolve(true);
      },
    });
    // The server answers in order: a denial would have come before.
    void connection
      .flush()
      .then(() => connection.flush())
      .then(() => {
        resolve(false);
        subscription.unsubscribe();
      });
  });

test('a login reads its own and nothing else, and writes nothing', async () => {
  const own = await subscribe(one);
  const other = await subscribe(two);
  const connection = await login(own);
  const { tenantId, environmentId } = two;
  const foreign = `${tenantId}.${environmentId}`;
  const mine = `${one.tenantId}.${one.environmentId}`;
  const stream = own.nats.stream;

  const denied = [
    `billing.v1.${mine}.customer.x.created`,
    `billing.v1.${foreign}.customer.x.created`,
    `live.billing.v1.${mine}.customer.x.created`,
    `live.billing.v1.${foreign}.customer.x.created`,
    `$JS.API.CONSUMER.MSG.NEXT.${stream}.${other.id}`,
    `$JS.API.CONSUMER.INFO.${stream}.${other.id}`,
    `$JS.ACK.${stream}.${other.id}.1.1.1.1.0`,
    `$JS.API.CONSUMER.CREATE.${stream}`,
    `$JS.API.CONSUMER.CREATE.${stream}.${own.id}`,
    `$JS.API.CONSUMER.CREATE.${stream}.x.billing.v1.${foreign}.>`,
    `$JS.API.CONSUMER.DURABLE.CREATE.${stream}.${own.id}`,
    `$JS.API.CONSUMER.DELETE.${stream}.${own.id}`,
    `$JS.API.CONSUMER.DELETE.${stream}.${other.id}`,
    `$JS.API.CONSUMER.LIST.${stream}`,
    `$JS.API.CONSUMER.NAMES.${stream}`,
    `$JS.API.STREAM.INFO.${stream}`,
    `$JS.API.STREAM.NAMES`,
    `$JS.API.STREAM.UPDATE.${stream}`,
    `$JS.API.STREAM.PURGE.${stream}`,
    `$JS.API.STREAM.DELETE.${stream}`,
    `$JS.API.STREAM.CREATE.MINE`,
    `$JS.API.STREAM.MSG.GET.${stream}`,
    `$JS.API.STREAM.MSG.DELETE.${stream}`,
    `$JS.API.DIRECT.GET.${stream}`,
    `$JS.API.DIRECT.GET.${stream}.billing.v1.${foreign}.customer.x.created`,
    '$JS.API.INFO',
    `_INBOX_${other.id}.x`,
    'anything',
  ];
  for (const subject of denied) assert.ok(await isDenied(connection, subject), subject);

  const deaf = [
    '>',
    'billing.v1.>',
    `billing.v1.${mine}.>`,
    'live.>',
    'live.billing.v1.>',
    `live.billing.v1.${foreign}.>`,
    `live.billing.v1.*.${environmentId}.>`,
    `_INBOX_${other.id}.>`,
    '_INBOX.>',
    '$JS.API.>',
    `$JS.ACK.${stream}.${other.id}.>`,
    '$SYS.>',
  ];
  for (const subject of deaf) assert.ok(await isDeaf(connection, subject), subject);
  assert.not.ok(await isDeaf(connection, own.nats.live_subjects), 'its own live subjects');
});

test('what is live arrives, of the own environment alone', async () => {
  const own = await subscribe(one);
  const connection = await login(own);
  const heard: string[] = [];
  connection.subscribe(own.nats.live_subjects, {
    callback: (_error, message) => {
      heard.push(message.json<{ customer: { name: string } }>().customer.name);
    },
  });
  await connection.flush();
  await newCustomers(two, ['their live']);
  await newCustomers(one, ['my live']);
  await eventually(() => heard.includes('my live'));
  assert.not.ok(heard.includes('their live'));
});

test('a deleted subscription can neither stay nor come back', async () => {
  const subscription = await subscribe(one);
  const connection = await login(subscription);
  let lastEvent: Events | string = '';
  void (async () => {
    for await (const status of connection.status()) lastEvent = status.type;
  })();
  await one.ok('DELETE', `/events/subscriptions/${subscription.id}`);
  await eventually(() => lastEvent !== '' || connection.isClosed());
  await eventually(async () => {
    try {
      const again = await connect({
        servers: new URL(stack.natsUrl).host,
        user: subscription.credentials.user,
        pass: subscription.credentials.password,
      });
      await again.close();
      return false;
    } catch (error) {
      return error instanceof NatsError && error.code === 'AUTHORIZATION_VIOLATION';
    }
  });
  assert.is((await one.call('GET', `/events/subscriptions/${subscription.id}`)).status, 404);
  assert.is((await two.call('DELETE', `/events/subscriptions/${subscription.id}`)).status, 404);
});

test('another tenant knows nothing of a subscription', async () => {
  const { id } = await subscribe(one);
  for (const path of [`/events/subscriptions/${id}`, `/events/subscriptions/${id}/credentials`]) {
    assert.is((await two.call('GET', path)).status, 404);
    assert.is((await one.call('GET', path)).status, 200);
  }
  assert.is((await two.call('POST', `/events/subscriptions/${id}/replay`, {})).status, 404);
});

test.run();
