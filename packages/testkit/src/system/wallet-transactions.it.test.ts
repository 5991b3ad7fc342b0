import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { caller } from '../caller.ts';
import { eventually } from '../eventually.ts';
import { type SharedStack, sharedStack, type TestTenant } from '../stack.ts';
import { assertProblem, pointersIn } from './problem-answer.ts';

const test = suite('filters of a wallet’s transactions');

interface Entry {
  readonly id: string;
  readonly type: string;
  readonly status: string;
  readonly transaction_status: string;
  readonly transaction_reason: string;
  readonly reference_type?: string;
  readonly reference_id?: string;
  readonly expiry_date?: string;
  readonly credits_available: string;
  readonly priority?: number;
  readonly created_by: string;
  readonly created_at: string;
}

interface Expanded {
  readonly created_by_user: { readonly type: string };
}

let stack: SharedStack;
let tenant: TestTenant;
let path: string;
/** Every entry of the wallet, newest first. */
let all: readonly Entry[];

const newYear = (year: number): string => `${year}-01-01T00:00:00.000Z`;

async function walletWith(externalId: string, credits: string): Promise<string> {
  await tenant.ok('POST', '/customers', { external_id: externalId, name: externalId });
  const body = {
    external_customer_id: externalId,
    currency: 'usd',
    initial_credits_to_load: credits,
  };
  return (await tenant.ok('POST', '/wallets', body)).id;
}

/** A client that acts for another user of the tenant. */
async function otherUser() {
  const account = { type: 'service_account', name: 'Robot', roles: ['super_admin'] };
  const { id } = await tenant.ok('POST', '/users', account);
  const key = { name: 'Robot', type: 'private_key', service_account_id: id };
  return caller(stack.baseUrl, (await tenant.ok('POST', '/secrets/api/keys', key)).api_key);
}

test.before(async () => {
  stack = await sharedStack();
  tenant = await stack.tenant('transactions');
  const robot = await otherUser();
  const id = await walletWith('rich', '10');
  const load = (reason: string, credits: string, more: object) =>
    tenant.ok('POST', `/wallets/${id}/top-up`, {
      transaction_reason: reason,
      credits_to_add: credits,
      ...more,
    });
  await load('PURCHASED_CREDIT_DIRECT', '20', { priority: 2, expiry_date_utc: newYear(2030) });
  await load('SUBSCRIPTION_CREDIT_GRANT', '5', { priority: -1, expiry_date_utc: newYear(2040) });
  await load('PURCHASED_CREDIT_DIRECT', '0.000000001', { idempotency_key: 'crumb' });
  await robot.ok('POST', `/wallets/${id}/debit`, { credits: '12' });
  const correction = { credits: '1', transaction_reason: 'CREDIT_ADJUSTMENT' };
  await tenant.ok('POST', `/wallets/${id}/debit`, correction);
  const other = await walletWith('other', '7');
  await tenant.ok('POST', `/wallets/${other}/debit`, { credits: '1' });
  path = `/wallets/${id}/transactions`;
  const page = await eventually(async () => {
    const answer = await tenant.call('GET', path);
    return answer.body.pagination?.total === 6 && answer.body;
  });
  all = page.items;
  assert.is(all.length, 6);
});

const query = (filters: Readonly<Record<string, string>>): string =>
  `${path}?${new URLSearchParams(filters)}`;

const ids = (entries: readonly Entry[]): string[] => entries.map(({ id }) => id);

/** The filters give exactly the entries that fit, which are neither all nor, unless said so, none. */
async function gives(
  filters: Readonly<Record<string, string>>,
  fits: (entry: Entry) => boolean,
  expected: 'some' | 'all' | 'none' = 'some',
): Promise<void> {
  const fitting = all.filter(fits);
  const kind = fitting.length === 0 ? 'none' : fitting.length === all.length ? 'all' : 'some';
  assert.is(kind, expected, `${JSON.stringify(filters)} fits ${fitting.length} entries`);
  const { items, pagination } = await tenant.ok('GET', query(filters));
  assert.equal(ids(items), ids(fitting), JSON.stringify(filters));
  assert.equal(pagination, { limit: 50, offset: 0, total: fitting.length });
}

