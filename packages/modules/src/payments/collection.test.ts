import { Problem } from '@counterfoil/kernel';
import { rejection, testPrincipal } from '@counterfoil/testkit';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { amountsOf, paymentStatusOf } from '../invoices/index.ts';
import { paidWorld } from '../test-paid-world.ts';
import { collectable } from './collection/under-way.ts';

const test = suite('collection of invoices');

const automatic = { collection_method: 'charge_automatically' } as const;
const hundred = { ...automatic, lines: [{ amount: '100' }] };
const postPaid = { wallet_type: 'POST_PAID' };
const paying = (...allowed_price_types: string[]) => ({
  ...postPaid,
  config: { allowed_price_types },
});

/** Credits of POST_PAID wallets, an invoice, and what is paid of it (E 16). */
const table = [
  { owed: '80', has: '100', paid: '80', status: 'SUCCEEDED' },
  { owed: '100', has: '30', paid: '30', status: 'PENDING' },
  { owed: '100', has: '100', paid: '100', status: 'SUCCEEDED' },
] as const;

for (const { owed, has, paid, status } of table) {
  test(`${owed} with ${has} in a POST_PAID wallet, and more in a PRE_PAID one: ${paid} is paid`, async () => {
    const { invoice, wallet, settle, stateOf, balance } = await paidWorld();
    const prepaid = await wallet('500');
    await wallet(has, postPaid);
    const id = await invoice({ ...automatic, lines: [{ amount: owed }] });
    await settle();
    await settle();
    const state = await stateOf(id);
    assert.is(amountsOf(state).amount_paid, paid);
    assert.is(paymentStatusOf(state), status);
    assert.is(await balance(prepaid), '500');
  });
}

test('an invoice that is sent is not collected by itself, and is when somebody asks', async () => {
  const { invoice, wallet, settle, stateOf, call } = await paidWorld();
  await wallet('30', postPaid);
  const id = await invoice({ ...hundred, collection_method: 'send_invoice' });
  await settle();
  assert.is(amountsOf(await stateOf(id)).amount_paid, '0');
  const answer = await call('POST /invoices/{id}/payment/attempt', { params: { id } });
  assert.match(String(answer.message), '30 usd paid, 70 remaining');
  await settle();
  assert.is(amountsOf(await stateOf(id)).amount_paid, '30');
});

test('wallets pay for the charges that they may pay: usage first, then fixed ones, then the others', async () => {
  const { invoice, wallet, call, settle, stateOf, balance } = await paidWorld();
  const change = (id: string, body: object) => call('PUT /wallets/{id}', { params: { id }, body });
  const all = await wallet('100', postPaid);
  const fixed = await wallet('100', postPaid);
  const usage = await wallet('100', postPaid);
  await change(fixed, { config: paying('FIXED').config });
  await change(usage, { config: paying('USAGE').config });
  const lines = [
    { amount: '40', tax: '4', price_type: 'USAGE' as const },
    { amount: '150', tax: '15' },
  ];
  const id = await invoice({ ...automatic, lines });
  await settle();
  assert.equal(await Promise.all([usage, fixed, all].map(balance)), ['56', '0', '35']);
  assert.is(paymentStatusOf(await stateOf(id)), 'SUCCEEDED');
});

test('what is not there is tried again by the schedule, until nothing is owed', async () => {
  const { invoice, wallet, settle, stateOf, pass, call, events } = await paidWorld();
  const one = await wallet('30', postPaid);
  const load = (credits: string) =>
    call('POST /wallets/{id}/top-up', {
      params: { id: one },
      body: { transaction_reason: 'FREE_CREDIT_GRANT', credits_to_add: credits },
    });
  const id = await invoice(hundred);
  await settle();
  await load('20');
  await pass('2026-01-01T23:59:00.000Z');
  assert.is(amountsOf(await stateOf(id)).amount_paid, '30');
  await pass('2026-01-02T00:00:00.000Z');
  assert.is(amountsOf(await stateOf(id)).amount_paid, '50');
  await load('100');
  await pass('2026-01-05T00:00:00.000Z');
  assert.is(paymentStatusOf(await stateOf(id)), 'SUCCEEDED');
  await pass('2026-03-01T00:00:00.000Z');
  assert.is(events(id).filter((type) => type === 'RoundDue').length, 3);
});

