import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { eventually } from '../eventually.ts';
import { type SharedStack, sharedStack, type TestTenant } from '../stack.ts';
import { onTestClock } from './on-test-clock.ts';

const test = suite('wallets over HTTP');

let stack: SharedStack;
let tenant: TestTenant;
test.before(async () => {
  stack = await sharedStack();
  tenant = await stack.tenant('wallets');
});

const makeWallet = async (name: string, body: object = {}, owner = tenant): Promise<string> => {
  const customer = await owner.ok('POST', '/customers', { external_id: name, name });
  return (
    await owner.ok('POST', '/wallets', { customer_id: customer.id, currency: 'usd', ...body })
  ).id;
};

test('credits expire by themselves, and the past can be asked as it was known and as it is', async () => {
  const clocked = await onTestClock(stack, 'expiry', '2027-01-01T00:00:00.000Z');
  const [before, expiry, after] = ['11:59:59.999Z', '12:00:00.000Z', '13:00:00.000Z'].map(
    (time) => `2027-01-31T${time}`,
  ) as [string, string, string];
  const body = { initial_credits_to_load: '10', initial_credits_expiry_date_utc: expiry };
  const id = await makeWallet('expiry', body, clocked);
  await clocked.ok('POST', `/wallets/${id}/top-up`, {
    credits_to_add: '5',
    transaction_reason: 'PURCHASED_CREDIT_DIRECT',
  });
  const expiries = async () => {
    const query = 'transaction_reason=CREDIT_EXPIRED';
    return (await clocked.ok('GET', `/wallets/${id}/transactions?${query}`)).items;
  };
  await clocked.moveTo(before);
  assert.equal(await expiries(), []);
  await clocked.moveTo(after);
  const [expired] = await expiries();
  assert.is(expired.credit_amount, '10');
  assert.is(expired.credit_balance_after, '5');
  assert.is(expired.effective_at, expiry);
  assert.is(expired.recorded_at, expiry);
  assert.is((await clocked.ok('GET', `/wallets/${id}`)).credit_balance, '5');

  // Before the expiry was booked the log did not know of it yet.
  const at = async (asOf: string, knownAt: string) =>
    (await clocked.ok('GET', `/wallets/${id}/balance?as_of=${asOf}&known_at=${knownAt}`))
      .credit_balance;
  const answers = [await at(before, after), await at(expiry, before), await at(expiry, expiry)];
  assert.equal(answers, ['15', '15', '5']);
});

test('a hold is captured in part over HTTP, and ends once', async () => {
  const id = await makeWallet('holds', { initial_credits_to_load: '100' });
  const hold = await tenant.call('POST', `/wallets/${id}/holds`, { credits: '60' });
  assert.is(hold.status, 201);
  assert.is(hold.body.hold_status, 'open');
  assert.is((await tenant.ok('GET', `/wallets/${id}`)).credits_held, '60');
  assert.is((await tenant.call('POST', `/wallets/${id}/debit`, { credits: 41 })).status, 400);
  const path = `/wallets/${id}/holds/${hold.body.id}`;
  const captured = await tenant.ok('POST', `${path}/capture`, { credits: '25' });
  assert.is(captured.wallet.credit_balance, '75');
  assert.is(captured.wallet_transaction.reference_id, hold.body.id);
  assert.is((await tenant.ok('GET', path)).hold_status, 'captured');
  assert.is((await tenant.call('POST', `${path}/void`)).body.code, 'invalid_operation');
  assert.is((await tenant.call('POST', `/wallets/${id}/holds/hold_x/void`)).status, 404);
});

test('a bulk of 1,000 entries of any description is one change with a result per entry', async () => {
  const id = await makeWallet('bulk', { initial_credits_to_load: '100' });
  const entries = Array.from({ length: 1_000 }, (_, index) => ({
    type: index % 2 ? 'debit' : 'credit',
    credits: '1',
    description: `語${index}`.padEnd(1_024, '語'),
  }));
  const answer = await tenant.call('POST', `/wallets/${id}/transactions/bulk`, { entries });
  assert.is(answer.status, 200);
  assert.is(answer.body.results.length, 1_000);
  assert.is(answer.body.wallet.credit_balance, '100');
  // A list waits for what its caller wrote, but not for ever: whoever needs all of it says so.
  const from = { 'counterfoil-min-position': answer.headers.get('counterfoil-position') ?? '' };
  const page = await eventually(async () => {
    const list = `/wallets/${id}/transactions?limit=1`;
    const { status, body } = await tenant.call('GET', list, undefined, from);
    return status === 200 && body;
  });
  assert.is(page.pagination.total, 1_001);
  assert.is(page.items[0].description, entries[999]?.description);
  const refused = await tenant.call('POST', `/wallets/${id}/transactions/bulk`, {
    entries: [
      { type: 'credit', credits: '1' },
      { type: 'debit', credits: '500' },
    ],
  });
  assert.is(refused.status, 400);
  assert.is(refused.body.details.index, 1);
  assert.is((await tenant.ok('GET', `/wallets/${id}`)).credit_balance, '100');
});