const entryAt = (index: number): Entry => all[index] as Entry;

test('id gives one entry, and none of another wallet', async () => {
  const { id } = entryAt(2);
  await gives({ id }, (entry) => entry.id === id);
  await gives({ id: 'wtxn_01KA0000000000000000000000' }, () => false, 'none');
});

test('type', async () => {
  await gives({ type: 'credit' }, ({ type }) => type === 'credit');
  await gives({ type: 'debit' }, ({ type }) => type === 'debit');
});

test('transaction_status and status', async () => {
  await gives({ transaction_status: 'completed' }, () => true, 'all');
  await gives({ transaction_status: 'pending' }, () => false, 'none');
  await gives({ transaction_status: 'failed' }, () => false, 'none');
  await gives({ status: 'published' }, () => true, 'all');
  await gives({ status: 'archived' }, () => false, 'none');
  await gives({ status: 'deleted' }, () => false, 'none');
});

test('transaction_reason: one, several with commas, several repeated', async () => {
  const reasons = ['PURCHASED_CREDIT_DIRECT', 'CREDIT_ADJUSTMENT'];
  const isOne = ({ transaction_reason }: Entry) => transaction_reason === reasons[0];
  const isAny = ({ transaction_reason }: Entry) => reasons.includes(transaction_reason);
  await gives({ transaction_reason: 'PURCHASED_CREDIT_DIRECT' }, isOne);
  await gives({ transaction_reason: reasons.join(',') }, isAny);
  const repeated = reasons.map((reason) => `transaction_reason=${reason}`).join('&');
  assert.equal(ids((await tenant.ok('GET', `${path}?${repeated}`)).items), ids(all.filter(isAny)));
  await gives({ transaction_reason: 'INVOICE_PAYMENT' }, () => false, 'none');
});

test('reference_id, alone and with reference_type, which cannot stand alone', async () => {
  const { reference_id = '' } = entryAt(0);
  assert.ok(reference_id);
  await gives({ reference_id }, (entry) => entry.reference_id === reference_id);
  await gives({ reference_id: 'crumb' }, (entry) => entry.reference_id === 'crumb');
  await gives({ reference_id, reference_type: 'REQUEST' }, (entry) => entry === all[0]);
  await gives({ reference_id, reference_type: 'PAYMENT' }, () => false, 'none');
  const first = entryAt(5);
  assert.is(first.reference_type, 'EXTERNAL');
  const ofFirst = { reference_id: first.reference_id ?? '', reference_type: 'EXTERNAL' };
  await gives(ofFirst, (entry) => entry === first);
  const alone = await tenant.call('GET', query({ reference_type: 'REQUEST' }));
  assertProblem(alone, 'validation_error');
  assert.equal(pointersIn(alone), ['/reference_id']);
});

test('expiry_date_before and expiry_date_after, bounds included, entries without expiry left out', async () => {
  const before = newYear(2030);
  const after = newYear(2040);
  const isBy = (date: string) => (entry: Entry) => (entry.expiry_date ?? '9') <= date;
  const isFrom = (date: string) => (entry: Entry) => (entry.expiry_date ?? '') >= date;
  await gives({ expiry_date_before: before }, isBy(before));
  await gives({ expiry_date_after: after }, isFrom(after));
  await gives({ expiry_date_before: '2029-12-31T23:59:59.999Z' }, () => false, 'none');
  await gives({ expiry_date_after: '2040-01-01T00:00:00.001Z' }, () => false, 'none');
  const both = { expiry_date_after: before, expiry_date_before: after };
  await gives(both, (entry) => isFrom(before)(entry) && isBy(after)(entry));
  // An instant is the same in every zone.
  await gives({ expiry_date_before: '2030-01-01T05:30:00+05:30' }, isBy(before));
  const backwards = { expiry_date_after: after, expiry_date_before: before };
  assertProblem(await tenant.call('GET', query(backwards)), 'validation_error');
});

