import { verifyWebhook } from '@counterfoil/cli/verify-webhook';
import { webhooksDefaults } from '@counterfoil/webhook-worker';
import { Webhook as StandardWebhook } from 'standardwebhooks';
import { Webhook as SvixWebhook } from 'svix';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { eventually } from '../eventually.ts';
import { type Delivery, type Sink, startSink } from '../sink.ts';
import { type Stack, startStack, type TestTenant } from '../stack.ts';

const test = suite<{ stack: Stack; tenant: TestTenant; sinks: Sink[] }>('webhooks by the API');

let tenants = 0;

test.before(async (context) => {
  // A message is tried three times. Two seconds stand for five days.
  context.stack = await startStack({
    retryLadder: [20, 20],
    webhooks: {
      pollMs: 20,
      upkeepMs: 50,
      breaker: {
        ...webhooksDefaults.breaker,
        firstProbe: 20,
        longestProbe: 50,
        disableAfter: 2_000,
        disableSpan: 500,
      },
    },
  });
});
test.after(({ stack }) => stack.stop());
test.before.each(async (context) => {
  tenants += 1;
  context.sinks = [];
  context.tenant = await context.stack.tenant(`webhooks${tenants}`);
});
test.after.each(async ({ sinks }) => {
  await Promise.all(sinks.map((sink) => sink.close()));
});

interface Context {
  readonly tenant: TestTenant;
  readonly sinks: Sink[];
}

type Answering = (delivery: Delivery) => number;

async function sinkOf({ sinks }: Context, answer?: Answering): Promise<Sink> {
  const sink = await startSink(answer);
  sinks.push(sink);
  return sink;
}

/** Creates a customer, which is one public event. Gives its id. */
let customers = 0;
async function customer({ tenant }: Context): Promise<string> {
  customers += 1;
  return (await tenant.ok('POST', '/customers', { external_id: `c-${customers}`, name: 'first' }))
    .id;
}

const arrivals = (sink: Sink, count: number) =>
  eventually(
    () => sink.deliveries.length >= count,
    () => `${sink.deliveries.length} of ${count} deliveries`,
  );

const idsOf = (sink: Sink): readonly string[] =>
  sink.deliveries.map(({ headers }) => String(headers['webhook-id']));

const customersOf = (sink: Sink): readonly string[] =>
  sink.deliveries.map(({ body }) => JSON.parse(body).customer.id);

/** Waits until a task has come to its end. */
const ended = ({ tenant }: Context, id: string) =>
  eventually(async () => {
    const task = await tenant.ok('GET', `/webhooks/tasks/${id}`);
    return ['finished', 'cancelled', 'refused'].includes(task.progress.state) && task;
  });

/** Waits until the message about a resource has come to a state at an endpoint. Returns the message. */
const messageIn = ({ tenant }: Context, resourceId: string, endpointId: string, state: string) =>
  eventually(
    async () => {
      const query = `resource_id=${resourceId}&endpoint_id=${endpointId}&state=${state}`;
      return (await tenant.ok('GET', `/webhooks/messages?${query}`)).items[0];
    },
    () => `no message about ${resourceId} came to ${state}`,
  );

test('two foreign libraries and our own verify what arrives, by secret and by public key', async (context) => {
  const { tenant } = context;
  const [shared, signed] = [await sinkOf(context), await sinkOf(context)];
  const { secret } = await tenant.ok('POST', '/webhooks/endpoints', { url: shared.url });
  const body = { url: signed.url, signature: 'ed25519' };
  const { id, public_key, secret: none } = await tenant.ok('POST', '/webhooks/endpoints', body);
  assert.is(none, undefined, 'the private key stays here');
  assert.equal(await tenant.ok('GET', `/webhooks/endpoints/${id}/secret`), { public_key });
  await customer(context);
  await Promise.all([arrivals(shared, 1), arrivals(signed, 1)]);
  const [first] = shared.deliveries;
  assert.ok(first);
  const headers = first.headers as Record<string, string>;
  assert.ok(new StandardWebhook(secret).verify(first.body, headers));
  assert.ok(new SvixWebhook(secret).verify(first.body, headers));
  assert.ok(verifyWebhook(Buffer.from(first.body), headers, [secret]));
  const [second] = signed.deliveries;
  assert.ok(second);
  assert.ok(verifyWebhook(Buffer.from(second.body), second.headers, [public_key]));
});

