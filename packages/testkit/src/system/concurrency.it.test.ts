import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import type { Answer } from '../caller.ts';
import { eventually } from '../eventually.ts';
import { type SharedStack, sharedStack, type TestTenant } from '../stack.ts';

const test = suite('many at once');

let stack: SharedStack;
let tenant: TestTenant;
test.before(async () => {
  stack = await sharedStack();
  tenant = await stack.tenant('concurrency');
});

const times = <Value>(count: number, work: (index: number) => Promise<Value>): Promise<Value[]> =>
  Promise.all(Array.from({ length: count }, (_, index) => work(index)));

const customer = async (externalId: string): Promise<string> =>
  (await tenant.ok('POST', '/customers', { external_id: externalId, name: 'Many' })).id;

const walletWith = async (externalId: string, credits: string): Promise<string> => {
  const body = {
    customer_id: await customer(externalId),
    currency: 'usd',
    initial_credits_to_load: credits,
  };
  return (await tenant.ok('POST', '/wallets', body)).id;
};

const countOf = (answers: readonly Answer[], status: number): number =>
  answers.filter((answer) => answer.status === status).length;

/** Appends to the streams of a category so far: the events of one append share its position order. */
async function appendsOf(walletId: string): Promise<number> {
  const page = await fetch(`${stack.baseUrl}/metrics`);
  const text = await page.text();
  const line = text.split('\n').find((row) => row.startsWith('counterfoil_appends_total'));
  assert.ok(walletId && line, 'the API counts its appends');
  return Number(line?.split(' ').at(-1));
}

test('of 64 creations of the same wallet one succeeds and 63 are told that it exists', async () => {
  const body = { customer_id: await customer('same-wallet'), currency: 'usd' };
  const answers = await times(64, () => tenant.call('POST', '/wallets', body));
  assert.is(countOf(answers, 200), 1);
  assert.is(countOf(answers, 409), 63);
  const refused = answers.find(({ status }) => status === 409);
  assert.is(refused?.body.code, 'already_exists');
  const wallets = await tenant.ok('GET', `/customers/${body.customer_id}/wallets`);
  assert.is(wallets.length, 1);
});

test('of 64 creations or clones of features with one lookup_key one succeeds and 63 are told that it exists', async () => {
  const body = {
    name: 'Tokens',
    type: 'metered',
    lookup_key: 'same-feature',
    meter: { name: 'Tokens', event_name: 'completion', aggregation: { type: 'COUNT' } },
  };
  const assertOneOf = async (answers: readonly Answer[], lookupKey: string) => {
    assert.is(countOf(answers, 201), 1);
    assert.is(countOf(answers, 409), 63);
    assert.is(answers.find(({ status }) => status === 409)?.body.code, 'already_exists');
    const made = answers.find(({ status }) => status === 201)?.body;
    const { items } = await tenant.ok('GET', `/features?lookup_key=${lookupKey}`);
    assert.equal(
      items.map(({ id, meter }: { id: string; meter: { status: string } }) => [id, meter.status]),
      [[made.id, 'published']],
    );
    return made.id as string;
  };
  const created = await times(64, () => tenant.call('POST', '/features', body));
  const id = await assertOneOf(created, 'same-feature');
  const copy = { lookup_key: 'same-clone' };
  const cloned = await times(64, () => tenant.call('POST', `/features/${id}/clone`, copy));
  await assertOneOf(cloned, 'same-clone');
});

test('64 requests with one Idempotency-Key have one effect and 64 equal answers', async () => {
  const id = await walletWith('same-key', '100');
  const answers = await times(64, () =>
    tenant.call('POST', `/wallets/${id}/debit`, { credits: '10' }, { 'idempotency-key': 'once' }),
  );
  assert.equal([...new Set(answers.map(({ status, text }) => `${status} ${text}`))].length, 1);
  assert.is(answers[0]?.status, 200);
  assert.is(answers.filter(({ headers }) => headers.get('idempotency-replayed')).length, 63);
  assert.is((await tenant.ok('GET', `/wallets/${id}`)).credit_balance, '90');
});