test('credits_available_gt is exact to the last digit and follows what debits have taken', async () => {
  const left = all.map(({ credits_available }) => credits_available);
  // 13 credits went out: 5 of the lot with priority -1, and 8 of the one with priority 2.
  assert.equal(left, ['0', '0', '0.000000001', '0', '12', '10']);
  const over = (bound: number) => (entry: Entry) => Number(entry.credits_available) > bound;
  await gives({ credits_available_gt: '0' }, over(0));
  await gives({ credits_available_gt: '0.000000001' }, over(0.000000001));
  await gives({ credits_available_gt: '11.999999999' }, over(11.999999999));
  await gives({ credits_available_gt: '12' }, () => false, 'none');
  await gives({ credits_available_gt: '-1' }, () => true, 'all');
});

test('priority, negative ones too', async () => {
  await gives({ priority: '2' }, ({ priority }) => priority === 2);
  await gives({ priority: '-1' }, ({ priority }) => priority === -1);
  await gives({ priority: '0' }, () => false, 'none');
});

test('created_by', async () => {
  const [robot, person] = [entryAt(1).created_by, entryAt(0).created_by];
  assert.is.not(robot, person);
  await gives({ created_by: robot }, ({ created_by }) => created_by === robot);
  await gives({ created_by: person }, ({ created_by }) => created_by === person);
  await gives({ created_by: 'user_01KA0000000000000000000000' }, () => false, 'none');
});

test('start_time and end_time, bounds included', async () => {
  const { created_at } = entryAt(3);
  await gives({ start_time: created_at }, (entry) => entry.created_at >= created_at);
  await gives({ end_time: created_at }, (entry) => entry.created_at <= created_at);
  const at = { start_time: created_at, end_time: created_at };
  await gives(at, (entry) => entry.created_at === created_at);
  await gives({ start_time: newYear(2100) }, () => false, 'none');
  const backwards = { start_time: newYear(2030), end_time: newYear(2020) };
  assertProblem(await tenant.call('GET', query(backwards)), 'validation_error');
});

test('order turns the list around, and pages of every size put together are the whole', async () => {
  assert.equal(ids((await tenant.ok('GET', query({ order: 'desc' }))).items), ids(all));
  assert.equal(ids((await tenant.ok('GET', query({ order: 'asc' }))).items), ids(all).reverse());
  for (const limit of [1, 2, 4, 1_000]) {
    const found: string[] = [];
    for (let offset = 0; offset < all.length; offset += limit) {
      const page = await tenant.ok('GET', query({ limit: `${limit}`, offset: `${offset}` }));
      assert.equal(page.pagination, { limit, offset, total: all.length });
      found.push(...ids(page.items));
    }
    assert.equal(found, ids(all));
  }
});

test('expand shows the documented records and refuses other names', async () => {
  const { items } = await tenant.ok('GET', query({ expand: 'customer,created_by_user,wallet' }));
  for (const entry of items) {
    assert.is(entry.customer.id, entry.customer_id);
    assert.is(entry.wallet.id, entry.wallet_id);
    assert.is(entry.created_by_user.id, entry.created_by);
    assert.ok(entry.created_by_user.tenant.id);
  }
  assert.is(new Set(items.map(({ created_by_user }: Expanded) => created_by_user.type)).size, 2);
  const unknown = await tenant.call('GET', query({ expand: 'customer,invoice' }));
  assertProblem(unknown, 'validation_error');
  assert.equal(pointersIn(unknown), ['/expand/1']);
});

test('several filters together give what fits all of them', async () => {
  const filters = {
    type: 'credit',
    transaction_reason: 'PURCHASED_CREDIT_DIRECT',
    credits_available_gt: '1',
    priority: '2',
    end_time: newYear(2100),
    created_by: entryAt(0).created_by,
  };
  await gives(filters, ({ priority }) => priority === 2);
  await gives({ ...filters, type: 'debit' }, () => false, 'none');
});

test.run();
