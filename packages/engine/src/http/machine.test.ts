import { gzipSync } from 'node:zlib';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { type Machine, startMachine, thingRoutes } from './test-machine.ts';

const test = suite<{ machine: Machine }>('HTTP machine');

test.before(async (context) => {
  context.machine = await startMachine();
});
test.before.each(({ machine }) => {
  machine.begun.length = 0;
  machine.lines.length = 0;
  Object.assign(machine.outcome, { position: null, replayed: false, lagMilliseconds: null });
});
test.after(async ({ machine }) => {
  await machine.server.close(100);
});

test('answers with the status of the route and exactly application/json', async ({ machine }) => {
  const created = await machine.request('POST', '/v1/things', { body: { name: 'a', count: 2 } });
  assert.is(created.status, 201);
  assert.is(created.headers.get('content-type'), 'application/json');
  assert.equal(created.json(), { id: 'thing_1', name: 'a', count: 2 });
});

test('answers 204 without a body or a content type', async ({ machine }) => {
  const answer = await machine.request('DELETE', '/v1/things/thing_1');
  assert.is(answer.status, 204);
  assert.is(answer.text, '');
  assert.is(answer.headers.get('content-type'), null);
});

test('hands the host what it needs to know about the request', async ({ machine }) => {
  await machine.request('POST', '/v1/things', {
    body: { name: 'a', idempotency_key: 'k1' },
    headers: { 'X-Request-Id': 'mine', 'Counterfoil-Min-Position': '12', 'If-Match': '"7"' },
  });
  const [begun] = machine.begun;
  assert.is(begun?.principal.keyId, 'secret_writer');
  assert.is(begun?.requestId, 'mine');
  assert.is(begun?.route, 'POST /things');
  assert.is(begun?.operation, 'POST /things');
  assert.is(begun?.idempotencyKey, 'k1');
  assert.equal(begun?.fields, { name: 'a' });
  assert.is(begun?.ifMatch, 7);
  assert.is(begun?.minimumPosition, 12n);
  assert.match(begun?.receivedAt ?? '', /^\d{4}-\d\d-\d\dT[\d:.]+Z$/);
});

test('writes the operation with the path values encoded in one way', async ({ machine }) => {
  await machine.request('DELETE', '/v1/things/a%2Fb%20%41/');
  assert.is(machine.begun[0]?.operation, 'DELETE /things/a%2Fb%20A');
  assert.equal(machine.begun[0]?.fields, { id: 'a/b A' });
});

test('prefers a static path to a placeholder', async ({ machine }) => {
  const usage = await machine.request('GET', '/v1/things/usage');
  assert.equal(usage.json(), { used: 3 });
  const one = await machine.request('GET', '/v1/things/usages');
  assert.is(one.json().id, 'usages');
});

test('takes a path with a slash at its end for the same route', async ({ machine }) => {
  assert.is((await machine.request('GET', '/v1/things/usage/')).status, 200);
});

test('takes an absent optional body for an empty object', async ({ machine }) => {
  const without = await machine.request('POST', '/v1/things/t/poke');
  assert.equal(without.json(), { hard: false });
  const empty = await machine.request('POST', '/v1/things/t/poke', { body: '' });
  assert.equal(empty.json(), { hard: false });
  const given = await machine.request('POST', '/v1/things/t/poke', { body: { hard: true } });
  assert.equal(given.json(), { hard: true });
});

test('refuses what is sent to a route that has no body, and takes an empty object for none', async ({
  machine,
}) => {
  const remove = (body: unknown) => machine.request('DELETE', '/v1/things/t', { body });
  const refused = await remove({ force: true });
  assert.equal(
    [refused.status, refused.problem().errors],
    [400, [{ pointer: '/force', message: 'is no field of this request' }]],
  );
  for (const [body, status] of [
    ['{}', 204],
    ['', 204],
    ['[]', 400],
    ['{', 400],
  ] as const) {
    assert.is((await remove(body)).status, status, body);
  }
  const lenient = { Prefer: 'handling=lenient' };
  const options = { body: { force: true }, headers: lenient };
  const ignored = await machine.request('DELETE', '/v1/things/t', options);
  assert.equal([ignored.status, ignored.headers.get('counterfoil-ignored')], [204, '/force']);
});

test('gives a repeated query parameter as a list', async ({ machine }) => {
  const answer = await machine.request('GET', '/v1/things?tag=a&tag=b%2Cc&limit=7');
  assert.equal(answer.json(), { limit: 7, tag: ['a', 'b,c'] });
});

/** The ETag of `GET /things/t`. */
const tagOfThing = '"5-d_5_Q9BOo9A71OzZ"';

