import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { assertProven, ledgerFaults, readAll } from './audit.ts';
import { type Command, type CreateBody, wired } from './commands.ts';
import type { Exchange, LedgerAnswer } from './exchange.ts';
import { memoryClient, memoryPrincipal } from './memory-client.ts';
import { amountPlaces, creditsOf, ratePlaces, shownCredits, shownUnits, unitsOf } from './units.ts';

const test = suite('precision and moments');

/** A wallet in memory, and everything that is asked of it. */
async function walletWith(terms: Partial<CreateBody> = {}) {
  const client = memoryClient();
  const exchanges: Exchange[] = [];
  let walletId = '';
  const customer = await client.send({
    route: 'POST /customers',
    path: '/customers',
    params: {},
    body: { external_id: 'precise', name: 'Precise' },
    requestId: 'customer',
    key: null,
  });
  const ask = async (command: Command, key: string | null = null): Promise<LedgerAnswer> => {
    const requestId = `request-${exchanges.length}`;
    const [sent, sentAt] = [exchanges.length * 2, client.now()];
    const answer = await client.send({ ...wired(command, walletId), requestId, key });
    const answeredAt = client.now();
    exchanges.push({
      requestId,
      command,
      key,
      sent,
      sentAt,
      answered: sent + 1,
      answeredAt,
      answer,
    });
    return answer;
  };
  const body: CreateBody = { customer_id: customer.body.id, currency: 'usd', ...terms };
  walletId = (await ask({ kind: 'create', body })).body.id;
  return {
    client,
    walletId,
    ask,
    topUp: (by: object) =>
      ask({ kind: 'top-up', body: { transaction_reason: 'PURCHASED_CREDIT_DIRECT', ...by } }),
    debit: (credits: string, key: string | null = null) =>
      ask({ kind: 'debit', body: { credits } }, key),
    prove: async () => {
      const { tenantId, environmentId } = memoryPrincipal;
      const all = await readAll(client, walletId);
      await assertProven({ ...all, exchanges, tenantId, environmentId, strangers: [] });
      return all;
    },
  };
}

const largest = '99999999999999999999999999999.999999999';
const smallest = '0.000000001';
const highestRate = '9999999999.9999999999';

test('the largest and the smallest figure stand beside each other, 38 digits in all', async () => {
  const wallet = await walletWith({ conversion_rate: highestRate });
  await wallet.topUp({ credits_to_add: largest });
  await wallet.topUp({ credits_to_add: smallest });
  const { body } = await wallet.debit(smallest);
  assert.is(body.wallet.credit_balance, largest);
  const amount = creditsOf(largest) * unitsOf(highestRate, ratePlaces);
  assert.is(body.wallet.balance, shownUnits(amount, amountPlaces));
  assert.is((await wallet.debit(largest)).body.wallet.credit_balance, '0');
  await wallet.prove();
});

test('a thousand loads of the largest figure add up exactly', async () => {
  const wallet = await walletWith();
  for (let load = 0; load < 1_000; load += 1) await wallet.topUp({ credits_to_add: largest });
  const { wallet: shown } = (await wallet.prove()).reads;
  assert.is(shown.credit_balance, shownCredits(creditsOf(largest) * 1_000n));
});

test('what is too large or too fine is refused, and nothing is stored', async () => {
  const wallet = await walletWith({ initial_credits_to_load: '1' });
  for (const credits of [`1${largest}`, '0.0000000001', '1'.repeat(39)]) {
    const { status, body } = await wallet.client.send({
      ...wired({ kind: 'debit', body: { credits } }, wallet.walletId),
      requestId: 'wrong',
      key: null,
    });
    assert.is(status, 400, credits);
    assert.is(body.code, 'validation_error');
  }
  assert.is((await wallet.client.history(wallet.walletId)).length, 2);
});

