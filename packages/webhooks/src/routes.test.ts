import { randomBytes } from 'node:crypto';
import { type Prepared, type RequestContext, WithETag } from '@counterfoil/engine/define';
import { type AnyAggregate, instantOf, Problem, randomId } from '@counterfoil/kernel';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { createSealer } from './endpoint/sealing.ts';
import { secretBytes } from './endpoint/secret.ts';
import type { WebhookOptions } from './options.ts';
import { webhookRoutes } from './routes.ts';
import { strictTargetPolicy } from './sending/target-policy.ts';

const test = suite('webhook routes');

const options: WebhookOptions = {
  sealer: createSealer(randomBytes(32).toString('base64')),
  policy: strictTargetPolicy,
  reads: { query: async () => [] },
  publicEvents: [],
};
const routes = webhookRoutes(options);
const now = instantOf(Date.parse('2026-11-21T00:00:00Z'));
const stamp = {
  tenant_id: 'tenant_1',
  environment_id: 'env_1',
  occurred_at: now,
  actor: { user_id: 'user_1', key_id: 'secret_1' },
};

type Stored = { type: string; data: unknown; stamp: unknown };

/** A context over streams in memory; with a replay it answers the stream's first command again. */
function contextWith(
  streams: Map<string, Stored[]>,
  options: { total?: number; id?: string } = {},
) {
  const fold = (aggregate: AnyAggregate, id: string) => {
    assert.match(id, /^[A-Za-z0-9_]+$/, 'only such ids can be part of a stream name');
    return (streams.get(id) ?? []).reduce(
      (state, event) => aggregate.evolve(state, event as never),
      aggregate.initial as unknown,
    );
  };
  const context = {
    now,
    principal: { tenantId: 'tenant_1', environmentId: 'env_1' },
    newId: () => options.id ?? randomId('webhook', now),
    load: async (aggregate: AnyAggregate, id: string) => fold(aggregate, id),
    async execute(aggregate: AnyAggregate, id: string, given: Prepared<unknown>) {
      const isReplay = options.id !== undefined && streams.has(id);
      if (!isReplay) {
        const decide =
          typeof given === 'function'
            ? given
            : await (given as { prepare: () => unknown }).prepare();
        const decision = decide as (state: unknown, at: unknown) => Stored[];
        const events = decision(fold(aggregate, id), now).map((event) => ({ ...event, stamp }));
        if (events.length > 0) streams.set(id, [...(streams.get(id) ?? []), ...events]);
      }
      const revision = (streams.get(id)?.length ?? 0) - 1;
      return { state: fold(aggregate, id), events: [], revision, replayed: isReplay };
    },
    read: {
      find: async () => null,
      list: async () => ({
        items: [],
        pagination: { limit: 1, offset: 0, total: options.total ?? 0 },
      }),
    },
  };
  return context as unknown as RequestContext;
}

type Key = keyof typeof routes;

/** Calls a route with a parsed body and gives the body of the answer. */
async function call(
  context: RequestContext,
  key: Key,
  { id, body }: { id?: string; body?: unknown } = {},
): Promise<Record<string, unknown>> {
  const route = routes[key];
  const parsed = 'body' in route && route.body ? route.body.parse(body) : undefined;
  const input = { params: { id, endpoint_id: id }, query: { limit: 50, offset: 0 }, body: parsed };
  const answer = await route.handle(context, input as never);
  const plain = answer instanceof WithETag ? answer.body : answer;
  if (route.response && plain) assert.ok(route.response.safeParse(plain).success, key);
  return (plain ?? {}) as Record<string, unknown>;
}

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
  const context = contextWith(new Map());
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
  const streams = new Map<string, Stored[]>();
  const context = contextWith(streams);
  const headers = { Authorization: 'Bearer credential' };
  const created = await call(context, 'POST /webhooks/endpoints', { body: { url, headers } });
  const log = JSON.stringify([...streams.values()]);
  assert.not.ok(log.includes(String(created.secret)));
  assert.not.ok(log.includes('credential'));
  assert.equal(created.header_names, ['Authorization']);
});

test('a repeated creation answers with the first secret', async () => {
  const context = contextWith(new Map(), { id: randomId('webhook', now) });
  const first = await call(context, 'POST /webhooks/endpoints', { body: { url } });
  const again = await call(context, 'POST /webhooks/endpoints', { body: { url } });
  assert.equal(again, first);
});

test('a caller may bring the secret', async () => {
  const secret = `whsec_${randomBytes(24).toString('base64')}`;
  const created = await call(contextWith(new Map()), 'POST /webhooks/endpoints', {
    body: { url, secret },
  });
  assert.is(created.secret, secret);
});

test('a URL that must not be called is refused at its place', async () => {
  const context = contextWith(new Map());
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
  const context = contextWith(new Map(), { total: 200 });
  const problem = await problemOf(call(context, 'POST /webhooks/endpoints', { body: { url } }));
  assert.is(problem.code, 'invalid_operation');
});

test('the same headers again are no change, others are', async () => {
  const streams = new Map<string, Stored[]>();
  const context = contextWith(streams);
  const body = { url, headers: { 'X-B': '2', 'X-A': '1' } };
  const id = String((await call(context, 'POST /webhooks/endpoints', { body })).id);
  const put = (headers: unknown) =>
    call(context, 'PUT /webhooks/endpoints/{id}', { id, body: { headers } });
  await put({ 'X-A': '1', 'X-B': '2' });
  assert.is(streams.get(id)?.length, 1);
  await put({ 'X-A': '1', 'X-B': '3' });
  assert.is(streams.get(id)?.length, 2);
  assert.equal((await put(null)).header_names, []);
  await put({});
  assert.is(streams.get(id)?.length, 3, 'no headers and none are the same');
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
  const context = contextWith(new Map());
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
  const context = contextWith(new Map());
  const bodies: Readonly<Record<string, unknown>> = {
    'POST /webhooks/endpoints/{id}/recover': { since: now },
  };
  for (const id of [randomId('webhook', now), 'webhook_1', 'a.b-c', 'wallet_1', '../x']) {
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
