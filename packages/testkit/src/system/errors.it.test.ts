import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { createHttpServer, createLog, createMetrics, type RequestRun } from '@counterfoil/engine';
import { type Principal, route } from '@counterfoil/engine/define';
import { type ProblemCode, problemCodes } from '@counterfoil/kernel';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { z } from 'zod';
import { type Answer, type Caller, caller } from '../caller.ts';
import { eventually } from '../eventually.ts';
import { type SharedStack, sharedStack, type TestTenant } from '../stack.ts';
import { apiBeside } from './api-beside.ts';
import { openings } from './openings.ts';
import { assertProblem, pointersIn } from './problem-answer.ts';

const test = suite('every error of the table');

const opened = openings();
let stack: SharedStack;
let tenant: TestTenant;
let customerId: string;
let walletId: string;

test.before(async () => {
  stack = await sharedStack();
  tenant = await stack.tenant('errors');
  const customer = { external_id: 'known', name: 'Known' };
  customerId = (await tenant.ok('POST', '/customers', customer)).id;
  const wallet = { customer_id: customerId, currency: 'usd', initial_credits_to_load: '10' };
  walletId = (await tenant.ok('POST', '/wallets', wallet)).id;
});
test.after(() => opened.closeAll());

const never = 'cust_01KA0000000000000000000000';
const mebibyte = 1024 * 1024;

/** A client with a key of a service account that has one role. */
async function serviceAccount(role: string): Promise<Caller> {
  const account = { type: 'service_account', name: role, roles: [role] };
  const { id } = await tenant.ok('POST', '/users', account);
  const key = { name: role, type: 'private_key', service_account_id: id };
  return caller(stack.baseUrl, (await tenant.ok('POST', '/secrets/api/keys', key)).api_key);
}

/** An API whose keys may make one request per second, asked until it has had enough. */
async function tooManyRequests(): Promise<Answer> {
  const limited = opened.add(await apiBeside(stack, { RATE_LIMIT_PER_SECOND: 1 }), (api) =>
    api.stop(),
  );
  const { call } = caller(limited.baseUrl, tenant.apiKey);
  const answers = await Promise.all(Array.from({ length: 20 }, () => call('GET', '/users/me')));
  const refused = answers.filter(({ status }) => status === 429);
  assert.ok(refused.length > 0, 'some of 20 requests at once are over a limit of 1 per second');
  return refused[0] as Answer;
}

/** Time may not run backwards: the test clock of an environment is ahead of the system's. */
async function versionConflict(): Promise<Answer> {
  const other = await stack.tenant('errors-of-clocks');
  const path = `/environments/${other.environmentId}/clock`;
  await other.ok('PUT', path, { now: '2099-06-01T00:00:00Z' });
  return other.call('DELETE', path);
}

/** Sends half a body and then nothing. The client of Node would not show an answer before the end. */
async function bodyThatStops(): Promise<Answer> {
  const { hostname, port } = new URL(stack.baseUrl);
  const socket = connect(Number(port), hostname);
  const head = `POST /v1/customers HTTP/1.1\r\nHost: a\r\nx-api-key: ${tenant.apiKey}\r\n`;
  const type = 'Content-Type: application/json\r\nContent-Length: 100\r\n\r\n{';
  socket.write(head + type);
  const [top = '', body = ''] = (await text(socket)).split('\r\n\r\n');
  const [status = '', ...lines] = top.split('\r\n');
  const headers = new Headers(
    lines.map((line): [string, string] => line.split(': ') as [string, string]),
  );
  return { status: Number(status.split(' ')[1]), headers, text: body, body: JSON.parse(body) };
}

/** A server with a route that is broken in its inside, in front of nothing. */
async function internalError(): Promise<Answer> {
  const server = createHttpServer({
    modules: [
      {
        name: 'broken',
        aggregates: [],
        tables: [],
        publicEvents: [],
        routes: {
          'GET /broken': route({
            summary: 'Fails',
            tag: 'Broken',
            status: 200,
            permission: null,
            response: z.object({}),
            handle: async () => {
              throw new TypeError('the inside of this route');
            },
          }),
        },
      },
    ],
    host: {
      begin: () => ({ position: null, replayed: false, lagMilliseconds: null }) as RequestRun,
    },
    authenticate: () => ({ keyId: 'secret_1', tenantId: 'tenant_1' }) as Principal,
    health: [],
    metrics: createMetrics({ processMetrics: false }),
    log: createLog({ level: 'silent', name: 'test' }),
    info: { title: 'Broken', version: '1', description: 'Broken' },
  });
  opened.add(server, (started) => started.close(1_000));
  const { port } = await server.listen(0, '127.0.0.1');
  return caller(`http://127.0.0.1:${port}`, 'any').call('GET', '/broken');
}

