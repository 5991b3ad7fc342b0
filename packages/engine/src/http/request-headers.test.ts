import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { type Machine, startMachine } from './test-machine.ts';
import { assertInvalid, assertProblem } from './test-problems.ts';

const test = suite<{ machine: Machine }>('request headers');

test.before(async (context) => {
  context.machine = await startMachine();
});
test.before.each(({ machine }) => {
  machine.begun.length = 0;
});
test.after(({ machine }) => machine.server.close(100));

for (const [key, isTaken] of [
  ['k', true],
  ['!~'.padEnd(255, 'k'), true],
  ['k'.repeat(256), false],
  ['two words', false],
  ['ü', false],
] as const) {
  test(`${isTaken ? 'takes' : 'refuses'} the idempotency key ${key.slice(0, 12)}`, async ({
    machine,
  }) => {
    const headers = { 'Idempotency-Key': key };
    const answer = await machine.request('POST', '/v1/things', { body: { name: 'a' }, headers });
    if (isTaken) {
      assert.is(answer.status, 201);
      assert.is(machine.begun[0]?.idempotencyKey, key);
    } else {
      assertInvalid(answer, '/Idempotency-Key', /visible ASCII/);
      assert.equal(answer.problem().details, { in: 'header' });
    }
  });
}

test('an idempotency key in the header and in the body must be the same', async ({ machine }) => {
  const headers = { 'Idempotency-Key': 'one' };
  const request = (key: string) =>
    machine.request('POST', '/v1/things', { body: { name: 'a', idempotency_key: key }, headers });
  assert.is((await request('one')).status, 201);
  assert.is(machine.begun[0]?.idempotencyKey, 'one');
  assertInvalid(await request('two'), '/idempotency_key', /only one/);
  assert.is((await request('')).status, 201);
  assertInvalid(await request('x'.repeat(256)), '/idempotency_key', /255/);
});

test('looks for an idempotency key on POST only', async ({ machine }) => {
  const headers = { 'Idempotency-Key': 'not valid' };
  const answer = await machine.request('DELETE', '/v1/things/t', { headers });
  assert.is(answer.status, 204);
  assert.is(machine.begun[0]?.idempotencyKey, null);
});

for (const [header, revision] of [
  ['"5"', 5],
  ['"0"', 0],
  ['"5-3qW8x2Lk_0aZr7Qe"', 5],
  ['*', null],
] as const) {
  test(`takes If-Match ${header}`, async ({ machine }) => {
    await machine.request('DELETE', '/v1/things/t', { headers: { 'If-Match': header } });
    assert.is(machine.begun[0]?.ifMatch, revision);
  });
}

for (const header of ['W/"5"', '"abc"', '"05"', '"5-"', '""', '"99999999999999999999"']) {
  test(`412 for If-Match ${header}, which no revision has`, async ({ machine }) => {
    const headers = { 'If-Match': header };
    const answer = await machine.request('DELETE', '/v1/things/t', { headers });
    assertProblem(answer, 'precondition_failed');
  });
}

for (const header of [`"${'0'.repeat(63)}"`, '5', '"5", "6"', 'W/5', '"5']) {
  test(`400 for If-Match ${header}, which is no ETag`, async ({ machine }) => {
    const headers = { 'If-Match': header };
    const answer = await machine.request('PUT', '/v1/things/t', { body: { name: 'a' }, headers });
    assertInvalid(answer, '/If-Match', /one ETag/);
  });
}

for (const header of ['"3qW8x2Lk_0aZr7Qe"', '"3qW8x2Lk_0aZr7Qe.gzip"']) {
  test(`400 for If-Match ${header}, the tag of an answer without a revision`, async ({
    machine,
  }) => {
    const headers = { 'If-Match': header };
    const answer = await machine.request('DELETE', '/v1/things/t', { headers });
    assertInvalid(answer, '/If-Match', /without a revision/);
  });
}

for (const header of ['-1', 'x', '18446744073709551616', '1.5']) {
  test(`400 for Counterfoil-Min-Position ${header}`, async ({ machine }) => {
    const headers = { 'Counterfoil-Min-Position': header };
    const answer = await machine.request('GET', '/v1/things/t', { headers });
    assertInvalid(answer, '/Counterfoil-Min-Position', /Counterfoil-Position/);
  });
}

test.run();
