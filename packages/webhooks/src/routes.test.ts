import { randomBytes } from 'node:crypto';
import type { RequestContext } from '@counterfoil/engine/define';
import { Problem, randomId } from '@counterfoil/kernel';
import { callRoute, memoryWorld, testPrincipal } from '@counterfoil/testkit';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { webhookEndpoint } from './endpoint/endpoint.ts';
import { createSealer } from './endpoint/sealing.ts';
import { secretBytes } from './endpoint/secret.ts';
import type { WebhookOptions } from './options.ts';
import { webhookRoutes } from './routes.ts';
import { strictTargetPolicy } from './sending/target-policy.ts';
import { webhookTask } from './task/task.ts';

const test = suite('webhook routes');

const options: WebhookOptions = {
  sealer: createSealer(randomBytes(32).toString('base64')),
  policy: strictTargetPolicy,
  publicEvents: [],
  feed: null,
  maximumEndpoints: 20,
};
const routes = webhookRoutes(options);

const webhookWorld = () => memoryWorld([webhookEndpoint, webhookTask]);
const newContext = () => webhookWorld().request(testPrincipal());

type Key = keyof typeof routes;

/** Calls a route with a body and gives the body of the answer. */
const call = async (
  context: RequestContext,
  key: Key,
  { id, body }: { id?: string; body?: unknown } = {},
): Promise<Record<string, unknown>> => {
  const input = { params: { id, endpoint_id: id }, body };
  return ((await callRoute(routes[key], context, input)) ?? {}) as Record<string, unknown>;
};

const problemOf = async (running: Promise<unknown>): Promise<Problem> => {
  try {
    await running;
  } catch (error) {
    if (error instanceof Problem) return error;
    throw error;
  }
  throw new Error('nothing was refused');
};

const url = 'https://example.com/hook';

test('a creation shows the secret once; later only its own route does', async () => {
  const context = newContext();
  const created = await call(context, 'POST /webhooks/endpoints', { body: { url } });
  const id = String(created.id);
  assert.is(secretBytes(String(created.secret))?.length, 32);
  assert.is(created.order_mode, 'resource_fifo');
  assert.is(created.order_guard_seconds, 300);
  assert.is(created.max_in_flight, 8);
  assert.is(created.event_types, null);
  assert.is(created.enabled, true);
  const changed = await call(context, 'PUT /webhooks/endpoints/{id}', {
    id,
    body: { description: 'x' },
  });
  assert.is(changed.secret, undefined);
  assert.is(changed.description, 'x');
  const secret = await call(context, 'GET /webhooks/endpoints/{id}/secret', { id });
  assert.is(secret.secret, created.secret);
});

test('the log holds neither the secret nor header values in the clear', async () => {
  const world = webhookWorld();
  const context = world.request(testPrincipal());
  const headers = { Authorization: 'Bearer credential' };
  const created = await call(context, 'POST /webhooks/endpoints', { body: { url, headers } });
  const log = JSON.stringify(world.store.log.map(({ data }) => data));
  assert.not.ok(log.includes(String(created.secret)));
  assert.not.ok(log.includes('credential'));
  assert.equal(created.header_names, ['Authorization']);
});

test('a repeated creation answers with the first secret', async () => {
  const world = webhookWorld();
  const create = () => {
    const idempotency = { key: 'once', operation: 'create', fields: { url } };
    const context = world.request(testPrincipal(), idempotency);
    return call(context, 'POST /webhooks/endpoints', { body: { url } });
  };
  const first = await create();
  const again = await create();
  assert.equal(again, first);
});

test('a caller may bring the secret', async () => {
  const secret = `whsec_${randomBytes(24).toString('base64')}`;
  const created = await call(newContext(), 'POST /webhooks/endpoints', {
    body: { url, secret },
  });
  assert.is(created.secret, secret);
});

