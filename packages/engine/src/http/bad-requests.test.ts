import { gzipSync } from 'node:zlib';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { type Machine, startMachine, thingRoutes } from './test-machine.ts';
import { assertInvalid, assertProblem } from './test-problems.ts';

const test = suite<{ machine: Machine }>('requests that are wrong');

test.before(async (context) => {
  context.machine = await startMachine();
});
test.before.each(({ machine }) => {
  machine.begun.length = 0;
});
test.after(({ machine }) => machine.server.close(100));

test('400 for a path that cannot be decoded', async ({ machine }) => {
  assertProblem(await machine.request('GET', '/v1/things/%zz'), 'validation_error');
  assertProblem(await machine.request('GET', '/v1/things/%E0%A4'), 'validation_error');
});

test('400 for a NUL character in the path', async ({ machine }) => {
  const answer = await machine.request('GET', '/v1/things/a%00b');
  assertInvalid(answer, '/id', /NUL/);
  assert.equal(answer.problem().details, { in: 'path' });
});

test('400 names wrong values of the path', async ({ machine }) => {
  const answer = await machine.request('GET', `/v1/things/${'x'.repeat(65)}`);
  assertInvalid(answer, '/id', /at most 64 characters/);
  assert.equal(answer.problem().details, { in: 'path' });
});

for (const [query, pointer, message] of [
  ['limit=0', '/limit', /at least 1/],
  ['limit=1001', '/limit', /at most 1000/],
  ['limit=x', '/limit', /a number/],
  ['limit=1&limit=2', '/limit', /more than once: give it once/],
  ['limit=%zz', '', /percent-encoding/],
  ['tag=a%00', '/tag', /NUL/],
  ['tag=a&tag=b%00', '/tag', /NUL/],
] as const) {
  test(`400 for the query ${query}`, async ({ machine }) => {
    const answer = await machine.request('GET', `/v1/things?${query}`);
    assertInvalid(answer, pointer, message);
    assert.equal(answer.problem().details, { in: 'query' });
  });
}

const members = (count: number): string =>
  Array.from({ length: count }, (_, index) => `"${index}":0`).join();

for (const [body, pointer, message] of [
  ['{', '', /well-formed JSON/],
  ['{"name":"a"} x', '', /well-formed JSON/],
  ['null', '', /must be an object/],
  ['[]', '', /must be an object/],
  ['"text"', '', /must be an object/],
  ['{}', '/name', /is required/],
  ['{"name":3}', '/name', /must be a string/],
  ['{"name":""}', '/name', /must not be empty/],
  ['{"name":"123456789012345678901"}', '/name', /at most 20 characters/],
  ['{"name":"a","count":1.5}', '/count', /an integer/],
  ['{"name":"a","count":1e400}', '/count', /not so large/],
  ['{"name":"a","count":12345678901234567}', '', /12345678901234567 exactly/],
  ['{"name":"a","parts":[{"a/b":"x"},{"a/b":1}]}', '/parts/1/a~1b', /must be a string/],
  ['{"name":"a","labels":{"far too long":"x"}}', '/labels/far too long', /key .*8 characters/],
  ['{"name":"a\\u0000b"}', '/name', /NUL/],
  ['{"name":"a","labels":{"\\u0000":"x"}}', '/labels', /key .*NUL/],
  ['{"name":"a\\ud800"}', '/name', /lone surrogate/],
  ['{"name":"a","ignored":["\\udfff"]}', '/ignored/0', /lone surrogate/],
  [`{"name":"a","deep":${'['.repeat(64)}${']'.repeat(64)}}`, `/deep${'/0'.repeat(63)}`, /64/],
  [`{"name":"a","labels":{${members(1_001)}}}`, '/labels', /at most 1000 members/],
  [`{"name":"a","parts":[${'0,'.repeat(10_000)}0]}`, '/parts', /at most 10000 items/],
  [`{"name":"a","parts":[${'1e-300,'.repeat(1_000)}1e-300]}`, '', /more than 1000 long numbers/],
  [Buffer.from([0x7b, 0xff, 0x7d]), '', /UTF-8/],
] as const) {
  test(`400 for the body ${String(body).slice(0, 50)}`, async ({ machine }) => {
    const answer = await machine.request('POST', '/v1/things', { body });
    assertInvalid(answer, pointer, message);
    assert.is(machine.begun.length, 0);
  });
}

test('400 names every member that nobody knows, beside what else is wrong', async ({ machine }) => {
  const answer = await machine.request('POST', '/v1/things', {
    body: { nmae: 'a', parts: [{ 'a/b': 'x', c: 1 }] },
  });
  assertInvalid(answer, '/nmae', /no field of this request/);
  assert.equal(
    answer.problem().errors?.map(({ pointer }) => pointer),
    ['/nmae', '/parts/0/c', '/name'],
  );
});