test('after a rotation both secrets sign, without grace the new one alone', async (context) => {
  const { tenant } = context;
  const sink = await sinkOf(context);
  const endpoint = await tenant.ok('POST', '/webhooks/endpoints', { url: sink.url });
  const path = `/webhooks/endpoints/${endpoint.id}/secret`;
  const second = await tenant.ok('POST', `${path}/rotate`, { grace_seconds: 600 });
  assert.is.not(second.secret, endpoint.secret);
  assert.equal(await tenant.ok('GET', path), second);
  await customer(context);
  await arrivals(sink, 1);
  const fits = (index: number, secret: string): boolean => {
    const { body, headers } = sink.deliveries[index] ?? { body: '', headers: {} };
    try {
      return Boolean(new SvixWebhook(secret).verify(body, headers as Record<string, string>));
    } catch {
      return false;
    }
  };
  assert.equal([fits(0, endpoint.secret), fits(0, second.secret)], [true, true]);
  const third = await tenant.ok('POST', `${path}/rotate`, { grace_seconds: 0 });
  await customer(context);
  await arrivals(sink, 2);
  assert.equal(
    [endpoint, second, third].map(({ secret }) => fits(1, secret)),
    [true, false, true],
    'the first still has its grace, the second never had one',
  );
});

test('a test event arrives, is tried once and can be followed', async (context) => {
  const { tenant } = context;
  let status = 200;
  const sink = await sinkOf(context, () => status);
  const { id } = await tenant.ok('POST', '/webhooks/endpoints', {
    url: sink.url,
    event_types: ['wallet.created'],
  });
  const plain = await tenant.ok('POST', `/webhooks/endpoints/${id}/test`);
  await arrivals(sink, 1);
  assert.is(sink.deliveries[0]?.body, '{"event_type":"webhook.test","test":true}');
  const { progress } = await ended(context, plain.id);
  assert.equal([progress.state, progress.queued], ['finished', 1]);
  assert.equal(idsOf(sink), [progress.message_id]);
  // A sample of a type is the last real event of that type.
  const customerId = await customer(context);
  await eventually(
    async () =>
      (await tenant.ok('GET', `/webhooks/messages?resource_id=${customerId}`)).items.length > 0,
  );
  status = 500;
  const body = { event_type: 'customer.created' };
  const sample = await tenant.ok('POST', `/webhooks/endpoints/${id}/test`, body);
  await arrivals(sink, 2);
  const event = JSON.parse(sink.deliveries[1]?.body ?? '');
  assert.equal([event.test, event.customer.id], [true, customerId]);
  const messageId = (await ended(context, sample.id)).progress.message_id;
  const attempts = await eventually(async () => {
    const page = await tenant.ok('GET', `/webhooks/messages/${messageId}/attempts`);
    return page.items.length > 0 && page;
  });
  assert.equal(
    [attempts.pagination.total, attempts.items[0].trigger, attempts.items[0].status_code],
    [1, 'test', 500],
  );
  const unknown = await tenant.call('POST', `/webhooks/endpoints/${id}/test`, { event_type: 'x' });
  assert.is(unknown.status, 400);
});