test('64 creations with one Idempotency-Key make one customer', async () => {
  const body = { external_id: 'same-create', name: 'One' };
  const answers = await times(64, () =>
    tenant.call('POST', '/customers', body, { 'idempotency-key': 'create-once' }),
  );
  assert.equal([...new Set(answers.map(({ status, text }) => `${status} ${text}`))].length, 1);
  assert.is(answers[0]?.status, 201);
});

test('64 creations with one Idempotency-Key make one feature and one meter', async () => {
  const meter = { name: 'Once', event_name: 'once', aggregation: { type: 'COUNT' } };
  const body = { name: 'Once', type: 'metered', meter };
  const header = { 'idempotency-key': 'feature-once' };
  const answers = await times(64, () => tenant.call('POST', '/features', body, header));
  assert.equal([...new Set(answers.map(({ status, text }) => `${status} ${text}`))].length, 1);
  assert.is(answers[0]?.status, 201);
  const { pagination } = await tenant.ok('GET', '/meters?event_name=once');
  assert.is(pagination.total, 1);
});

test('of 256 debits of 1 on a wallet with 100 exactly 100 succeed, in few appends', async () => {
  const id = await walletWith('debits', '100');
  const before = await appendsOf(id);
  const answers = await times(256, () =>
    tenant.call('POST', `/wallets/${id}/debit`, { credits: 1 }),
  );
  const appends = (await appendsOf(id)) - before;
  assert.is(countOf(answers, 200), 100);
  assert.is(countOf(answers, 400), 156);
  assert.is((await tenant.ok('GET', `/wallets/${id}`)).credit_balance, '0');
  const page = await tenant.ok('GET', `/wallets/${id}/transactions?limit=1000&order=asc`);
  assert.is(page.pagination.total, 101);
  let balance = '0';
  for (const row of page.items) {
    assert.is(row.credit_balance_before, balance);
    balance = row.credit_balance_after;
  }
  assert.ok(appends <= 50, `${appends} appends for 256 debits`);
});

/** The answer about a record, asked for again while the read model is too far behind to say that it is missing. */
const missing = (path: string): Promise<Answer> =>
  eventually(async () => {
    const answer = await tenant.call('GET', path);
    return answer.status !== 503 && answer;
  });

test('a record that does not exist is missing, and not only later, while 16 writers use the same key', async () => {
  const walletId = await walletWith('many-writers', '1000000');
  let isDone = false;
  const writing = times(16, async () => {
    while (!isDone) await tenant.ok('POST', `/wallets/${walletId}/debit`, { credits: '0.001' });
  });
  try {
    const answers: Answer[] = [];
    for (let round = 0; round < 25; round += 1) {
      answers.push(...(await times(8, (index) => missing(`/customers/external/never-${index}`))));
    }
    assert.is(countOf(answers, 404), answers.length, String(answers.map(({ status }) => status)));
  } finally {
    isDone = true;
    await writing;
  }
});

test('a record that does not exist is missing at once after an import', async () => {
  const groups = [{ name: 'G', lookup_key: 'imported', entity_type: 'feature' }];
  await tenant.ok('POST', '/catalog/import', { document: { version: 1, groups } });
  const answers = await times(8, () => missing('/customers/external/never'));
  assert.is(countOf(answers, 404), answers.length);
});

test('a key that is revoked stops working with the answer that says so', async () => {
  const minted = await tenant.ok('POST', '/secrets/api/keys', {
    name: 'short',
    type: 'private_key',
  });
  const withIt = { 'x-api-key': minted.api_key as string };
  assert.is((await tenant.call('GET', '/users/me', undefined, withIt)).status, 200);
  await tenant.ok('DELETE', `/secrets/api/keys/${minted.secret.id}`);
  assert.is((await tenant.call('GET', '/users/me', undefined, withIt)).status, 401);
});

test.run();
