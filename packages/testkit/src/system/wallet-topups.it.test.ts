import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { caller } from '../caller.ts';
import { eventually } from '../eventually.ts';
import { type Stack, startStack, type TestTenant } from '../stack.ts';
import { apiBeside } from './api-beside.ts';

const test = suite('top-ups over HTTP');

let stack: Stack;
let tenant: TestTenant;
let other: Awaited<ReturnType<typeof apiBeside>>;
test.before(async () => {
  stack = await startStack();
  tenant = await stack.tenant('topups');
  other = await apiBeside(stack, {});
});
test.after(async () => {
  await other?.stop();
  await stack.stop();
});

const makeWallet = async (name: string, body: object = {}): Promise<string> => {
  const customer = await tenant.ok('POST', '/customers', { external_id: name, name });
  const wallet = { customer_id: customer.id, currency: 'usd', ...body };
  return (await tenant.ok('POST', '/wallets', wallet)).id;
};

const soon = (): string => new Date(Date.now() + 1_500).toISOString();

const order = (id: string, body: object = {}) =>
  tenant.ok('POST', `/wallets/${id}/top-up`, {
    transaction_reason: 'PURCHASED_CREDIT_INVOICED',
    credits_to_add: '50',
    ...body,
  });

/** The entries of a wallet with a status, as soon as there is one. */
const entriesWith = (id: string, status: string) =>
  eventually(
    async () => {
      const query = `transaction_status=${status}&type=credit`;
      const page = await tenant.ok('GET', `/wallets/${id}/transactions?${query}`);
      return page.items.length > 0 && page.items;
    },
    () => `no entry of ${id} is ${status}`,
  );

test('many complete one order at once: all are answered the same, and it is loaded once', async () => {
  const id = await makeWallet('once');
  const { wallet_transaction: entry } = await order(id);
  assert.equal(await entriesWith(id, 'pending'), [entry]);
  const path = `/wallets/transactions/${entry.id}/complete`;
  const answers = await Promise.all(
    Array.from({ length: 12 }, (_, index) =>
      tenant.ok('POST', path, index % 2 ? { idempotency_key: `pay-${index}` } : {}),
    ),
  );
  for (const { wallet, wallet_transaction } of answers) {
    assert.is(wallet.credit_balance, '50');
    assert.equal(wallet_transaction, answers[0].wallet_transaction);
  }
  assert.equal(await entriesWith(id, 'completed'), [answers[0].wallet_transaction]);
  assert.is((await tenant.call('POST', path.replace('complete', 'cancel'))).status, 400);
});

test('an order fails by itself when its credits would expire', async () => {
  const id = await makeWallet('late');
  const expiry = soon();
  const { wallet_transaction: entry } = await order(id, { expiry_date_utc: expiry });
  const [failed] = await entriesWith(id, 'failed');
  assert.is(failed.id, entry.id);
  assert.is(failed.created_at, entry.created_at);
  assert.ok(failed.updated_at >= expiry);
  const path = `/wallets/transactions/${entry.id}/complete`;
  assert.is((await tenant.call('POST', path)).body.code, 'invalid_operation');
});

test('a wallet whose credits expire orders new ones by itself, once', async () => {
  const id = await makeWallet('itself', {
    initial_credits_to_load: '10',
    initial_credits_expiry_date_utc: soon(),
    auto_topup: { enabled: true, threshold: 5, amount: 40, invoicing: true },
  });
  const [ordered] = await entriesWith(id, 'pending');
  assert.is(ordered.credit_amount, '40');
  assert.is(ordered.created_by, 'system');
  const shown = await tenant.ok('GET', `/wallets/${id}`);
  assert.is(shown.auto_topup_status.pending_transaction_id, ordered.id);
  assert.is(shown.auto_topup_status.topups, 1);
  const paid = await tenant.ok('POST', `/wallets/transactions/${ordered.id}/complete`);
  assert.is(paid.wallet.credit_balance, '40');
  assert.is((await entriesWith(id, 'completed')).length, 2);
});

test('debits at the same time that all end below the threshold make one order', async () => {
  const id = await makeWallet('race', {
    initial_credits_to_load: '100',
    auto_topup: { enabled: true, threshold: 95, amount: 40, invoicing: true },
  });
  const debits = Array.from({ length: 20 }, () =>
    tenant.ok('POST', `/wallets/${id}/debit`, { credits: '2' }),
  );
  await Promise.all(debits);
  assert.is((await tenant.ok('GET', `/wallets/${id}/balance`)).credit_balance, '60');
  assert.is((await entriesWith(id, 'pending')).length, 1);
});

test('two processes: an order and a hold end once, and each knows what ended in the other', async () => {
  const id = await makeWallet('processes', { initial_credits_to_load: '100' });
  const beside = caller(other.baseUrl, tenant.apiKey);
  await beside.untilKnown();
  for (let round = 0; round < 5; round += 1) {
    const { wallet_transaction: entry } = await order(id);
    const { id: hold } = await tenant.ok('POST', `/wallets/${id}/holds`, { credits: '1' });
    const complete = `/wallets/transactions/${entry.id}/complete`;
    const end = `/wallets/${id}/holds/${hold}/void`;
    const [one, two, ...voids] = await Promise.all([
      tenant.call('POST', complete),
      beside.call('POST', complete),
      tenant.call('POST', end),
      beside.call('POST', end),
    ]);
    assert.equal([one.status, two.status], [200, 200]);
    assert.equal(one.body.wallet_transaction, two.body.wallet_transaction);
    assert.equal(voids.map(({ status }) => status).sort(), [200, 400]);
  }
  assert.is((await tenant.ok('GET', `/wallets/${id}/balance`)).credit_balance, '350');
});

test.run();
