import { setTimeout as pause } from 'node:timers/promises';
import type { NatsConnection } from 'nats';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { caller } from '../caller.ts';
import { eventually } from '../eventually.ts';
import { type SharedStack, sharedStack, type TestTenant } from '../stack.ts';
import { connectWith, refusalOf } from './gateway-clients.ts';
import { type SentAnswer, sendUsage, type UsageCredentials } from './usage-senders.ts';
import { untilUsageIsShown } from './usage-shown.ts';

const test = suite('usage over NATS');

let stack: SharedStack;
let tenant: TestTenant;
let issued: UsageCredentials;
let connection: NatsConnection;
const opened: NatsConnection[] = [];
test.before(async () => {
  stack = await sharedStack();
  tenant = await stack.tenant('sender');
  await untilUsageIsShown(tenant);
  issued = await issue();
  connection = await open(issued);
});
test.after(async () => {
  for (const each of opened) await each.close();
});

const open = async (given: UsageCredentials): Promise<NatsConnection> => {
  const made = await connectWith(given);
  opened.push(made);
  return made;
};

const issue = (body: object = {}, by: Pick<TestTenant, 'ok'> = tenant): Promise<UsageCredentials> =>
  by.ok('POST', '/usage/credentials', { name: 'models', ...body });

const eventOf = (event_id: string, count = 1) => ({
  event_name: 'tokens',
  external_customer_id: 'acme',
  event_id,
  timestamp: '2026-05-01T00:00:00.000Z',
  properties: { count },
});

const send = (body: unknown, headers = {}): Promise<SentAnswer> =>
  sendUsage(connection, issued, body, { headers });

/** An event as the API shows it, once its tables have come to a position. */
async function shownAt(position: string | undefined, event_id: string) {
  const headers = { 'counterfoil-min-position': position ?? '0' };
  return await eventually(
    async () => {
      const answer = await tenant.call('GET', `/events/${event_id}`, undefined, headers);
      return answer.status === 200 && answer.body.event;
    },
    () => `the event ${event_id} was never shown`,
  );
}

test('an event is answered as over HTTP, and is shown', async () => {
  const answer = await send(eventOf('single', 3));
  const { position, ...rest } = answer;
  assert.equal(rest, { status: 202, body: { message: 'Recorded.', event_id: 'single' } });
  const shown = await shownAt(position, 'single');
  assert.equal([shown.event_name, shown.properties], ['tokens', { count: 3 }]);
});

test('an api that takes what is sent says so', async () => {
  const answer = await fetch(`${stack.baseUrl}/readyz`);
  const { checks } = (await answer.json()) as { readonly checks: readonly { name: string }[] };
  const check = checks.find(({ name }) => name === 'senders');
  assert.equal(check, { name: 'senders', required: false, status: 'ok' });
});

