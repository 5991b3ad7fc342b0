import {
  BrokenInvariant,
  invalidOperation,
  notFound,
  Problem,
  type ProblemCode,
  problemCodes,
} from '@counterfoil/kernel';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { z } from 'zod';
import { route, withETag } from '../define/route.ts';
import { AppendError, StoreUnavailable } from '../log/types.ts';
import type { HttpOptions } from './host.ts';
import { bodyOf, exchangeRaw, openConversation, statusOf } from './test-conversation.ts';
import {
  type Answer,
  keysOfTenants,
  type Machine,
  routeThat,
  startMachine,
  thingRoutes,
  waitingRoute,
} from './test-machine.ts';
import { assertProblem as assertShape } from './test-problems.ts';

const test = suite<{ machine: Machine }>('failures over HTTP');
const seen = new Set<ProblemCode>();

test.before(async (context) => {
  context.machine = await startMachine();
});
test.before.each(({ machine }) => {
  machine.begun.length = 0;
});
test.after(async ({ machine }) => {
  await machine.server.close(100);
});

/** Checks the one shape and remembers the code. */
function assertProblem(answer: Answer, code: ProblemCode): void {
  assertShape(answer, code);
  seen.add(code);
}

/** The answer of a machine whose one handler does this. */
async function answerOf(
  handle: () => Promise<unknown>,
  options: Partial<HttpOptions> = {},
): Promise<Answer & { readonly lines: readonly Record<string, unknown>[] }> {
  const machine = await startMachine(routeThat(handle), options);
  try {
    const answer = await machine.request('POST', '/v1/acts');
    return { ...answer, lines: machine.lines };
  } finally {
    await machine.server.close(100);
  }
}

const answerTo = (error: unknown): ReturnType<typeof answerOf> =>
  answerOf(async () => {
    throw error;
  });

test('401 without a key and with an unknown one', async ({ machine }) => {
  for (const key of [null, 'sk_unknown']) {
    const answer = await machine.request('GET', '/v1/things/t', { key });
    assertProblem(answer, 'unauthenticated');
    assert.match(answer.headers.get('www-authenticate') ?? '', /x-api-key/);
  }
  assert.is(machine.begun.length, 0);
});

test('401 for what is too long to be a key, without looking it up', async () => {
  const machine = await startMachine(thingRoutes, {
    authenticate: () => Promise.reject(new Error('was looked up')),
  });
  const answer = await machine.request('GET', '/v1/things/t', { key: 'k'.repeat(513) });
  assertProblem(answer, 'unauthenticated');
  await machine.server.close(100);
});

test('401 comes before anything else that is wrong with a request to a route', async ({
  machine,
}) => {
  const headers = { 'content-type': 'text/plain' };
  const answer = await machine.request('POST', '/v1/things', { key: null, body: '{', headers });
  assertProblem(answer, 'unauthenticated');
});

test('403 when the roles do not give the right', async ({ machine }) => {
  const answer = await machine.request('DELETE', '/v1/things/t', { key: 'sk_reader' });
  assertProblem(answer, 'permission_denied');
  assert.equal(answer.problem().details, { permission: 'thing:write', roles: ['reader'] });
  const usage = await machine.request('GET', '/v1/things/usage', { key: 'sk_reader' });
  assert.is(usage.status, 200);
});

test('404 for unknown paths, without a key and outside /v1 too', async ({ machine }) => {
  for (const path of ['/v1/nothing', '/v1/things/a/b/c', '/v1', '/', '/V1/things', '/v1/Things']) {
    assertProblem(await machine.request('POST', path, { key: null }), 'unknown_path');
  }
});

test('405 with Allow for a method that a known path does not have', async ({ machine }) => {
  const answer = await machine.request('PATCH', '/v1/things/t', { key: null });
  assertProblem(answer, 'method_not_allowed');
  assert.is(answer.headers.get('allow'), 'DELETE, GET, HEAD, OPTIONS, PUT');
  const usage = await machine.request('DELETE', '/v1/things/usage');
  assert.is(usage.headers.get('allow'), 'GET, HEAD, OPTIONS');
});

test('429 with Retry-After above the rate of a key; other keys are not touched', async () => {
  const machine = await startMachine(thingRoutes, {
    rateLimit: {
      perSecond: 3,
      perSecondOf: ({ keyId }) => (keyId === 'secret_reader' ? 1 : null),
    },
  });
  const read = (key: string) => machine.request('GET', '/v1/things/t', { key });
  const answers = await Promise.all(Array.from({ length: 5 }, () => read('sk_reader')));
  const refused = answers.find(({ status }) => status === 429);
  assert.ok(refused);
  assertProblem(refused, 'too_many_requests');
  assert.is(refused.headers.get('retry-after'), '1');
  assert.is((await read('sk_writer')).status, 200);
  await machine.server.close(100);
});