for (const path of ['/things?limt=1', '/things/usage?limit=1'] as const) {
  test(`400 for a parameter that nobody knows: ${path}`, async ({ machine }) => {
    const answer = await machine.request('GET', `/v1${path}`);
    assertInvalid(answer, /limt/.test(path) ? '/limt' : '/limit', /no parameter of this request/);
    assert.equal(answer.problem().details, { in: 'query' });
  });
}

test('400 for an absent body where one is required', async ({ machine }) => {
  const answer = await machine.request('POST', '/v1/things');
  assertInvalid(answer, '', /body is required/);
});

test('400 names every wrong value, and the first in its message', async ({ machine }) => {
  const answer = await machine.request('POST', '/v1/things', { body: { count: 'x' } });
  assertProblem(answer, 'validation_error');
  const pointers = answer.problem().errors?.map(({ pointer }) => pointer);
  assert.equal(pointers, ['/name', '/count']);
  assert.is(answer.problem().message, 'name: is required (and 1 more, see errors)');
});

test('400 names the first of very many wrong values', async ({ machine }) => {
  const body = { name: 'a', parts: Array.from({ length: 9_000 }, () => 0) };
  const answer = await machine.request('POST', '/v1/things', { body });
  assertInvalid(answer, '/parts/0', /must be an object/);
  assert.is(answer.problem().errors?.length, 50);
});

test('400 names what is wrong in a long list, its items and beside it', async ({ machine }) => {
  const parts = Array.from({ length: 500 }, (): object => ({ 'a/b': 'x' }));
  parts[120] = { 'a/b': 3 };
  parts[499] = { 'a/b': 'x', more: 1 };
  const answer = await machine.request('POST', '/v1/things', { body: { nmae: 'a', parts } });
  assert.equal(
    answer.problem().errors?.map(({ pointer }) => pointer),
    ['/nmae', '/parts/499/more', '/name', '/parts/120/a~1b'],
  );
});

test('the items of a long list arrive as they are parsed', async ({ machine }) => {
  const parts = Array.from({ length: 501 }, (_, index) => ({ 'a/b': String(index) }));
  const answer = await machine.request('POST', '/v1/things', { body: { name: 'a', parts } });
  assert.is(answer.status, 201);
  assert.equal(machine.begun[0]?.fields.parts, parts);
});

test('400 for a truncated compressed body', async ({ machine }) => {
  const answer = await machine.request('POST', '/v1/things', {
    body: gzipSync('{"name":"a"}').subarray(0, 15),
    headers: { 'content-encoding': 'gzip' },
  });
  assertProblem(answer, 'validation_error');
});

test('413 for a body over the limit, also when it is compressed', async ({ machine }) => {
  const body = JSON.stringify({ name: 'a', padding: 'x'.repeat(64 * 1024) });
  const plain = await machine.request('POST', '/v1/things', { body });
  assertProblem(plain, 'payload_too_large');
  assert.equal(plain.problem().details, { limit_bytes: 64 * 1024 });
  const zipped = await machine.request('POST', '/v1/things', {
    body: gzipSync(body),
    headers: { 'Content-Encoding': 'gzip' },
  });
  assertProblem(zipped, 'payload_too_large');
});

test('a route may have a size limit of its own', async () => {
  const base = thingRoutes['POST /things'];
  assert.ok(base);
  const machine = await startMachine({ 'POST /things': { ...base, bodyLimitBytes: 2_000_000 } });
  const body = { name: 'a', labels: { long: 'x'.repeat(1024 * 1024) } };
  assert.is((await machine.request('POST', '/v1/things', { body })).status, 201);
  await machine.server.close(100);
});

for (const type of ['text/plain', 'application/json; charset=latin1', 'application/x-json', '']) {
  test(`415 for the content type "${type}"`, async ({ machine }) => {
    const headers = { 'content-type': type };
    const answer = await machine.request('POST', '/v1/things', { body: { name: 'a' }, headers });
    assertProblem(answer, 'unsupported_media_type');
  });
}

for (const type of ['application/json; charset=utf-8', 'Application/JSON;charset="UTF-8"']) {
  test(`takes the content type ${type}`, async ({ machine }) => {
    const headers = { 'content-type': type };
    const answer = await machine.request('POST', '/v1/things', { body: { name: 'a' }, headers });
    assert.is(answer.status, 201);
  });
}

test('415 for an unknown content encoding', async ({ machine }) => {
  const headers = { 'content-encoding': 'compress' };
  const answer = await machine.request('POST', '/v1/things', { body: { name: 'a' }, headers });
  assertProblem(answer, 'unsupported_media_type');
});

test.run();