test('without anybody who pays the schedule comes to its end', async () => {
  const { invoice, settle, pass, events } = await paidWorld();
  const id = await invoice(hundred);
  await settle();
  for (const day of ['02', '05', '10', '17', '28']) await pass(`2026-01-${day}T00:00:00.000Z`);
  assert.is(events(id).filter((type) => type === 'RoundDue').length, 5);
});

test('an invoice that was paid otherwise is not tried again', async () => {
  const { invoice, settle, pass, pay, events } = await paidWorld();
  const id = await invoice(hundred);
  await settle();
  await pay(id, '100');
  await settle();
  await pass('2026-02-01T00:00:00.000Z');
  assert.is(events(id).filter((type) => type === 'RoundDue').length, 1);
});

test('what is under way is not collected a second time, and all of it when it fails', async () => {
  const { invoice, wallet, pay, call, settle, stateOf, pass, prepaid } = await paidWorld();
  await wallet('100', postPaid);
  const id = await invoice(hundred);
  const card = { payment_method_type: 'CARD', process_payment: false };
  const payments = [await pay(id, '40', card), await pay(id, '60', card)];
  const put = (index: number, payment_status: string) =>
    call('PUT /payments/{id}', {
      params: { id: payments[index]?.id ?? '' },
      body: { payment_status },
    });
  await put(0, 'PENDING');
  await put(1, 'PROCESSING');
  await settle();
  assert.is(amountsOf(await stateOf(id)).amount_paid, '0');
  const attempt = () => call('POST /invoices/{id}/payment/attempt', { params: { id } });
  assert.is((await rejection(attempt())).details?.reason, 'payment_under_way');
  await put(0, 'SUCCEEDED');
  await put(1, 'FAILED');
  await pass('2026-01-02T00:00:00.000Z');
  const { amount_paid, amount_remaining } = amountsOf(await stateOf(id));
  assert.equal([amount_paid, amount_remaining, await prepaid()], ['100', '0', []]);
});

test('money that has come and that the invoice has not heard of is not collected again', async () => {
  const { world, invoice, wallet, pay, settle, stateOf, prepaid, balance } = await paidWorld();
  const one = await wallet('100', postPaid);
  const id = await invoice({ ...hundred, collection_method: 'send_invoice' });
  let appended = 0;
  world.store.fate = () => {
    appended += 1;
    return appended > 1 ? 'unavailable' : 'written';
  };
  await pay(id, '100');
  world.store.fate = () => 'written';
  const state = await stateOf(id);
  assert.equal([state.payments.length, await balance(one)], [0, '100']);
  assert.is(await collectable(world.request(testPrincipal()), state), '0');
  await settle();
  assert.equal(await prepaid(), []);
});

test('while a caller says that a payment is on its way nothing is collected', async () => {
  const { invoice, wallet, call, settle, stateOf, pass } = await paidWorld();
  await wallet('100', postPaid);
  const id = await invoice(hundred);
  const tell = (payment_status: string) =>
    call('PUT /invoices/{id}/payment', { params: { id }, body: { payment_status } });
  await tell('PROCESSING');
  await settle();
  assert.is(amountsOf(await stateOf(id)).amount_paid, '0');
  await tell('FAILED');
  await pass('2026-01-02T00:00:00.000Z');
  assert.is(amountsOf(await stateOf(id)).amount_paid, '100');
});

test('wherever the process dies that collects, each wallet pays once', async () => {
  for (const fate of ['unavailable', 'written_unheard'] as const) {
    for (let last = 1, isWhole = false; !isWhole; last += 1) {
      const { world, invoice, wallet, settle, stateOf, balance, another } = await paidWorld();
      const wallets = [await wallet('30', postPaid), await wallet('50', postPaid)];
      const id = await invoice(hundred);
      let appended = 0;
      world.store.fate = () => {
        appended += 1;
        return appended > last ? 'unavailable' : appended === last ? fate : 'written';
      };
      await settle().catch((error: unknown) => {
        if (!(error instanceof Problem)) throw error;
      });
      isWhole = appended < last;
      world.store.fate = () => 'written';
      await settle(another());
      const where = `${fate} at append ${last}`;
      assert.equal(await Promise.all(wallets.map(balance)), ['0', '0'], where);
      assert.is(amountsOf(await stateOf(id)).amount_paid, '80', where);
    }
  }
});

test.run();
