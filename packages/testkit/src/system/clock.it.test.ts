import { categoryPrefix } from '@counterfoil/engine';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { eventually } from '../eventually.ts';
import { type SharedStack, sharedStack, type TestTenant } from '../stack.ts';
import { onTestClock } from './on-test-clock.ts';

const test = suite('test clock over HTTP');

let stack: SharedStack;
test.before(async () => {
  stack = await sharedStack();
});

const start = '2027-01-01T00:00:00.000Z';
const end = '2028-01-01T00:00:00.000Z';
const month = (number: number): string =>
  `2027-${String(number).padStart(2, '0')}-15T12:00:00.000Z`;

const clocked = (seed: string) => onTestClock(stack, seed, start);

async function makeWallet(tenant: TestTenant, name: string): Promise<string> {
  const customer = await tenant.ok('POST', '/customers', { external_id: name, name });
  return (await tenant.ok('POST', '/wallets', { customer_id: customer.id, currency: 'usd' })).id;
}

const load = (tenant: TestTenant, wallet: string, credits: string, expiry: string) =>
  tenant.ok('POST', `/wallets/${wallet}/top-up`, {
    credits_to_add: credits,
    transaction_reason: 'FREE_CREDIT_GRANT',
    expiry_date_utc: expiry,
  });

/** The expiries of a tenant in the order of the log: their credits and instants. */
async function expiriesOf({ tenantId }: TestTenant): Promise<readonly (readonly string[])[]> {
  const found: string[][] = [];
  const upTo = await stack.store.head();
  const range = { prefixes: [categoryPrefix('wallet')], after: 0n, upTo };
  for await (const { type, data, metadata } of stack.store.readLog(range)) {
    if (type !== 'CreditsExpired' || metadata.tenant_id !== tenantId) continue;
    found.push([(data as { credits: string }).credits, metadata.occurred_at]);
  }
  return found;
}

test('a year runs in the order of its instants, whatever wallet they belong to', async () => {
  const tenant = await clocked('year');
  const wallets = await Promise.all(['a', 'b', 'c'].map((name) => makeWallet(tenant, name)));
  const months = Array.from({ length: 12 }, (_, index) => index + 1);
  // The later ones first, so that nothing but the instant can make the order.
  for (const number of months.toReversed()) {
    await load(tenant, wallets[number % 3] ?? '', String(number), month(number));
  }
  const asked = await tenant.advance(end);
  assert.is(asked.status, 202);
  const { now, progress } = await tenant.stands();
  assert.is(now, end);
  assert.equal(progress, {
    ...{ from: start, to: end, stop_at_next_effect: false },
    ...{ effects: 12, ended: 'reached' },
  });
  assert.equal(
    await expiriesOf(tenant),
    months.map((number) => [String(number), month(number)]),
  );
  const shown = await tenant.ok('GET', `/wallets/${wallets[0]}`);
  assert.equal([shown.credit_balance, shown.updated_at], ['0', month(12)]);
  const late = await tenant.call('POST', `/wallets/${wallets[0]}/top-up`, {
    ...{ credits_to_add: '1', transaction_reason: 'FREE_CREDIT_GRANT' },
    expiry_date_utc: '2027-12-31T00:00:00Z',
  });
  assert.is(late.status, 400, 'it has expired by the clock of the environment');
});

test('it stops at the next effect when asked, and what is due later stays', async () => {
  const tenant = await clocked('stops');
  const wallet = await makeWallet(tenant, 'a');
  for (const number of [3, 1, 2]) await load(tenant, wallet, String(number), month(number));
  await tenant.advance(end, { stop_at_next_effect: true });
  const first = await tenant.stands();
  assert.equal([first.now, first.progress.ended, first.progress.effects], [month(1), 'effect', 1]);
  await tenant.advance(end, { stop_at_next_effect: true });
  assert.is((await tenant.stands()).now, month(2));
  assert.is((await expiriesOf(tenant)).length, 2);
  await tenant.advance('2027-02-20T00:00:00Z', { stop_at_next_effect: true });
  const last = await tenant.stands();
  assert.equal([last.now, last.progress.ended], ['2027-02-20T00:00:00.000Z', 'reached']);
});

test('a projector that ends in the middle leaves nothing out and does nothing twice', async () => {
  const tenant = await clocked('killed');
  const wallet = await makeWallet(tenant, 'a');
  const days = Array.from({ length: 100 }, (_, day) =>
    new Date(Date.parse(start) + (day + 1) * 86_400_000).toISOString(),
  );
  await tenant.ok('POST', `/wallets/${wallet}/transactions/bulk`, {
    entries: days.map((expiry_date_utc) => ({ type: 'credit', credits: '1', expiry_date_utc })),
  });
  await tenant.advance(end);
  const again = await tenant.advance(end);
  assert.equal([again.status, again.body.code], [409, 'version_conflict']);
  await eventually(async () => (await tenant.clock()).now > (days[5] ?? ''));
  await stack.parts.projector.stop();
  const { now, state } = await tenant.clock();
  assert.ok(state === 'advancing' && now < (days[99] ?? ''), now);
  await stack.parts.projector.start();
  assert.is((await tenant.stands()).now, end);
  assert.equal(
    await expiriesOf(tenant),
    days.map((day) => ['1', day]),
  );
});

test('a clock that is set ahead lets run what is due, and one in production is refused', async () => {
  const tenant = await stack.tenant('ahead');
  const wallet = await makeWallet(tenant, 'a');
  const path = `/environments/${tenant.environmentId}/clock`;
  assert.is((await tenant.ok('GET', path)).state, 'system');
  await load(tenant, wallet, '5', '2099-01-01T00:00:00Z');
  await tenant.ok('PUT', path, { now: '2099-06-01T00:00:00Z' });
  await eventually(async () => (await expiriesOf(tenant)).length === 1);
  assert.is((await tenant.call('DELETE', path)).body.code, 'version_conflict');
  const production = await tenant.ok('POST', '/environments', { name: 'P', type: 'production' });
  const refused = await tenant.call('PUT', `/environments/${production.id}/clock`, { now: start });
  assert.equal([refused.status, refused.body.details.reason], [400, 'production']);
  const stranger = await stack.tenant('clock-stranger');
  assert.is((await stranger.call('PUT', path, { now: start })).status, 404);
  assert.is((await stranger.call('POST', `${path}/advance`, { to: end })).status, 404);
  assert.is((await stranger.call('GET', path)).status, 404);
});

test("an environment that gets the system's clock back has it for its next request", async () => {
  const tenant = await stack.tenant('back');
  const path = `/environments/${tenant.environmentId}/clock`;
  await tenant.ok('PUT', path, { now: '2020-02-29T00:00:00Z' });
  const then = await tenant.ok('POST', '/customers', { external_id: 'x', name: 'X' });
  assert.is(then.created_at, '2020-02-29T00:00:00.000Z');
  assert.is((await tenant.call('DELETE', path)).status, 204);
  const now = await tenant.ok('POST', '/customers', { external_id: 'y', name: 'Y' });
  assert.ok(now.created_at > '2026');
});

test.run();