const once = { 'idempotency-key': 'once' };

/** The cause of each code. The table of codes and this one cannot differ in their members. */
const causes: Readonly<Record<ProblemCode, () => Promise<Answer>>> = {
  validation_error: () => tenant.call('POST', '/customers', { name: 7 }),
  invalid_operation: () => tenant.call('POST', `/wallets/${walletId}/debit`, { credits: '1000' }),
  unauthenticated: () => caller(stack.baseUrl, 'sk_nobody').call('GET', '/customers'),
  permission_denied: async () => (await serviceAccount('event_reader')).call('GET', '/customers'),
  not_found: () => tenant.call('GET', `/customers/${never}`),
  unknown_path: () => tenant.call('GET', '/custommers'),
  method_not_allowed: () => tenant.call('PATCH', '/customers', {}),
  already_exists: () => tenant.call('POST', '/customers', { external_id: 'known', name: 'Again' }),
  version_conflict: versionConflict,
  idempotency_conflict: async () => {
    await tenant.ok('POST', `/wallets/${walletId}/debit`, { credits: '0.1' }, once);
    return tenant.call('POST', `/wallets/${walletId}/debit`, { credits: '0.2' }, once);
  },
  precondition_failed: () =>
    tenant.call('PUT', `/wallets/${walletId}`, { name: 'New' }, { 'if-match': '"999999"' }),
  request_timeout: bodyThatStops,
  payload_too_large: () =>
    tenant.call('POST', '/customers', { external_id: 'x', name: 'x'.repeat(mebibyte) }),
  unsupported_media_type: () =>
    tenant.call('POST', '/customers', '<customer/>', { 'content-type': 'application/xml' }),
  too_many_requests: tooManyRequests,
  internal_error: internalError,
  service_unavailable: async () => {
    await stack.parts.eventStore.stop();
    try {
      return await tenant.call('POST', '/customers', { external_id: 'later', name: 'Later' });
    } finally {
      await stack.parts.eventStore.start();
    }
  },
};

for (const code of Object.keys(problemCodes) as ProblemCode[]) {
  test(`${code} has the one body`, async () => assertProblem(await causes[code](), code));
}

test('a request without a key, or with one that cannot be, is unauthenticated everywhere', async () => {
  const hopeless = ['', 'sk_', 'x'.repeat(600), `${tenant.apiKey}x`, tenant.apiKey.toUpperCase()];
  for (const key of hopeless) {
    assertProblem(await caller(stack.baseUrl, key).call('GET', '/users/me'), 'unauthenticated');
  }
  const bare = await fetch(`${stack.baseUrl}/v1/customers`, {
    headers: { authorization: `Bearer ${tenant.apiKey}` },
  });
  const text = await bare.text();
  const { status, headers } = bare;
  assertProblem({ status, headers, text, body: JSON.parse(text) }, 'unauthenticated');
});

test('a caller without the right is told so before the request is read, and may always ask who it is', async () => {
  const reader = await serviceAccount('event_reader');
  assert.is((await reader.call('GET', '/users/me')).status, 200);
  const attempts: readonly (readonly [string, string, unknown?])[] = [
    ['POST', '/customers', { name: 7 }],
    ['GET', `/wallets/${walletId}`],
    ['POST', `/wallets/${never}/debit`, {}],
    ['GET', `/tenants/${tenant.tenantId}`],
    ['POST', '/secrets/api/keys', { name: 'More', type: 'private_key' }],
    ['GET', '/webhooks/endpoints'],
  ];
  for (const [method, path, body] of attempts) {
    assertProblem(await reader.call(method, path, body), 'permission_denied');
  }
});

test('what is wrong is named: the field by a pointer, the limit and the rest in details', async () => {
  const invalid = await tenant.call('POST', '/customers', { name: 7, external_id: '' });
  assert.equal(pointersIn(invalid).sort(), ['/external_id', '/name']);
  const tooMuch = await causes.invalid_operation();
  assert.equal(Object.keys(tooMuch.body.details).sort(), ['available', 'reason', 'requested']);
  assert.equal((await causes.payload_too_large()).body.details, { limit_bytes: 64 * 1024 });
  const notFound = await tenant.call('POST', '/wallets', { customer_id: never, currency: 'usd' });
  assert.equal(notFound.body.details, { field: 'customer_id', value: never });
  const wrongMethod = await causes.method_not_allowed();
  assert.is(wrongMethod.headers.get('allow'), 'GET, HEAD, OPTIONS, POST, PUT');
  assert.equal((await causes.idempotency_conflict()).body.details, { fields: ['credits'] });
});