for (const [name, error, code] of [
  [
    'a refused state',
    invalidOperation('Thaw it first.', { reason: 'inactive' }),
    'invalid_operation',
  ],
  ['an unknown record', notFound('thing', 'thing_9'), 'not_found'],
  ['a taken name', new Problem('already_exists', 'Choose another name.'), 'already_exists'],
  ['a lost race', new Problem('version_conflict', 'Read it again.'), 'version_conflict'],
  ['a used key', new Problem('idempotency_conflict', 'Use a new key.'), 'idempotency_conflict'],
] as const) {
  test(`a handler's problem is answered as it is: ${name}`, async () => {
    const answer = await answerTo(error);
    assertProblem(answer, code);
    assert.is(answer.problem().message, error.message);
    assert.equal(answer.problem().details, error.details);
  });
}

test('a refusal under an idempotency key says that it is a repetition', async () => {
  const machine = await startMachine(
    routeThat(async () => {
      throw invalidOperation('Not enough.', { reason: 'limit_reached' });
    }),
  );
  Object.assign(machine.outcome, { replayed: true, position: 4n });
  const answer = await machine.request('POST', '/v1/acts');
  assert.is(answer.headers.get('idempotency-replayed'), 'true');
  assert.is(answer.headers.get('counterfoil-position'), '4');
  await machine.server.close(100);
});

for (const error of [
  new BrokenInvariant('the secret inside'),
  new TypeError('the secret inside'),
  'the secret inside',
]) {
  test(`500 shows nothing of its inside but logs it: ${String(error)}`, async () => {
    const answer = await answerTo(error);
    assertProblem(answer, 'internal_error');
    assert.not.match(answer.text, /secret/);
    const logged = JSON.stringify(answer.lines);
    assert.match(logged, /the secret inside/);
    assert.is(/"stack"/.test(logged), error instanceof Error);
  });
}

for (const error of [
  new StoreUnavailable('no'),
  new AppendError('unavailable', 'no'),
  new AppendError('unknown_outcome', 'no'),
  Object.assign(new Error('no'), { code: 'ECONNREFUSED' }),
  Object.assign(new Error('no'), { code: '57P01' }),
]) {
  test(`503 when a part is not there: ${error.name} ${'code' in error ? error.code : ''}`, async () => {
    const answer = await answerTo(error);
    assertProblem(answer, 'service_unavailable');
    assert.is(answer.headers.get('retry-after'), '1');
  });
}

test('the cause of a 503 is logged in one line and not answered', async () => {
  const cause = Object.assign(new Error(`the secret inside ${'x'.repeat(10_000)}`), {
    code: '57014',
  });
  const answer = await answerTo(new Problem('service_unavailable', 'Wait.', { cause }));
  assert.not.match(answer.text, /secret/);
  const logged = answer.lines.filter((line) => 'cause' in line);
  assert.is(logged.length, 1);
  assert.match(String(logged[0]?.cause), /^57014: the secret inside x{10,300}$/);
});

test('503 repeats how long to wait', async () => {
  const error = new Problem('service_unavailable', 'Wait.', { retryAfterSeconds: 2.2 });
  assert.is((await answerTo(error)).headers.get('retry-after'), '3');
});

test('503 when a handler does not come to an end; its late result is dropped', async () => {
  const { routes, release } = waitingRoute();
  const machine = await startMachine(routes, { requestTimeoutMs: 50 });
  const answer = await machine.request('POST', '/v1/acts');
  assertProblem(answer, 'service_unavailable');
  assert.match(answer.problem().message, /same Idempotency-Key/);
  release.resolve();
  assert.is((await machine.request('GET', '/healthz')).status, 200);
  const errors = machine.lines.filter(({ level }) => Number(level) >= 50);
  assert.equal(errors, []);
  await machine.server.close(100);
});

test('503 above the number of requests in hand, but not for the health of the process', async () => {
  const { routes, started, release } = waitingRoute();
  const machine = await startMachine(routes, { maximumInFlight: 1 });
  const waiting = machine.request('POST', '/v1/acts');
  await started.promise;
  assertProblem(await machine.request('POST', '/v1/acts'), 'service_unavailable');
  assert.is((await machine.request('GET', '/healthz')).status, 200);
  release.resolve();
  assert.is((await waiting).status, 200);
  await machine.server.close(100);
});