test('messages, attempts and figures say what happened', async (context) => {
  const { tenant } = context;
  const sink = await sinkOf(context, ({ headers }) =>
    headers['webhook-attempt'] === '1' ? 503 : 200,
  );
  const { id } = await tenant.ok('POST', '/webhooks/endpoints', { url: sink.url });
  // 503 asks to slow down by a minute, so the test sends it on by hand.
  const customerId = await customer(context);
  const message = await messageIn(context, customerId, id, 'pending');
  await eventually(() => sink.deliveries.length === 1);
  const whole = await tenant.ok('GET', `/webhooks/messages/${message.id}`);
  assert.equal(whole.body, JSON.parse(sink.deliveries[0]?.body ?? ''));
  assert.equal([whole.event_type, whole.deliveries.length], ['customer.created', 1]);
  await tenant.ok('POST', `/webhooks/messages/${message.id}/endpoints/${id}/resend`);
  await tenant.ok('POST', `/webhooks/messages/${message.id}/endpoints/${id}/resend`);
  await arrivals(sink, 3);
  assert.equal(new Set(idsOf(sink)).size, 1, 'the id stays the same');
  const page = await eventually(async () => {
    const attempts = await tenant.ok('GET', `/webhooks/endpoints/${id}/attempts`);
    return attempts.items.length === 3 && attempts;
  });
  assert.equal(page.items.map(({ trigger }: { trigger: string }) => trigger).sort(), [
    'resend',
    'resend',
    'scheduled',
  ]);
  const stats = await tenant.ok('GET', `/webhooks/endpoints/${id}/stats`);
  assert.is(stats.attempts, 3);
  assert.is(stats.breaker.state, 'closed');
  assert.ok(stats.answer_milliseconds.p95 >= stats.answer_milliseconds.p50);
});

test('what happened while an endpoint was disabled can be recovered, in order', async (context) => {
  const { tenant } = context;
  const sink = await sinkOf(context);
  const created = { url: sink.url, enabled: false };
  const { id } = await tenant.ok('POST', '/webhooks/endpoints', created);
  const customerId = await customer(context);
  for (let count = 0; count < 3; count += 1) {
    await tenant.ok('PUT', `/customers?id=${customerId}`, { name: `name ${count}` });
  }
  const others = [await customer(context), await customer(context)];
  await messageIn(context, others[1] ?? '', id, 'skipped');
  const recovery = { since: '2026-01-01T00:00:00Z' };
  const early = await tenant.call('POST', `/webhooks/endpoints/${id}/recover`, recovery);
  assert.is(early.status, 400, 'not while it is disabled');
  await tenant.ok('POST', `/webhooks/endpoints/${id}/enable`);
  const task = await tenant.ok('POST', `/webhooks/endpoints/${id}/recover`, recovery);
  assert.equal([task.kind, task.progress.state], ['recover', 'queued']);
  await arrivals(sink, 6);
  assert.equal((await ended(context, task.id)).progress.queued, 6);
  const names = sink.deliveries
    .map(({ body }) => JSON.parse(body))
    .filter((event) => event.customer.id === customerId)
    .map((event) => event.customer.name ?? '');
  assert.equal(names.slice(1), ['name 0', 'name 1', 'name 2']);
  assert.equal(new Set(customersOf(sink)), new Set([customerId, ...others]));
  // Nothing is left to recover.
  const again = await tenant.ok('POST', `/webhooks/endpoints/${id}/recover`, recovery);
  assert.is((await ended(context, again.id)).progress.queued, 0);
  assert.is(sink.deliveries.length, 6);
});

test('what an endpoint did not ask for then can be recovered once it does', async (context) => {
  const { tenant } = context;
  const sink = await sinkOf(context);
  const { id } = await tenant.ok('POST', '/webhooks/endpoints', {
    url: sink.url,
    event_types: ['wallet.*'],
  });
  const customerId = await customer(context);
  await eventually(
    async () =>
      (await tenant.ok('GET', `/webhooks/messages?resource_id=${customerId}`)).items.length > 0,
  );
  await tenant.ok('PATCH', `/webhooks/endpoints/${id}`, { event_types: ['customer.*'] });
  await eventually(
    async () =>
      (await tenant.ok('GET', `/webhooks/endpoints/${id}`)).event_types[0] === 'customer.*',
  );
  const body = { since: '2026-01-01T00:00:00Z', states: ['missing'] };
  const task = await tenant.ok('POST', `/webhooks/endpoints/${id}/recover`, body);
  await arrivals(sink, 1);
  assert.equal(customersOf(sink), [customerId]);
  assert.is((await ended(context, task.id)).progress.queued, 1);
  const [attempt] = await eventually(async () => {
    const { items } = await tenant.ok('GET', `/webhooks/endpoints/${id}/attempts`);
    return items.length > 0 && items;
  });
  assert.is(attempt.trigger, 'recovery');
});