test('a refusal for funds is the same for ever under its key, and keeps nobody from anything', async () => {
  const path = `/wallets/${walletId}/debit`;
  const key = { 'idempotency-key': 'too-much' };
  const first = await tenant.call('POST', path, { credits: '500' }, key);
  assertProblem(first, 'invalid_operation');
  const load = { transaction_reason: 'FREE_CREDIT_GRANT', credits_to_add: '500' };
  await tenant.ok('POST', `/wallets/${walletId}/top-up`, load);
  const again = await tenant.call('POST', path, { credits: '500' }, key);
  assertProblem(again, 'invalid_operation');
  assert.is(again.headers.get('idempotency-replayed'), 'true');
  const { instance: _, ...said } = again.body;
  assert.equal({ ...said, instance: first.body.instance }, first.body);
  await tenant.ok('POST', path, { credits: '500' }, { 'idempotency-key': 'enough' });
  const { id } = await tenant.ok('POST', '/wallets', { customer_id: customerId, currency: 'eur' });
  await eventually(
    async () => (await tenant.call('GET', `/wallets/${id}`)).status === 200,
    () => 'the new wallet cannot be read',
  );
});

test('paths that nobody has are not found, whatever the method and with or without a key', async () => {
  for (const path of ['/', '/nothing', '/customers/a/b/c', '/CUSTOMERS', '/customers%00']) {
    assertProblem(await tenant.call('GET', path), 'unknown_path');
    assertProblem(await caller(stack.baseUrl, 'nobody').call('DELETE', path), 'unknown_path');
  }
});

test('an internal error shows nothing of the inside', async () => {
  const { text } = await internalError();
  assert.not.match(text, /inside of this route|TypeError|\.ts\b|node_modules/);
});

test('without the event store writes and reads of the log are unavailable, other reads go on', async () => {
  await stack.parts.eventStore.stop();
  try {
    const change = await tenant.call('PUT', `/wallets/${walletId}`, { name: 'Later' });
    assertProblem(change, 'service_unavailable');
    const search = await tenant.call('POST', '/users/search');
    assertProblem(search, 'service_unavailable');
    assert.is((await tenant.call('GET', `/customers/${customerId}`)).status, 200);
    const ready = await fetch(`${stack.baseUrl}/readyz`);
    assert.is(ready.status, 503);
    await ready.text();
  } finally {
    await stack.parts.eventStore.start();
  }
});

test('a process whose clock jumps writes nothing until it is right again; reads go on', async () => {
  let ahead = 0;
  const wall = () => Date.now() + ahead;
  const shifted = opened.add(await apiBeside(stack, {}, { wall }), (api) => api.stop());
  const { call } = caller(shifted.baseUrl, tenant.apiKey);
  const key = { 'Idempotency-Key': 'debit-by-a-wrong-clock' };
  const debit = () => call('POST', `/wallets/${walletId}/debit`, { credits: '0.1' }, key);
  const readyz = async () => {
    const answer = await fetch(`${shifted.baseUrl}/readyz`);
    const { checks } = (await answer.json()) as { checks: { name: string; message?: string }[] };
    return [answer.status, checks.find(({ name }) => name === 'clock')?.message];
  };
  assert.equal(await readyz(), [200, undefined]);
  const { credit_balance: before } = await tenant.ok(
    'GET',
    `/wallets/${walletId}/balance/real-time`,
  );
  for (const seconds of [365 * 86_400, -15]) {
    ahead = seconds * 1_000;
    const refused = await debit();
    assertProblem(refused, 'service_unavailable');
    assert.is(refused.headers.get('retry-after'), '5');
    assert.is(refused.body.details.reason, 'clock_skew');
    assert.is((await call('GET', `/customers/${customerId}`)).status, 200);
    const [status, message] = await readyz();
    assert.is(status, 503);
    assert.match(String(message), seconds > 0 ? /s ahead of/ : /1\d s behind/);
  }
  const { credit_balance } = await tenant.ok('GET', `/wallets/${walletId}/balance/real-time`);
  assert.is(credit_balance, before);
  ahead = 0;
  assert.is((await debit()).status, 200);
  assert.equal(await readyz(), [200, undefined]);
});

test('without Postgres reads are unavailable, writes go on', async () => {
  await stack.parts.postgres.stop();
  try {
    const read = await tenant.call('GET', `/customers/${customerId}`);
    assertProblem(read, 'service_unavailable');
    const path = `/wallets/${walletId}/debit`;
    assert.is((await tenant.call('POST', path, { credits: '0.1' })).status, 200);
  } finally {
    await stack.parts.postgres.start();
  }
});

test.run();