test('the same again, a conflict, a malformed event and a malformed text are answered as over HTTP', async () => {
  const bodies: readonly (readonly [string, unknown])[] = [
    ['/events', eventOf('single', 3)],
    ['/events', eventOf('single', 4)],
    ['/events', { ...eventOf('odd'), count: 1 }],
    ['/events', { ...eventOf('late'), timestamp: 'yesterday' }],
    ['/events', '{"event_name": '],
    ['/events', { ...eventOf('large'), properties: { text: 'x'.repeat(70_000) } }],
    ['/events/bulk', { events: [eventOf('single', 3), eventOf('single', 5)] }],
    ['/events/bulk', { events: [eventOf('a'), { event_name: 'tokens' }] }],
    ['/events/bulk', { events: [] }],
    ['/events/bulk', { source: 'web', events: [eventOf('late member')] }],
  ];
  for (const [path, body] of bodies) {
    const sent = await send(body);
    const text = typeof body === 'string' ? body : JSON.stringify(body);
    const called = await fetch(`${stack.baseUrl}/v1${path}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-api-key': tenant.apiKey },
      body: text,
    });
    const answers = [sent.body, await called.json()].map((answer) => ({
      ...answer,
      // The one part that names the request.
      instance: undefined,
    }));
    assert.equal(answers[0], answers[1], text.slice(0, 100));
    assert.is(sent.status, called.status);
  }
});

test('a bulk is recorded, and what is known of it is told', async () => {
  const events = Array.from({ length: 1_000 }, (_, index) => eventOf(`bulk-${index}`));
  const first = await send({ events });
  assert.is(first.status, 202, JSON.stringify(first));
  assert.equal([first.body.accepted, first.body.repeated], [1_000, 0]);
  const again = await send({ events: [eventOf('bulk-0'), eventOf('bulk-1', 2), eventOf('new')] });
  assert.equal(
    [again.status, again.body.accepted, again.body.repeated, again.body.conflicts],
    [202, 1, 1, [{ index: 1, event_id: 'bulk-1' }]],
  );
  await shownAt(again.position, 'bulk-999');
});

test('an event without an id gets the same one under the same idempotency key', async () => {
  const { event_id: _, ...body } = eventOf('');
  const ids = [];
  for (const key of ['one', 'one', 'two']) {
    ids.push((await send(body, { 'Idempotency-Key': key })).body.event_id);
  }
  assert.is(ids[0], ids[1]);
  assert.is.not(ids[0], ids[2]);
});

test('what is sent without a wish for an answer is recorded, and its refusal counted', async () => {
  connection.publish(issued.subject, JSON.stringify(eventOf('unanswered')));
  connection.publish(issued.subject, '{}');
  await shownAt('0', 'unanswered');
  await eventually(async () => {
    const metrics = await (await fetch(`${stack.baseUrl}/metrics`)).text();
    return /^counterfoil_sent_messages_lost_total{intake="usage"} 1$/m.test(metrics);
  });
});

/** A sender that was refused rests before it sends the same again. */
const restMilliseconds = 250;

test('a flood is answered, message by message, and another tenant is served beside it', async () => {
  const ids = Array.from({ length: 1_500 }, (_, index) => `flood-${index}`);
  const sendUntilTaken = async (id: string): Promise<void> => {
    for (;;) {
      const { status, body, retry_after } = await send(eventOf(id));
      if (status === 202) return;
      assert.equal([status, retry_after], [429, 1], JSON.stringify(body));
      await pause(restMilliseconds);
    }
  };
  const flood = Promise.all(ids.map(sendUntilTaken));
  const other = await stack.tenant('sender-beside');
  const own = await issue({}, other);
  const link = await open(own);
  for (let index = 0; index < 20; index += 1) {
    assert.is((await sendUsage(link, own, eventOf(`beside-${index}`))).status, 202);
  }
  await flood;
  const last = await send({ events: ids.slice(0, 1_000).map((id) => eventOf(id)) });
  assert.equal([last.body.repeated, last.body.conflicts], [1_000, []]);
});

test('they are issued to keys that may record usage, shown once, and the same when asked for again', async () => {
  const path = '/usage/credentials';
  const key = { 'idempotency-key': 'usage-credentials' };
  const first = await tenant.call('POST', path, { name: 'twice' }, key);
  const again = await tenant.call('POST', path, { name: 'twice' }, key);
  assert.equal([first.status, again.body], [201, first.body]);
  const { items } = await eventually(async () => {
    const listed = await tenant.ok('GET', path);
    return listed.items.some(({ id }: { id: string }) => id === first.body.id) && listed;
  });
  assert.not.ok(JSON.stringify(items).includes('PRIVATE'));
  assert.not.ok(items.some((item: object) => 'credentials' in item));

  const robot = await keyOf('event_ingestor');
  assert.is(await refusalOf(await issue({}, robot)), 'connected');
  const reader = await keyOf('event_reader');
  assert.is((await reader.call('POST', path, { name: 'x' })).status, 403);
});

/** A key of a new service account with one role. */
async function keyOf(role: string) {
  const account = { type: 'service_account', name: role, roles: [role] };
  const { id } = await tenant.ok('POST', '/users', account);
  const body = { name: role, type: 'private_key', service_account_id: id };
  const { secret, api_key } = await tenant.ok('POST', '/secrets/api/keys', body);
  return { ...caller(stack.baseUrl, api_key), keyId: String(secret.id) };
}

test('they end with the key that they were issued for', async () => {
  const robot = await keyOf('event_ingestor');
  const own = await issue({}, robot);
  const link = await open(own);
  assert.is((await sendUsage(link, own, eventOf('of-a-robot'))).status, 202);
  await tenant.ok('DELETE', `/secrets/api/keys/${robot.keyId}`);
  const { status, body } = await sendUsage(link, own, eventOf('of-nobody'));
  assert.equal([status, body.code], [401, 'unauthenticated']);
});

test('revoked ones are thrown out and not let in again; a stranger can revoke none', async () => {
  const own = await issue();
  const link = await open(own);
  const path = `/usage/credentials/${own.id}`;
  const stranger = await stack.tenant('sender-stranger');
  assert.is((await stranger.call('DELETE', path)).status, 404);
  assert.is((await (await keyOf('event_ingestor')).call('DELETE', path)).status, 403);
  assert.is((await sendUsage(link, own, eventOf('in-force'))).status, 202);
  await tenant.ok('DELETE', path);
  await eventually(() => link.isClosed());
  assert.match(await refusalOf(own), /Authorization Violation/i);
  assert.is((await tenant.call('DELETE', path)).status, 404);
});

for (const part of ['eventGateway', 'nats', 'api'] as const) {
  test(`a sender goes on by itself when ${part} is there again`, async () => {
    await stack.parts[part].stop();
    await stack.parts[part].start();
    const id = `after-${part}`;
    const answer = await eventually(
      async () => {
        // Nobody listens for a while, or the answer is lost: the same again counts once.
        const answered = await connection
          .request(issued.subject, JSON.stringify(eventOf(id)), { timeout: 2_000 })
          .catch(() => null);
        return answered?.json<SentAnswer>();
      },
      () => `the event was never recorded after ${part} was away`,
    );
    assert.equal([answer.status, answer.body.event_id], [202, id]);
  });
}

test.run();
