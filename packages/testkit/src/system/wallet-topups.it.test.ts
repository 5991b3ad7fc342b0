import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { caller } from '../caller.ts';
import { eventually } from '../eventually.ts';
import { type SharedStack, sharedStack } from '../stack.ts';
import { apiBeside } from './api-beside.ts';
import { type ClockedTenant, onTestClock } from './on-test-clock.ts';

const test = suite('top-ups over HTTP');

let stack: SharedStack;
let tenant: ClockedTenant;
let other: Awaited<ReturnType<typeof apiBeside>>;
test.before(async () => {
  stack = await sharedStack();
  tenant = await onTestClock(stack, 'topups', '2027-01-01T00:00:00.000Z');
  other = await apiBeside(stack, {});
});
test.after(async () => {
  await other?.stop();
});

const makeWallet = async (name: string, body: object = {}): Promise<string> => {
  const customer = await tenant.ok('POST', '/customers', { external_id: name, name });
  const wallet = { customer_id: customer.id, currency: 'usd', ...body };
  return (await tenant.ok('POST', '/wallets', wallet)).id;
};

/** An instant an hour ahead of the clock. */
const soon = async (): Promise<string> =>
  new Date(Date.parse((await tenant.clock()).now) + 3_600_000).toISOString();

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
  const expiry = await soon();
  const { wallet_transaction: entry } = await order(id, { expiry_date_utc: expiry });
  await tenant.moveTo(expiry);
  const [failed] = await entriesWith(id, 'failed');
  assert.is(failed.id, entry.id);
  assert.is(failed.created_at, entry.created_at);
  assert.is(failed.updated_at, expiry);
  const path = `/wallets/transactions/${entry.id}/complete`;
  assert.is((await tenant.call('POST', path)).body.code, 'invalid_operation');
});

