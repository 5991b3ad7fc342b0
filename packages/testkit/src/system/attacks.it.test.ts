import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { type Answer, caller } from '../caller.ts';
import { eventually } from '../eventually.ts';
import { type SharedStack, sharedStack, type TestTenant } from '../stack.ts';
import { apiBeside } from './api-beside.ts';

const test = suite('one key cannot stop the API');

let stack: SharedStack;
let attacker: TestTenant;
let victim: TestTenant;
let customerId: string;
test.before(async () => {
  stack = await sharedStack();
  attacker = await stack.tenant('attacks-attacker');
  victim = await stack.tenant('attacks-victim');
  customerId = (await victim.ok('POST', '/customers', { external_id: 'v', name: 'Victim' })).id;
});

const times = <Value>(count: number, work: (index: number) => Value): Value[] =>
  Array.from({ length: count }, (_, index) => work(index));

/** The answers to reads and writes of the victim, one after the other. */
async function answersToVictim(name: string): Promise<readonly number[]> {
  const statuses: number[] = [];
  for (const index of times(3, (each) => each)) {
    const read = await victim.call('GET', `/customers/${customerId}`);
    const made = await victim.call('POST', '/customers', { external_id: `${name} ${index}`, name });
    statuses.push(read.status, made.status);
  }
  return statuses;
}

const members = (count: number): object =>
  Object.fromEntries(times(count, (index) => [`key${index}`, index]));
const filter = (count: number): object => ({
  field: 'id',
  operator: 'in',
  value: { array: times(count, (index) => String(index)) },
});
const create = (metadata: string): string => `{"external_id":"a","metadata":${metadata}}`;

for (const [name, path, body, status] of [
  ['90,000 wrong pairs of metadata', '/customers', create(JSON.stringify(members(90_000))), 413],
  ['as many as a body holds', '/customers', create(JSON.stringify(members(4_000))), 400],
  ['51 wrong pairs', '/customers', create(JSON.stringify(members(51))), 400],
  ['long numbers', '/customers', create(`[${times(9_000, () => '1e-300').join()}]`), 400],
  ['33 filters of 1,000', '/customers/search', { filters: times(33, () => filter(1_000)) }, 413],
  ['9 filters of 1,000', '/customers/search', { filters: times(9, () => filter(1_000)) }, 400],
] as const) {
  test(`${name}: ${status} for the attacker, and the victim is answered`, async () => {
    const attacks: Answer[] = [];
    let isDone = false;
    const attacking = times(2, async () => {
      while (!isDone) attacks.push(await attacker.call('POST', path, body));
    });
    const statuses = await answersToVictim(name).finally(() => {
      isDone = true;
    });
    await Promise.all(attacking);
    assert.equal([...new Set(statuses)], [200, 201]);
    assert.equal([...new Set(attacks.map((answer) => answer.status))], [status]);
  });
}

/** Opens a request of the attacker of which one byte of the body is sent. */
function openSlowly(): Socket {
  const { hostname, port } = new URL(stack.baseUrl);
  const socket = connect(Number(port), hostname).on('error', () => undefined);
  const head = `POST /v1/customers HTTP/1.1\r\nHost: a\r\nx-api-key: ${attacker.apiKey}\r\n`;
  socket.write(`${head}Content-Type: application/json\r\nContent-Length: 100\r\n\r\n{`);
  return socket;
}

test('700 bodies that do not arrive: 429 above the share of the attacker, and the victim is answered', async () => {
  const sockets = times(700, openSlowly);
  try {
    const [first] = await Promise.race(sockets.map((socket) => once(socket, 'data')));
    assert.match(String(first), /^HTTP\/1\.1 429 /);
    assert.match(String(first), /Retry-After: 1/);
    assert.equal([...new Set(await answersToVictim('slow'))], [200, 201]);
  } finally {
    for (const socket of sockets) socket.destroy();
  }
});

test('refusals are remembered up to the quota of a tenant; what has no key is answered as before', async () => {
  const api = await apiBeside(stack, { TENANT_REFUSALS_PER_HOUR: 2 });
  try {
    const bounded = caller(api.baseUrl, attacker.apiKey);
    const customer = { external_id: 'refused', name: 'Refused' };
    const { id } = await bounded.ok('POST', '/customers', customer);
    const wallet = await bounded.ok('POST', '/wallets', { customer_id: id, currency: 'usd' });
    const path = `/wallets/${wallet.id}/debit`;
    const debit = (headers: Record<string, string>) =>
      bounded.call('POST', path, { credits: '1' }, headers);
    const codes: string[] = [];
    for (const key of ['1', '2', '3'])
      codes.push((await debit({ 'idempotency-key': key })).body.code);
    codes.push((await debit({})).body.code);
    const expected = ['invalid_operation', 'invalid_operation', 'too_many_requests'];
    assert.equal(codes, [...expected, 'invalid_operation']);
    const again = await debit({ 'idempotency-key': '1' });
    assert.is(again.body.code, 'invalid_operation', 'a known key has its first answer for ever');
    const other = caller(api.baseUrl, victim.apiKey);
    assert.is((await other.call('GET', `/customers/${customerId}`)).status, 200);
  } finally {
    await api.stop();
  }
});

test('a tenant publishes up to its quota of bytes; repetitions, reads and other tenants are answered', async () => {
  const [loud, quiet] = [await stack.tenant('loud'), await stack.tenant('quiet')];
  const metadata = Object.fromEntries(times(50, (index) => [`key${index}`, 'x'.repeat(500)]));
  const key = { 'idempotency-key': 'first' };
  const customer = { external_id: 'loud', name: 'Loud', metadata };
  const first = await loud.call('POST', '/customers', customer, key);
  assert.is(first.status, 201);
  const api = await apiBeside(stack, { TENANT_PUBLIC_BYTES_PER_HOUR: 20_000 });
  try {
    const bounded = caller(api.baseUrl, loud.apiKey);
    let made = 0;
    const refused = await eventually(async () => {
      const name = `Loud ${made}`;
      const answer = await bounded.call('POST', '/customers', { external_id: name, name });
      made += answer.status === 201 ? 1 : 0;
      return answer.status === 429 && answer;
    });
    assert.is(refused.body.code, 'too_many_requests');
    assert.equal(refused.body.details, { reason: 'limit_reached', limit: 20_000 });
    assert.match(refused.headers.get('retry-after') ?? '', /^[1-9]\d{0,3}$/);
    const repeated = await bounded.call('POST', '/customers', customer, key);
    assert.equal([repeated.status, repeated.body.id], [201, first.body.id]);
    const listed = await eventually(async () => {
      const { body } = await bounded.call('GET', '/customers?limit=1');
      return body.pagination.total === made + 1 && body;
    });
    assert.is(listed.items.length, 1, 'what was refused is not there');
    const other = caller(api.baseUrl, quiet.apiKey);
    assert.is(
      (await other.call('POST', '/customers', { external_id: 'q', name: 'Quiet' })).status,
      201,
    );
  } finally {
    await api.stop();
  }
});

test.run();