test('a URL that must not be called is refused at its place', async () => {
  const context = newContext();
  for (const bad of ['http://example.com/', 'https://127.0.0.1/', 'nonsense']) {
    const problem = await problemOf(
      call(context, 'POST /webhooks/endpoints', { body: { url: bad } }),
    );
    assert.is(problem.code, 'validation_error');
    assert.is(problem.errors?.[0]?.pointer, '/url');
  }
  const created = await call(context, 'POST /webhooks/endpoints', { body: { url } });
  const change = { id: String(created.id), body: { url: 'https://[::1]/' } };
  const problem = await problemOf(call(context, 'PUT /webhooks/endpoints/{id}', change));
  assert.is(problem.code, 'validation_error');
});

test('an environment has a limited number of endpoints', async () => {
  const context = newContext();
  const create = () => call(context, 'POST /webhooks/endpoints', { body: { url } });
  for (let created = 0; created < options.maximumEndpoints; created += 1) await create();
  const problem = await problemOf(create());
  assert.is(problem.code, 'invalid_operation');
});

test('the same headers again are no change, others are', async () => {
  const world = webhookWorld();
  const context = world.request(testPrincipal());
  const body = { url, headers: { 'X-B': '2', 'X-A': '1' } };
  const id = String((await call(context, 'POST /webhooks/endpoints', { body })).id);
  const put = (headers: unknown) =>
    call(context, 'PUT /webhooks/endpoints/{id}', { id, body: { headers } });
  await put({ 'X-A': '1', 'X-B': '2' });
  assert.is(world.store.log.length, 1);
  await put({ 'X-A': '1', 'X-B': '3' });
  assert.is(world.store.log.length, 2);
  assert.equal((await put(null)).header_names, []);
  await put({});
  assert.is(world.store.log.length, 3, 'no headers and none are the same');
});

test('headers that belong to HTTP or to the delivery are refused', () => {
  const { body } = routes['POST /webhooks/endpoints'];
  const isTaken = (headers: unknown) => body?.safeParse({ url, headers }).success;
  for (const name of [
    'Host',
    'content-type',
    'Webhook-Id',
    'connection',
    'User-Agent',
    'a b',
    '',
  ]) {
    assert.not.ok(isTaken({ [name]: 'x' }), name);
  }
  assert.not.ok(isTaken({ 'X-A': 'line\r\nbreak' }));
  assert.not.ok(isTaken({ 'X-A': '1', 'x-a': '2' }));
  assert.ok(isTaken({ Authorization: 'Bearer x', 'X-Own': '' }));
});

test('enable, disable and delete', async () => {
  const context = newContext();
  const id = String((await call(context, 'POST /webhooks/endpoints', { body: { url } })).id);
  const off = await call(context, 'POST /webhooks/endpoints/{id}/disable', { id });
  assert.equal([off.enabled, off.disabled_reason], [false, 'by_request']);
  const on = await call(context, 'POST /webhooks/endpoints/{id}/enable', { id });
  assert.equal([on.enabled, on.disabled_reason], [true, null]);
  await call(context, 'DELETE /webhooks/endpoints/{id}', { id });
  const gone = await problemOf(call(context, 'GET /webhooks/endpoints/{id}/secret', { id }));
  assert.is(gone.code, 'not_found');
});

test('unknown ids of any form are 404', async () => {
  const context = newContext();
  const bodies: Readonly<Record<string, unknown>> = {
    'POST /webhooks/endpoints/{id}/recover': { since: context.now },
  };
  for (const id of [randomId('webhook', context.now), 'webhook_1', 'a.b-c', 'wallet_1', '../x']) {
    for (const key of Object.keys(routes).filter((name) => name.includes('{id}')) as Key[]) {
      const body = bodies[key] ?? {};
      assert.is((await problemOf(call(context, key, { id, body }))).code, 'not_found', key);
    }
  }
});

test('rights: reading for the resource, writing for the secret and every change', () => {
  const rights = Object.entries(routes).map(([key, route]) => `${key} ${route.permission}`);
  const secret = 'GET /webhooks/endpoints/{id}/secret webhook:write';
  const reading = rights.filter((right) => right.startsWith('GET ') && right !== secret);
  assert.equal(
    rights.filter((right) => right.endsWith('webhook:read')),
    reading,
  );
  assert.is(rights.filter((right) => right.endsWith('webhook:write')).length, 12);
});

test.run();