test('a wallet whose credits expire orders new ones by itself, once', async () => {
  const expiry = await soon();
  const id = await makeWallet('itself', {
    initial_credits_to_load: '10',
    initial_credits_expiry_date_utc: expiry,
    auto_topup: { enabled: true, threshold: 5, amount: 40, invoicing: true },
  });
  await tenant.moveTo(expiry);
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

/** Top-up of 100 credits at 10 or below, to be paid. */
const auto_topup = { enabled: true, threshold: 10, amount: 100 };
const refused = async (id: string, credits: string, key?: string) => {
  const body = { credits, ...(key === undefined ? {} : { idempotency_key: key }) };
  const { status, body: problem } = await tenant.call('POST', `/wallets/${id}/debit`, body);
  assert.equal([status, problem.details?.reason], [400, 'insufficient_credits']);
  return problem;
};
const waitingIn = async (id: string): Promise<string | undefined> =>
  (await tenant.ok('GET', `/wallets/${id}/balance/real-time`)).auto_topup_status
    ?.pending_transaction_id;

test('a wallet that has nothing asks for payment: made so, and when it is switched on', async () => {
  const made = await makeWallet('nothing', { auto_topup });
  assert.ok(await waitingIn(made));
  await refused(made, '5');
  const changed = await makeWallet('nothing-yet');
  assert.is(await waitingIn(changed), undefined);
  const { auto_topup: shown } = await tenant.ok('PUT', `/wallets/${changed}`, { auto_topup });
  assert.is(shown.invoicing, true);
  const order = (await waitingIn(changed)) ?? '';
  const paid = await tenant.ok('POST', `/wallets/transactions/${order}/complete`);
  assert.is(paid.wallet_transaction.transaction_reason, 'PURCHASED_CREDIT_INVOICED');
  assert.is(paid.wallet.credit_balance, '100');
});

test('a declined card: the next debit that is refused asks again, once, and stays refused', async () => {
  const id = await makeWallet('declined', { initial_credits_to_load: '20', auto_topup });
  await tenant.ok('POST', `/wallets/${id}/debit`, { credits: '20' });
  const first = (await waitingIn(id)) ?? '';
  await tenant.ok('POST', `/wallets/transactions/${first}/cancel`);
  assert.is(await waitingIn(id), undefined);
  const problem = await refused(id, '5', 'five');
  const second = (await waitingIn(id)) ?? '';
  assert.ok(second && second !== first);
  await tenant.ok('POST', `/wallets/transactions/${second}/complete`);
  assert.equal((await refused(id, '5', 'five')).details, problem.details);
  await tenant.ok('POST', `/wallets/${id}/debit`, { credits: '5' });
});

test('a debit that is refused above the threshold tops the wallet up, and a repetition passes', async () => {
  const id = await makeWallet('above', {
    initial_credits_to_load: '12',
    auto_topup: { ...auto_topup, invoicing: false },
  });
  await refused(id, '13');
  const { wallet } = await tenant.ok('POST', `/wallets/${id}/debit`, { credits: '13' });
  assert.is(wallet.credit_balance, '99');
});

test('what expired while the wallet was frozen is replaced when it is unfrozen', async () => {
  const expiry = await soon();
  const id = await makeWallet('thawed', {
    initial_credits_to_load: '50',
    initial_credits_expiry_date_utc: expiry,
    auto_topup,
  });
  await tenant.ok('POST', `/wallets/${id}/freeze`);
  await tenant.moveTo(expiry);
  assert.is((await tenant.ok('GET', `/wallets/${id}`)).credit_balance, '0');
  assert.is(await waitingIn(id), undefined);
  await tenant.ok('POST', `/wallets/${id}/unfreeze`);
  assert.ok(await waitingIn(id));
});

test('the breaker holds until its day is over, and goes on at 00:00 UTC by itself', async () => {
  const id = await makeWallet('breaker', {
    initial_credits_to_load: '10',
    auto_topup: { ...auto_topup, amount: 20, invoicing: false, daily_limit: 1 },
  });
  // The first top-up of the day came with the initial credits, which are at the threshold.
  const debit = (credits: string) => tenant.ok('POST', `/wallets/${id}/debit`, { credits });
  const { wallet } = await debit('30');
  const day = (await tenant.clock()).now.slice(0, 'YYYY-MM-DD'.length);
  assert.equal(
    [wallet.credit_balance, wallet.auto_topup_status],
    ['0', { day, topups: 1, stopped_on: day }],
  );
  await refused(id, '1');
  await tenant.moveTo(`${day}T23:59:59.999Z`);
  assert.is((await tenant.ok('GET', `/wallets/${id}`)).credit_balance, '0');
  const midnight = new Date(Date.parse(`${day}T23:59:59.999Z`) + 1).toISOString();
  await tenant.moveTo(midnight);
  const shown = await tenant.ok('GET', `/wallets/${id}`);
  const next = midnight.slice(0, 'YYYY-MM-DD'.length);
  assert.equal([shown.credit_balance, shown.auto_topup_status], ['20', { day: next, topups: 1 }]);
  const [loaded] = await entriesWith(id, 'completed');
  assert.is(loaded.effective_at, midnight);
  assert.is((await debit('5')).wallet.credit_balance, '15');
});

test('alerts and automatic top-up look at what can be spent, and not at what is held', async () => {
  const alert_settings = { alert_enabled: true, critical: { threshold: '10' } };
  const id = await makeWallet('held', {
    initial_credits_to_load: '100',
    alert_settings,
    auto_topup: { ...auto_topup, threshold: 20 },
  });
  await tenant.ok('POST', `/wallets/${id}/holds`, { credits: '95' });
  const shown = await tenant.ok('GET', `/wallets/${id}/balance/real-time`);
  assert.equal(
    [shown.credit_balance, shown.real_time_credit_balance, shown.alert_state],
    ['100', '5', 'in_alarm'],
  );
  assert.ok(await waitingIn(id));
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