test('sends a strong ETag of the revision and of all that the body shows', async ({ machine }) => {
  const answer = await machine.request('GET', '/v1/things/t');
  assert.is(answer.headers.get('etag'), tagOfThing);
  const other = await machine.request('GET', '/v1/things/u');
  assert.match(other.headers.get('etag') ?? '', /^"5-[\w-]{16}"$/);
  assert.is.not(other.headers.get('etag'), tagOfThing);
  assert.is(answer.headers.get('cache-control'), 'private, no-cache');
});

for (const [header, status] of [
  [tagOfThing, 304],
  [`W/${tagOfThing}`, 304],
  [`"4", ${tagOfThing}`, 304],
  ['*', 304],
  ['"5"', 200],
  ['"5-AAAAAAAAAAAAAAAA"', 200],
  [tagOfThing.slice(1, -1), 200],
] as const) {
  test(`answers ${status} to If-None-Match ${header}`, async ({ machine }) => {
    const headers = { 'If-None-Match': header };
    const answer = await machine.request('GET', '/v1/things/t', { headers });
    assert.is(answer.status, status);
    assert.is(answer.text === '', status === 304);
    assert.is(answer.headers.get('etag'), tagOfThing);
  });
}

test('lets pages of the configured origins call, and no others', async () => {
  const own = await startMachine(thingRoutes, { corsOrigins: ['https://portal.example'] });
  const ask = (origin: string) =>
    own.request('OPTIONS', '/v1/things', { key: null, headers: { Origin: origin } });
  const allowed = (await ask('https://portal.example')).headers;
  assert.is(allowed.get('access-control-allow-origin'), 'https://portal.example');
  assert.match(allowed.get('access-control-allow-headers') ?? '', /x-api-key/);
  const other = (await ask('https://other.example')).headers;
  assert.is(other.get('access-control-allow-origin'), null);
  assert.is(other.get('vary'), 'Origin');
  await own.server.close(100);
});

test('says where a new record is read', async ({ machine }) => {
  const made = await machine.request('POST', '/v1/things', { body: { name: 'a' } });
  assert.is(made.headers.get('location'), '/v1/things/thing_1');
  const changed = await machine.request('PUT', '/v1/things/t', { body: { name: 'a' } });
  assert.is(changed.headers.get('location'), null);
});

test('sends an ETag with lists too, and 304 while they stay the same', async ({ machine }) => {
  const first = await machine.request('GET', '/v1/things?limit=7');
  const tag = first.headers.get('etag') ?? '';
  assert.match(tag, /^"[\w-]{16}"$/);
  const headers = { 'If-None-Match': tag };
  assert.is((await machine.request('GET', '/v1/things?limit=7', { headers })).status, 304);
  assert.is((await machine.request('GET', '/v1/things?limit=8', { headers })).status, 200);
});

test('says where the outcome stands, and that it is a repetition', async ({ machine }) => {
  Object.assign(machine.outcome, { position: 2n ** 63n, replayed: true, lagMilliseconds: 1.6 });
  const answer = await machine.request('POST', '/v1/things', { body: { name: 'a' } });
  assert.is(answer.headers.get('counterfoil-position'), '9223372036854775808');
  assert.is(answer.headers.get('idempotency-replayed'), 'true');
  assert.is(answer.headers.get('counterfoil-lag-ms'), '2');
});

test('says nothing of a position where none was written', async ({ machine }) => {
  const answer = await machine.request('POST', '/v1/things', { body: { name: 'a' } });
  assert.is(answer.headers.get('counterfoil-position'), null);
  assert.is(answer.headers.get('idempotency-replayed'), null);
  assert.is(answer.headers.get('counterfoil-lag-ms'), null);
});

test('repeats a usable request id, and refuses another under one that it makes', async ({
  machine,
}) => {
  const given = await machine.request('GET', '/v1/things/t', {
    headers: { 'X-Request-Id': 'a!~'.padEnd(128, 'z') },
  });
  assert.is(given.headers.get('x-request-id'), 'a!~'.padEnd(128, 'z'));
  for (const bad of ['a'.repeat(129), 'a b', 'ä']) {
    const answer = await machine.request('GET', '/v1/things/t', {
      headers: { 'X-Request-Id': bad },
    });
    assert.match(answer.headers.get('x-request-id') ?? '', /^req_[0-9A-Z]{26}$/);
    assert.is(answer.status, 400);
  }
});

test('answers HEAD as GET without the body', async ({ machine }) => {
  const answer = await machine.request('HEAD', '/v1/things/t');
  assert.is(answer.status, 200);
  assert.is(answer.text, '');
  assert.is(answer.headers.get('etag'), tagOfThing);
  assert.is(Number(answer.headers.get('content-length')), '{"id":"t","name":"Thing"}'.length);
});