test('a refusal is the answer to its key for ever; a new key asks anew', async () => {
  const id = await makeWallet('refusals');
  const debit = (key: string) =>
    tenant.call('POST', `/wallets/${id}/debit`, { credits: '5' }, { 'idempotency-key': key });
  const first = await debit('a');
  assert.is(first.body.code, 'invalid_operation');
  await tenant.ok('POST', `/wallets/${id}/top-up`, {
    credits_to_add: '5',
    transaction_reason: 'FREE_CREDIT_GRANT',
  });
  assert.is((await debit('a')).body.message, first.body.message);
  assert.is((await debit('b')).status, 200);
});

test('the ledger shows every event with its links, and a debit explains its lots', async () => {
  const id = await makeWallet('ledger', { initial_credits_to_load: '10' });
  await tenant.ok('POST', `/wallets/${id}/top-up`, {
    credits_to_add: '5',
    transaction_reason: 'PURCHASED_CREDIT_DIRECT',
    priority: 1,
  });
  const debit = await tenant.ok('POST', `/wallets/${id}/debit`, { credits: '7' });
  const ledger = await tenant.ok('GET', `/wallets/${id}/ledger?limit=3`);
  assert.equal(
    ledger.items.map(({ type }: { type: string }) => type),
    ['WalletCreated', 'CreditsLoaded', 'CreditsLoaded'],
  );
  assert.is(ledger.items[1].previous_hash, ledger.items[0].hash);
  const next = await tenant.ok(
    'GET',
    `/wallets/${id}/ledger?after_revision=${ledger.next_after_revision}`,
  );
  assert.is(next.items[0].previous_hash, ledger.items[2].hash);
  const path = `/wallets/${id}/transactions/${debit.wallet_transaction.id}/explanation`;
  const explanation = await tenant.ok('GET', path);
  assert.equal(
    explanation.lots.map((lot: { class: string; credits_drawn: string }) => [
      lot.class,
      lot.credits_drawn,
    ]),
    [
      ['purchased', '5'],
      ['free', '2'],
    ],
  );
});

test('a statement over HTTP adds up before and after an entry that is dated back', async () => {
  const id = await makeWallet('statement', { initial_credits_to_load: '20' });
  const debit = (credits: string, more: object = {}) =>
    tenant.ok('POST', `/wallets/${id}/debit`, { credits, ...more });
  const order = { transaction_reason: 'PURCHASED_CREDIT_INVOICED', credits_to_add: '10' };
  const { wallet_transaction: ordered } = await tenant.ok('POST', `/wallets/${id}/top-up`, order);
  const { wallet_transaction: opening } = await debit('1');
  await tenant.ok('POST', `/wallets/transactions/${ordered.id}/complete`);
  const { wallet_transaction: closing } = await debit('2');
  const [from, to] = [opening.effective_at, closing.effective_at];
  const balance = async (asOf: string, known = '') =>
    (await tenant.ok('GET', `/wallets/${id}/balance?as_of=${asOf}${known}`)).credit_balance;
  const rows = async () => {
    const start = new Date(Date.parse(from) + 1).toISOString();
    const query = `start_time=${start}&end_time=${to}&transaction_status=completed`;
    const { items } = await tenant.ok('GET', `/wallets/${id}/transactions?${query}`);
    return items.map(({ credit_amount }: { credit_amount: string }) => credit_amount).sort();
  };
  assert.equal([await balance(from), await rows(), await balance(to)], ['19', ['10', '2'], '27']);
  const { wallet_transaction: late } = await debit('3', { effective_at: to });
  assert.is(late.effective_at, to);
  assert.equal(
    [await balance(from), await rows(), await balance(to)],
    ['19', ['10', '2', '3'], '24'],
  );
  assert.is(await balance(to, `&known_at=${to}`), '27');
  const above = await tenant.call('POST', `/wallets/${id}/debit`, {
    credits: '17',
    effective_at: from,
  });
  assert.equal(above.body.details, {
    reason: 'insufficient_credits_then',
    available: '14',
    requested: '17',
    effective_at: from,
  });
});

test('an alert is raised and taken back as the balance crosses its threshold', async () => {
  const id = await makeWallet('alerts', {
    initial_credits_to_load: '100',
    alert_settings: { alert_enabled: true, critical: { threshold: 50 } },
  });
  const debited = await tenant.ok('POST', `/wallets/${id}/debit`, { credits: '50' });
  assert.is(debited.wallet.alert_state, 'in_alarm');
  const topUp = { credits_to_add: '1', transaction_reason: 'FREE_CREDIT_GRANT' };
  const loaded = await tenant.ok('POST', `/wallets/${id}/top-up`, topUp);
  assert.is(loaded.wallet.alert_state, 'ok');
});

test.run();