/** Amount, rate, credits: the quotient never ends, or lies in the middle of two neighbours. */
const quotients = [
  ['100', '3', '33.333333333'],
  ['200', '3', '66.666666667'],
  ['1', '7', '0.142857143'],
  ['0.01', '20000000', null],
  ['0.03', '20000000', '0.000000002'],
  ['0.05', '20000000', '0.000000002'],
  ['0.07', '20000000', '0.000000004'],
  ['1', '0.0000000003', '3333333333.333333333'],
  ['10', '9999999999.9999999999', '0.000000001'],
] as const;

test('credits for an amount are rounded half to even, and the event keeps both figures', async () => {
  for (const [amount, rate, credits] of quotients) {
    const wallet = await walletWith({ topup_conversion_rate: rate });
    const { status, body } = await wallet.topUp({ amount });
    assert.is(status, credits === null ? 400 : 200, amount);
    if (credits !== null) {
      assert.is(body.wallet_transaction.credit_amount, credits, `${amount} / ${rate}`);
      assert.is(body.wallet_transaction.amount, amount);
    }
    await wallet.prove();
  }
});

test('many tiny debits take exactly what one big one takes', async () => {
  const wallet = await walletWith({ initial_credits_to_load: '1' });
  for (let debit = 0; debit < 900; debit += 1) await wallet.debit('0.000333333');
  const { history, reads } = await wallet.prove();
  assert.is(reads.wallet.credit_balance, shownCredits(creditsOf('1') - 900n * 333_333n));
  assert.equal(ledgerFaults(history), []);
});

/** Milliseconds around the moment at which a lot expires. */
const around = [
  [-1, 'spent'],
  [0, 'expired'],
  [1, 'expired'],
] as const;

for (const [offset, expected] of around) {
  test(`a debit ${offset} ms from the moment of an expiry finds the lot ${expected}`, async () => {
    const wallet = await walletWith();
    const expiry = wallet.client.now() + 1_000;
    const expiry_date_utc = new Date(expiry).toISOString();
    await wallet.topUp({ credits_to_add: '5', expiry_date_utc });
    await wallet.client.pass(1_000 + offset);
    const { status, body } = await wallet.debit('5', 'once');
    assert.is(status, expected === 'spent' ? 200 : 400);
    if (expected === 'expired')
      assert.equal(body.details, {
        reason: 'insufficient_credits',
        available: '0',
        requested: '5',
      });
    await wallet.client.settle(wallet.walletId);
    const { history } = await wallet.prove();
    const expired = history.filter(({ type }) => type === 'CreditsExpired');
    assert.is(expired.length, expected === 'spent' ? 0 : 1);
    if (expected === 'expired') assert.is(expired[0]?.data.effective_at, expiry_date_utc);
  });
}

test('a refusal for lack of credits stays under its key, whatever happens afterwards', async () => {
  const wallet = await walletWith({ initial_credits_to_load: '1' });
  const first = await wallet.debit('5', 'frozen');
  assert.is(first.status, 400);
  await wallet.topUp({ credits_to_add: '100' });
  for (let round = 0; round < 2; round += 1) {
    const again = await wallet.debit('5', 'frozen');
    assert.equal({ ...again.body, instance: null }, { ...first.body, instance: null });
    wallet.client.restart();
  }
  assert.is((await wallet.debit('5', 'fresh')).status, 200);
  await wallet.prove();
});

for (const [state, turn] of [
  ['frozen', { kind: 'freeze' }],
  ['closed', { kind: 'terminate' }],
] as const) {
  test(`a refusal of a ${state} wallet stays under its key`, async () => {
    const wallet = await walletWith({ initial_credits_to_load: '10' });
    await wallet.ask(turn);
    const first = await wallet.debit('1', 'refused');
    assert.equal(first.body.details, { reason: `wallet_${state}`, wallet_status: state });
    if (state === 'frozen') await wallet.ask({ kind: 'unfreeze' });
    wallet.client.restart();
    const again = await wallet.debit('1', 'refused');
    assert.equal(again.body.details, first.body.details);
    await wallet.prove();
  });
}

test.run();
