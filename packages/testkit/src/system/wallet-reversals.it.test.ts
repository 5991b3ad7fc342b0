import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { type SharedStack, sharedStack } from '../stack.ts';
import { type ClockedTenant, onTestClock } from './on-test-clock.ts';

const test = suite('reversals and changes of holds over HTTP');

let stack: SharedStack;
let tenant: ClockedTenant;
test.before(async () => {
  stack = await sharedStack();
  tenant = await onTestClock(stack, 'reversals', '2027-01-01T00:00:00.000Z');
});

const makeWallet = async (name: string, body: object = {}): Promise<string> => {
  const customer = await tenant.ok('POST', '/customers', { external_id: name, name });
  const wallet = { customer_id: customer.id, currency: 'usd', ...body };
  return (await tenant.ok('POST', '/wallets', wallet)).id;
};
const load = (id: string, credits: string, more: object = {}) =>
  tenant.ok('POST', `/wallets/${id}/top-up`, {
    transaction_reason: 'PURCHASED_CREDIT_DIRECT',
    credits_to_add: credits,
    ...more,
  });
const debit = async (id: string, credits: string) =>
  (await tenant.ok('POST', `/wallets/${id}/debit`, { credits })).wallet_transaction;
const reverse = (id: string, entry: string, body: object = {}) =>
  tenant.call('POST', `/wallets/${id}/transactions/${entry}/reverse`, body);
const lotsOf = async (id: string) => (await tenant.ok('GET', `/wallets/${id}/balance`)).lots;

test('credits come back to their lots with class, priority and expiry', async () => {
  const id = await makeWallet('back');
  const lot = { priority: 1, expiry_date_utc: '2040-01-01T00:00:00.000Z' };
  const { wallet_transaction: bought } = await load(id, '50', lot);
  const { wallet_transaction: given } = await load(id, '30', {
    transaction_reason: 'FREE_CREDIT_GRANT',
  });
  const { id: entry } = await debit(id, '60');
  const part = await reverse(id, entry, { credits: '20' });
  assert.is(part.status, 200);
  assert.equal(part.body.wallet_transaction.returned_to, [
    { transaction_id: bought.id, credits: '10' },
    { transaction_id: given.id, credits: '10' },
  ]);
  const rest = await reverse(id, entry);
  assert.is(rest.body.wallet.credit_balance, '80');
  assert.equal(rest.body.wallet.credits_available_breakdown, { free: '30', purchased: '50' });
  const [first, second] = await lotsOf(id);
  assert.equal(first, {
    transaction_id: bought.id,
    credits: '50',
    class: 'purchased',
    priority: 1,
    expires_at: lot.expiry_date_utc,
  });
  assert.is(second.credits, '30');
  const again = await reverse(id, entry, { credits: '1' });
  assert.is(again.status, 400);
  assert.equal(again.body.details, { reason: 'reversal_exceeded', left: '0', requested: '1' });
});

test('a lot that has expired comes back with the expiry that is asked for', async () => {
  const id = await makeWallet('renewed');
  const expiry = '2027-02-01T00:00:00.000Z';
  await load(id, '10', { expiry_date_utc: expiry });
  const { id: entry } = await debit(id, '4');
  await tenant.moveTo(expiry);
  assert.is((await tenant.ok('GET', `/wallets/${id}`)).credit_balance, '0');
  const until = '2040-01-01T00:00:00.000Z';
  await reverse(id, entry, { credits: '1', expiry_date_utc: until });
  const [lot] = await lotsOf(id);
  assert.equal([lot.class, lot.credits, lot.expires_at], ['purchased', '1', until]);
});

test('reversals at the same time never give back more than was taken, and a key has one effect', async () => {
  const id = await makeWallet('at-once', { initial_credits_to_load: '100' });
  const { id: entry } = await debit(id, '10');
  const answers = await Promise.all(
    Array.from({ length: 32 }, (_, index) =>
      reverse(id, entry, { credits: '1', idempotency_key: `once-${index % 16}` }),
    ),
  );
  const passed = answers.filter(({ status }) => status === 200);
  assert.is(new Set(passed.map(({ body }) => body.wallet_transaction.id)).size, 10);
  for (const { status, body } of answers) {
    if (status !== 200) assert.is(body.details.reason, 'reversal_exceeded');
  }
  const { credit_balance } = await tenant.ok('GET', `/wallets/${id}/balance`);
  assert.is(credit_balance, '100');
});

test('loads and unknown entries are not reversed', async () => {
  const id = await makeWallet('wrong');
  const { wallet_transaction: loaded } = await load(id, '10');
  const wrong = await reverse(id, loaded.id);
  assert.equal([wrong.status, wrong.body.details.reason], [400, 'not_reversible']);
  assert.is((await reverse(id, 'wtxn_none')).status, 404);
});

test('a hold is raised, lowered, extended and captured in parts, each capture once', async () => {
  const id = await makeWallet('held', { initial_credits_to_load: '100' });
  const { id: hold } = await tenant.ok('POST', `/wallets/${id}/holds`, { credits: '60' });
  const path = `/wallets/${id}/holds/${hold}`;
  const until = '2040-01-01T00:00:00.000Z';
  const raised = await tenant.ok('PUT', path, { credits: '70', expires_at: until });
  assert.equal([raised.credits, raised.expires_at, raised.hold_status], ['70', until, 'open']);
  assert.is((await tenant.call('PUT', path, { credits: '101' })).status, 400);
  assert.is((await tenant.ok('PUT', path, { credits: '50' })).credits, '50');
  const part = { credits: '20', final: false, idempotency_key: 'first' };
  const [one, other] = await Promise.all([
    tenant.ok('POST', `${path}/capture`, part),
    tenant.ok('POST', `${path}/capture`, part),
  ]);
  assert.equal(one, other);
  assert.equal([one.wallet.credit_balance, one.wallet.credits_held], ['80', '30']);
  // What stays held does not go back to its lots.
  assert.is(one.wallet.credits_available_breakdown.free, '50');
  const { wallet } = await tenant.ok('POST', `${path}/capture`, { credits: '25' });
  assert.equal([wallet.credit_balance, wallet.credits_held], ['55', '0']);
  assert.is(wallet.credits_available_breakdown.free, '55');
  assert.is((await tenant.call('PUT', path, { credits: '1' })).body.details.reason, 'hold_ended');
});

test.run();