test('answers OPTIONS with the methods of the path, without a key', async ({ machine }) => {
  const answer = await machine.request('OPTIONS', '/v1/things/t', { key: null });
  assert.is(answer.status, 204);
  assert.is(answer.headers.get('allow'), 'DELETE, GET, HEAD, OPTIONS, PUT');
});

test('says what is left of the rate in the standard headers', async ({ machine }) => {
  const answer = await machine.request('GET', '/v1/things/t');
  assert.match(answer.headers.get('ratelimit') ?? '', /^"2000-in-1sec"; r=\d+; t=\d+$/);
  assert.match(answer.headers.get('ratelimit-policy') ?? '', /q=2000; w=1/);
});

test('protects answers from being loaded, framed, guessed or kept', async ({ machine }) => {
  const { headers } = await machine.request('POST', '/v1/things', { body: { name: 'a' } });
  assert.is(headers.get('x-content-type-options'), 'nosniff');
  assert.is(headers.get('x-frame-options'), 'DENY');
  assert.is(headers.get('referrer-policy'), 'no-referrer');
  assert.is(headers.get('cache-control'), 'no-store');
  assert.match(headers.get('content-security-policy') ?? '', /default-src 'none'/);
  assert.is(headers.get('x-powered-by'), null);
});

test('takes a compressed body', async ({ machine }) => {
  const answer = await machine.request('POST', '/v1/things', {
    body: gzipSync('{"name":"zipped"}'),
    headers: { 'Content-Encoding': 'gzip' },
  });
  assert.is(answer.json().name, 'zipped');
});

test('ignores a member called __proto__', async ({ machine }) => {
  const body = '{"name":"a","__proto__":{"count":9},"labels":{"__proto__":"x","k":"v"}}';
  const answer = await machine.request('POST', '/v1/things', { body });
  assert.equal(answer.json(), { id: 'thing_1', name: 'a' });
  assert.equal(machine.begun[0]?.fields, { name: 'a', labels: { k: 'v' } });
  assert.is(({} as Record<string, unknown>).count, undefined);
});

test('ignores what nobody knows when the caller says so, and lists it', async ({ machine }) => {
  const answer = await machine.request('POST', '/v1/things?x=1', {
    body: { name: 'a', 'nä,me': 'b', parts: [{ 'a/b': 'x', c: 1 }] },
    headers: { Prefer: 'respond-async, handling=lenient' },
  });
  assert.is(answer.status, 201);
  assert.is(answer.headers.get('counterfoil-ignored'), '/x, /n%C3%A4%2Cme, /parts/0/c');
  assert.equal(machine.begun[0]?.fields, { name: 'a', parts: [{ 'a/b': 'x' }] });
});

test('ignores what nobody knows when the installation says so', async () => {
  const lenient = await startMachine(thingRoutes, { unknownNames: 'ignore' });
  const answer = await lenient.request('GET', '/v1/things?limt=1');
  assert.is(answer.status, 200);
  assert.is(answer.headers.get('counterfoil-ignored'), '/limt');
  await lenient.server.close(100);
});

test('takes null for an absent member', async ({ machine }) => {
  const body = { name: 'a', count: null, labels: null };
  assert.is((await machine.request('POST', '/v1/things', { body })).status, 201);
  assert.equal(machine.begun[0]?.fields, { name: 'a' });
});

test('writes one line of log, without key, query or body', async ({ machine }) => {
  await machine.request('POST', '/v1/things?secret=q', {
    body: { name: 'hidden' },
    headers: { Prefer: 'handling=lenient' },
  });
  const [line] = machine.lines;
  assert.is(machine.lines.length, 1);
  assert.is(line?.route, 'POST /things');
  assert.is(line?.path, '/v1/things');
  assert.is(line?.status, 201);
  assert.is(line?.key_id, 'secret_writer');
  assert.is(line?.tenant_id, 'tenant_1');
  assert.type(line?.ms, 'number');
  assert.not.match(JSON.stringify(line), /sk_writer|hidden|secret=q/);
});

test('measures durations by route and status', async ({ machine }) => {
  await machine.request('GET', '/v1/things/one');
  await machine.request('GET', '/v1/things/two');
  const { text } = await machine.request('GET', '/metrics', { key: null });
  const counted =
    /http_request_duration_seconds_count\{route="GET \/things\/\{id\}",status="200"\} (\d+)/;
  assert.ok(Number(counted.exec(text)?.[1]) >= 2);
  assert.match(text, /counterfoil_http_requests_in_flight 0\b/);
});

test.run();