test('429 above the open requests of a tenant, whatever their keys; others are not touched', async () => {
  const { routes, started, release } = waitingRoute();
  const machine = await startMachine(routes, { ...keysOfTenants, maximumPerTenant: 1 });
  const act = (key: string) => machine.request('POST', '/v1/acts', { key });
  const waiting = act('acme.1');
  await started.promise;
  const refused = await act('acme.2');
  assertProblem(refused, 'too_many_requests');
  assert.is(refused.headers.get('retry-after'), '1');
  const other = act('bolt.1');
  release.resolve();
  assert.is((await waiting).status, 200);
  assert.is((await other).status, 200);
  assert.is((await act('acme.2')).status, 200);
  await machine.server.close(100);
});

test('429 above the rate of a tenant, which is that of two keys', async () => {
  const machine = await startMachine(thingRoutes, {
    ...keysOfTenants,
    rateLimit: { perSecond: 1 },
  });
  const read = (key: string) => machine.request('GET', '/v1/things/t', { key });
  const keys = Array.from({ length: 9 }, (_, index) => `acme.${index}`);
  const answers = await Promise.all(keys.map(read));
  const refused = answers.find(({ status }) => status === 429);
  assert.ok(refused);
  assert.match(refused.problem().message, /This tenant/);
  assert.is((await read('bolt.1')).status, 200);
  await machine.server.close(100);
});

/** A request of which the body does not come to an end. */
const unfinished =
  'POST /v1/things HTTP/1.1\r\nHost: a\r\nx-api-key: sk_writer\r\n' +
  'Content-Type: application/json\r\nContent-Length: 100\r\n\r\n{';

test('a request is in hand only when its body is there', async () => {
  const machine = await startMachine(thingRoutes, { maximumInFlight: 1 });
  const conversations = Array.from({ length: 3 }, () => openConversation(machine.port));
  for (const { say } of conversations) say(unfinished);
  const answer = await machine.request('POST', '/v1/things', { body: { name: 'a' } });
  assert.is(answer.status, 201);
  await machine.server.close(1);
});

for (const [name, options] of [
  ['too slow', { bodyPace: { everyMs: 20, bytes: 1 } }],
  ['not there in time', { requestTimeoutMs: 50 }],
] as const) {
  test(`408 for a body that is ${name}: one answer, and the connection ends`, async () => {
    const machine = await startMachine(thingRoutes, options);
    const answer = await exchangeRaw(machine.port, unfinished);
    assert.is(answer.split('HTTP/1.1').length, 2);
    assert.is(statusOf(answer), 408);
    assert.match(answer, /Connection: close/);
    assert.is(bodyOf(answer).code, 'request_timeout');
    seen.add('request_timeout');
    await machine.server.close(100);
  });
}

test('503 when keys cannot be looked up', async () => {
  const answer = await answerOf(async () => ({}), {
    authenticate: () => Promise.reject(new StoreUnavailable('no')),
  });
  assertProblem(answer, 'service_unavailable');
});

for (const [name, body] of [
  ['a wrong type', { id: 3, name: 'a' }],
  ['a missing member', { id: 'a' }],
  ['a member nobody documented', { id: 'a', name: 'a', extra: true }],
  ['no body at all', undefined],
] as const) {
  test(`500 for a response that does not fit its schema: ${name}`, async () => {
    const machine = await startMachine({
      'GET /drift': route({
        tag: 'drift',
        summary: 'Drifts',
        status: 200,
        permission: null,
        response: z.object({ id: z.string(), name: z.string() }),
        handle: async () => body as never,
      }),
    });
    const answer = await machine.request('GET', '/v1/drift');
    assertProblem(answer, 'internal_error');
    assert.match(JSON.stringify(machine.lines), /GET \/drift/);
    await machine.server.close(100);
  });
}

test('checks the body of an entity too', async () => {
  const machine = await startMachine({
    'GET /drift': route({
      tag: 'drift',
      summary: 'Drifts',
      status: 200,
      permission: null,
      response: z.object({ id: z.string() }),
      handle: async () => withETag({ id: 1 }, 1) as never,
    }),
  });
  assertProblem(await machine.request('GET', '/v1/drift'), 'internal_error');
  await machine.server.close(100);
});

test('what is wrong with a request has its codes too', async ({ machine }) => {
  const create = (body: unknown, headers: Record<string, string> = {}) =>
    machine.request('POST', '/v1/things', { body, headers });
  assertProblem(await create('{'), 'validation_error');
  assertProblem(await create('x'.repeat(2 * 1024 * 1024)), 'payload_too_large');
  assertProblem(await create('x', { 'content-type': 'text/plain' }), 'unsupported_media_type');
  assertProblem(await create({ name: 'a' }, { 'If-Match': 'W/"1"' }), 'precondition_failed');
});

test('every code of the table has been answered above', () => {
  const missing = Object.keys(problemCodes).filter((code) => !seen.has(code as ProblemCode));
  assert.equal(missing, []);
});

test.run();