test('a message that was given up is told, and can be recovered', async (context) => {
  const { tenant } = context;
  let status = 500;
  const [sink, watching] = [await sinkOf(context, () => status), await sinkOf(context)];
  const watcher = { url: watching.url, event_types: ['message.*', 'endpoint.*'] };
  await tenant.ok('POST', '/webhooks/endpoints', watcher);
  const { id } = await tenant.ok('POST', '/webhooks/endpoints', { url: sink.url });
  const customerId = await customer(context);
  await arrivals(watching, 1);
  const told = JSON.parse(watching.deliveries[0]?.body ?? '');
  assert.is(told.event_type, 'message.exhausted');
  assert.equal(told.endpoint, { id, url: sink.url });
  assert.equal(told.message, {
    id: idsOf(sink)[0],
    event_type: 'customer.created',
    resource_id: customerId,
    attempts: 3,
    status_code: 500,
    error: null,
  });
  assert.is(sink.deliveries.length, 3, 'who named no types does not get it');
  status = 200;
  const body = { since: '2026-01-01T00:00:00Z', states: ['failed'] };
  await tenant.ok('POST', `/webhooks/endpoints/${id}/recover`, body);
  await messageIn(context, customerId, id, 'delivered');
  assert.is(sink.deliveries.length, 4);
});

test('an endpoint that is gone, or fails for days, is disabled and that is told', async (context) => {
  const { tenant } = context;
  const watching = await sinkOf(context);
  const watcher = { url: watching.url, event_types: ['endpoint.*'] };
  await tenant.ok('POST', '/webhooks/endpoints', watcher);
  const [gone, failing] = [await sinkOf(context, () => 410), await sinkOf(context, () => 500)];
  const first = await tenant.ok('POST', '/webhooks/endpoints', { url: gone.url });
  const second = await tenant.ok('POST', '/webhooks/endpoints', { url: failing.url });
  for (let count = 0; count < 12; count += 1) await customer(context);
  await arrivals(watching, 2);
  const told = new Map(
    watching.deliveries.map(({ body }) => {
      const { endpoint } = JSON.parse(body);
      return [endpoint.id, [endpoint.enabled, endpoint.disabled_reason]];
    }),
  );
  assert.equal(told.get(first.id), [false, 'gone']);
  assert.equal(told.get(second.id), [false, 'failing']);
  const shown = await tenant.ok('GET', `/webhooks/endpoints/${second.id}`);
  assert.equal([shown.enabled, shown.disabled_reason], [false, 'failing']);
  const soon = await tenant.call('POST', `/webhooks/endpoints/${second.id}/enable`);
  assert.is(soon.status, 400, 'not within a minute');
  // What was waiting is kept as skipped, for the day when it is enabled again.
  await eventually(async () => {
    const path = `/webhooks/messages?endpoint_id=${second.id}&state=skipped`;
    return (await tenant.ok('GET', path)).items.length > 0;
  });
});

test('a recovery can be cancelled, and asking twice with one key asks once', async (context) => {
  const { tenant } = context;
  const sink = await sinkOf(context);
  const { id } = await tenant.ok('POST', '/webhooks/endpoints', { url: sink.url });
  const body = { since: '2026-01-01T00:00:00Z' };
  const headers = { 'idempotency-key': 'recover-1' };
  const path = `/webhooks/endpoints/${id}/recover`;
  const task = await tenant.ok('POST', path, body, headers);
  assert.is((await tenant.ok('POST', path, body, headers)).id, task.id);
  const cancelled = await tenant.ok('POST', `/webhooks/tasks/${task.id}/cancel`);
  assert.ok(['cancelled', 'finished'].includes(cancelled.progress.state));
  const once = await tenant.ok('POST', `/webhooks/endpoints/${id}/test`);
  assert.is((await tenant.call('POST', `/webhooks/tasks/${once.id}/cancel`)).status, 400);
  const listed = await eventually(async () => {
    const page = await tenant.ok('GET', `/webhooks/tasks?endpoint_id=${id}`);
    return page.pagination.total === 2 && page;
  });
  assert.is(listed.items.length, 2);
});

test.run();
