import { Problem } from '@counterfoil/kernel';
import { rejection } from '@counterfoil/testkit';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { amountsOf, paymentStatusOf } from '../invoices/index.ts';
import { paidWorld } from '../test-paid-world.ts';

const test = suite('payments');

const hundred = { lines: [{ amount: '100' }] };
const postPaid = { wallet_type: 'POST_PAID' };

test('money that came by hand counts at once, and an over-payment goes to the customer once', async () => {
  const { invoice, pay, stateOf, prepaid, settle } = await paidWorld();
  const id = await invoice(hundred);
  const part = await pay(id, '40');
  assert.equal([part.payment_status, part.excess_amount], ['SUCCEEDED', '0']);
  const over = await pay(id, '80');
  assert.equal([over.payment_status, over.excess_amount], ['SUCCEEDED', '20']);
  const state = await stateOf(id);
  assert.is(paymentStatusOf(state), 'OVERPAID');
  assert.is(amountsOf(state).overpaid_amount, '20');
  assert.equal(await prepaid(), ['20']);
  await settle();
  assert.equal(await prepaid(), ['20']);
});

test('an invoice that is paid, void or in another currency takes no payment', async () => {
  const { invoice, pay, makeVoid } = await paidWorld();
  const paid = await invoice(hundred);
  await pay(paid, '100');
  assert.is((await rejection(pay(paid, '1'))).details?.reason, 'invoice_paid');
  const open = await invoice(hundred);
  assert.is(
    (await rejection(pay(open, '1', { currency: 'eur' }))).errors?.[0]?.pointer,
    '/currency',
  );
  assert.is((await rejection(pay(open, '0.001'))).errors?.[0]?.pointer, '/amount');
  await makeVoid(open);
  assert.is((await rejection(pay(open, '1'))).details?.reason, 'invoice_not_final');
  assert.is((await rejection(pay('inv_none', '1'))).details?.field, 'destination_id');
});

test('a payment that waited for an invoice which is void by then goes to the customer', async () => {
  const { invoice, pay, makeVoid, call, prepaid, settle } = await paidWorld();
  const id = await invoice(hundred);
  const waiting = await pay(id, '100', { process_payment: false });
  assert.is(waiting.payment_status, 'INITIATED');
  await makeVoid(id);
  const late = await call('POST /payments/{id}/process', { params: { id: waiting.id } });
  assert.equal([late.payment_status, late.excess_amount], ['SUCCEEDED', '100']);
  assert.equal(await prepaid(), ['100']);
  await settle();
  assert.equal(await prepaid(), ['100']);
});

test('money for the account of a customer becomes credits', async () => {
  const { customerId, pay, prepaid } = await paidWorld();
  await pay(customerId, '25', { destination_type: 'CUSTOMER' });
  assert.equal(await prepaid(), ['25']);
});

test('the only POST_PAID wallet pays with the credits that it has, and not with what it would owe', async () => {
  const { invoice, pay, wallet, balance, stateOf } = await paidWorld();
  const id = await invoice(hundred);
  const credits = { payment_method_type: 'CREDITS' };
  assert.is((await rejection(pay(id, '60', credits))).details?.reason, 'no_active_wallet');
  await wallet('500');
  const one = await wallet('70', postPaid);
  const paid = await pay(id, '60', credits);
  assert.equal([paid.payment_status, paid.payment_method_id], ['SUCCEEDED', one]);
  assert.is(await balance(one), '10');
  const failed = await pay(id, '40', credits);
  assert.is(failed.payment_status, 'FAILED');
  assert.match(String(failed.error_message), '10 credits');
  assert.is(await balance(one), '10');
  assert.is(paymentStatusOf(await stateOf(id)), 'FAILED');
  const other = await wallet('40', postPaid);
  assert.is((await rejection(pay(id, '40', credits))).details?.reason, 'unsuitable');
  await pay(id, '40', { ...credits, payment_method_id: other });
  assert.is(await balance(other), '0');
  assert.is(paymentStatusOf(await stateOf(id)), 'SUCCEEDED');
});

test('a PRE_PAID wallet, and that of another customer, cannot be named', async () => {
  const { invoice, pay, wallet, call } = await paidWorld();
  const id = await invoice(hundred);
  const by = (payment_method_id: string) =>
    rejection(pay(id, '1', { payment_method_type: 'CREDITS', payment_method_id }));
  assert.is((await by(await wallet('500'))).errors?.[0]?.pointer, '/payment_method_id');
  const { id: other } = await call('POST /customers', {
    body: { name: 'Bob', external_id: 'bob' },
  });
  assert.is((await by(await wallet('5', { ...postPaid, customer_id: other }))).code, 'not_found');
});

test('what credits paid too much goes back to the lots that paid', async () => {
  const { invoice, pay, wallet, call, balance, prepaid } = await paidWorld();
  const id = await invoice(hundred);
  const one = await wallet('100', { ...postPaid, conversion_rate: '2' });
  const credits = { payment_method_type: 'CREDITS', process_payment: false };
  const waiting = await pay(id, '100', credits);
  await pay(id, '70');
  await call('POST /payments/{id}/process', { params: { id: waiting.id } });
  assert.is(await balance(one), '85');
  assert.equal(await prepaid(), []);
});

test('without a provider a card is refused with what to do, and can be written down', async () => {
  const { invoice, pay, call, stateOf } = await paidWorld();
  const id = await invoice(hundred);
  const card = { payment_method_type: 'CARD' };
  const refused = await rejection(pay(id, '100', card));
  assert.is(refused.details?.reason, 'no_payment_provider');
  const written = await pay(id, '100', { ...card, process_payment: false });
  const put = (body: object) => call('PUT /payments/{id}', { params: { id: written.id }, body });
  await put({ payment_status: 'PROCESSING', gateway_payment_id: 'ch_1' });
  const paid = await put({ payment_status: 'SUCCEEDED', succeeded_at: '2025-12-31T00:00:00.000Z' });
  assert.equal(
    [paid.payment_status, paid.gateway_payment_id, paid.succeeded_at],
    ['SUCCEEDED', 'ch_1', '2025-12-31T00:00:00.000Z'],
  );
  assert.is(paymentStatusOf(await stateOf(id)), 'SUCCEEDED');
});

/** The moves of a payment that its machine knows (E 16), and one that it does not for each. */
const moves = [
  { path: ['PENDING', 'PROCESSING', 'FAILED'], refused: 'SUCCEEDED' },
  { path: ['SUCCEEDED', 'REFUNDED'], refused: 'VOIDED' },
  { path: ['SUCCEEDED', 'VOIDED'], refused: 'REFUNDED' },
  { path: ['PROCESSING'], refused: 'PENDING' },
  { path: ['PENDING'], refused: 'REFUNDED' },
] as const;

for (const { path, refused } of moves) {
  test(`a payment goes to ${path.join(', ')} and not to ${refused}`, async () => {
    const { invoice, pay, call } = await paidWorld();
    const id = await invoice(hundred);
    const { id: payId } = await pay(id, '100', {
      payment_method_type: 'CARD',
      process_payment: false,
    });
    const put = (payment_status: string) =>
      call('PUT /payments/{id}', { params: { id: payId }, body: { payment_status } });
    for (const state of path) {
      assert.is((await put(state)).payment_status, state);
      assert.is((await put(state)).payment_status, state);
    }
    assert.is((await rejection(put(refused))).details?.reason, 'payment_state');
  });
}

test('what goes back to the payer is owed again, in parts and wholly', async () => {
  const { invoice, pay, call, stateOf } = await paidWorld();
  const id = await invoice(hundred);
  const { id: payId } = await pay(id, '100');
  const put = (body: object) => call('PUT /payments/{id}', { params: { id: payId }, body });
  const part = { payment_status: 'PARTIALLY_REFUNDED' };
  assert.is((await rejection(put(part))).errors?.[0]?.pointer, '/refunded_amount');
  await put({ ...part, refunded_amount: '30' });
  await put({ ...part, refunded_amount: '30' });
  for (const refunded_amount of ['20', '40.001']) {
    const refused = await rejection(put({ ...part, refunded_amount }));
    assert.is(refused.errors?.[0]?.pointer, '/refunded_amount');
  }
  assert.is(amountsOf(await stateOf(id)).amount_remaining, '30');
  await put({ ...part, refunded_amount: '50' });
  assert.is(amountsOf(await stateOf(id)).amount_remaining, '50');
  const whole = await put({ payment_status: 'REFUNDED' });
  assert.is(whole.refunded_amount, '100');
  assert.is(amountsOf(await stateOf(id)).amount_remaining, '100');
  assert.is(paymentStatusOf(await stateOf(id)), 'PENDING');
});

test('what the customer has as credits does not go back to the payer as well', async () => {
  const { invoice, pay, call, customerId, stateOf } = await paidWorld();
  const put = (id: string, body: object) => call('PUT /payments/{id}', { params: { id }, body });
  const account = await pay(customerId, '25', { destination_type: 'CUSTOMER' });
  const refused = await rejection(put(account.id, { payment_status: 'REFUNDED' }));
  assert.is(refused.details?.reason, 'payment_state');
  const id = await invoice(hundred);
  const over = await pay(id, '120');
  const back = await put(over.id, { payment_status: 'VOIDED' });
  assert.is(back.refunded_amount, '100');
  assert.is(amountsOf(await stateOf(id)).amount_remaining, '100');
});

test('credits that a wallet paid with go back to it when the invoice becomes void', async () => {
  const { invoice, pay, call, wallet, makeVoid, balance, prepaid, settle } = await paidWorld();
  const id = await invoice(hundred);
  const one = await wallet('100', { ...postPaid, conversion_rate: '2' });
  const { id: payId } = await pay(id, '60', { payment_method_type: 'CREDITS' });
  await pay(id, '10');
  await call('PUT /payments/{id}', {
    params: { id: payId },
    body: { payment_status: 'PARTIALLY_REFUNDED', refunded_amount: '20' },
  });
  assert.is(await balance(one), '80');
  await makeVoid(id);
  await settle();
  await settle();
  assert.equal([await balance(one), await prepaid()], ['100', ['10']]);
});

test('money of an archived customer without a wallet is not given to nobody', async () => {
  const { invoice, pay, call, credit, makeVoid, stateOf, customerId } = await paidWorld();
  const id = await invoice(hundred);
  const { id: payId } = await pay(id, '100');
  await call('DELETE /customers/{id}', { params: { id: customerId } });
  const line = (await stateOf(id)).lines[0]?.id ?? '';
  for (const act of [() => makeVoid(id), () => credit(id, { [line]: '10' })]) {
    assert.is((await rejection(act())).details?.reason, 'archived');
  }
  const body = { payment_status: 'REFUNDED' };
  await call('PUT /payments/{id}', { params: { id: payId }, body });
  await makeVoid(id);
  assert.is((await stateOf(id)).invoice_status, 'VOIDED');
});

test('money that a void has given to the customer does not go back to the payer as well', async () => {
  const { invoice, pay, call, makeVoid, prepaid } = await paidWorld();
  const id = await invoice(hundred);
  const { id: payId } = await pay(id, '100');
  await makeVoid(id);
  for (const payment_status of ['REFUNDED', 'VOIDED']) {
    const put = call('PUT /payments/{id}', { params: { id: payId }, body: { payment_status } });
    assert.is((await rejection(put)).details?.reason, 'payment_state');
  }
  assert.equal(await prepaid(), ['100']);
});

test('money that a credit note has given to the customer does not go back to the payer as well', async () => {
  const { invoice, pay, call, credit, stateOf, prepaid, settle } = await paidWorld();
  const id = await invoice(hundred);
  const { id: payId } = await pay(id, '100');
  await credit(id, { [(await stateOf(id)).lines[0]?.id ?? '']: '60' });
  const put = (body: object) => call('PUT /payments/{id}', { params: { id: payId }, body });
  const part = { payment_status: 'PARTIALLY_REFUNDED', refunded_amount: '50' };
  assert.is((await rejection(put(part))).errors?.[0]?.pointer, '/refunded_amount');
  await put({ ...part, refunded_amount: '10' });
  assert.is((await put({ payment_status: 'REFUNDED' })).refunded_amount, '40');
  await settle();
  assert.equal(await prepaid(), ['60']);
});

test('money does not go back before it is known what it has paid', async () => {
  const { world, customerId, pay, call, prepaid, settle } = await paidWorld();
  let appended = 0;
  world.store.fate = () => {
    appended += 1;
    return appended > 1 ? 'unavailable' : 'written';
  };
  const { id } = await pay(customerId, '25', { destination_type: 'CUSTOMER' });
  world.store.fate = () => 'written';
  const put = () =>
    rejection(call('PUT /payments/{id}', { params: { id }, body: { payment_status: 'REFUNDED' } }));
  assert.is((await put()).code, 'service_unavailable');
  await settle();
  assert.equal(await prepaid(), ['25']);
  assert.is((await put()).details?.reason, 'payment_state');
});

test('credits that a wallet paid with go back to it', async () => {
  const { invoice, pay, call, wallet, balance } = await paidWorld();
  const id = await invoice(hundred);
  const one = await wallet('100', postPaid);
  const { id: payId } = await pay(id, '60', { payment_method_type: 'CREDITS' });
  const put = (payment_status: string) =>
    call('PUT /payments/{id}', { params: { id: payId }, body: { payment_status } });
  await put('REFUNDED');
  assert.is(await balance(one), '100');
});

test('a payment is deleted only while nothing has come of it', async () => {
  const { invoice, pay, call } = await paidWorld();
  const id = await invoice(hundred);
  const remove = (payId: string) => call('DELETE /payments/{id}', { params: { id: payId } });
  const done = await pay(id, '10');
  assert.is((await rejection(remove(done.id))).details?.reason, 'payment_state');
  const waiting = await pay(id, '10', { process_payment: false });
  await remove(waiting.id);
  const gone = call('GET /payments/{id}', { params: { id: waiting.id } });
  assert.is((await rejection(gone)).code, 'not_found');
});

test('a request that is repeated gets its first answer, and nothing happens twice', async () => {
  const { invoice, pay, call, stateOf } = await paidWorld();
  const id = await invoice(hundred);
  const first = await pay(id, '100', {}, 'one');
  await call('PUT /payments/{id}', {
    params: { id: first.id },
    body: { payment_status: 'REFUNDED' },
  });
  assert.equal(await pay(id, '100', {}, 'one'), first);
  assert.is((await stateOf(id)).payments.length, 1);
});

test('two equal instalments are two payments', async () => {
  const { invoice, pay, stateOf } = await paidWorld();
  const id = await invoice(hundred);
  await pay(id, '50');
  await pay(id, '50');
  assert.is(paymentStatusOf(await stateOf(id)), 'SUCCEEDED');
});

test('lists find payments by what they are for and how they are', async () => {
  const { invoice, pay, call } = await paidWorld();
  const [one, other] = [await invoice(hundred), await invoice(hundred)];
  const paid = await pay(one, '10');
  await pay(other, '10', { process_payment: false });
  const ids = async (query: object) => {
    const { items } = (await call('GET /payments', { query })) as unknown as {
      readonly items: readonly { readonly id: string }[];
    };
    return items.map((each) => each.id);
  };
  assert.equal(await ids({ destination_id: one }), [paid.id]);
  assert.equal(await ids({ payment_status: 'SUCCEEDED' }), [paid.id]);
  assert.equal(await ids({ payment_ids: paid.id, payment_method_type: 'OFFLINE' }), [paid.id]);
  assert.equal((await ids({})).length, 2);
});

test('the payment of an invoice is told: money that has come is a payment, the rest is noted', async () => {
  const { invoice, call, stateOf } = await paidWorld();
  const id = await invoice(hundred);
  const tell = (body: object) => call('PUT /invoices/{id}/payment', { params: { id }, body });
  assert.is((await tell({ payment_status: 'PROCESSING' })).payment_status, 'PROCESSING');
  assert.is((await tell({ payment_status: 'FAILED' })).payment_status, 'FAILED');
  const part = await tell({ payment_status: 'SUCCEEDED', amount: '30' });
  assert.equal([part.payment_status, part.amount_paid], ['PENDING', '30']);
  const whole = await tell({ payment_status: 'SUCCEEDED' });
  assert.equal([whole.payment_status, whole.amount_paid], ['SUCCEEDED', '100']);
  assert.is((await stateOf(id)).payments.length, 2);
  assert.is(
    (await rejection(tell({ payment_status: 'SUCCEEDED' }))).details?.reason,
    'invoice_paid',
  );
  const refunded = await rejection(tell({ payment_status: 'REFUNDED' }));
  assert.is(refunded.errors?.[0]?.pointer, '/payment_status');
});

test('all that remains of one state of an invoice comes once, whoever says so', async () => {
  const { invoice, call, stateOf, prepaid, settle } = await paidWorld();
  const id = await invoice(hundred);
  const tell = () =>
    call('PUT /invoices/{id}/payment', { params: { id }, body: { payment_status: 'SUCCEEDED' } });
  await Promise.allSettled([tell(), tell()]);
  await settle();
  assert.equal([(await stateOf(id)).payments.length, await prepaid()], [1, []]);
});

test('what is told of a payment again under a key gets its first answer', async () => {
  const { invoice, call } = await paidWorld();
  const id = await invoice(hundred);
  const tell = (key: string, body: object) =>
    call('PUT /invoices/{id}/payment', { params: { id }, body, key });
  const noted = { payment_status: 'PROCESSING' };
  const first = await tell('one', noted);
  const part = { payment_status: 'SUCCEEDED', amount: '30' };
  const second = await tell('two', part);
  assert.is(second.amount_paid, '30');
  await tell('three', { payment_status: 'SUCCEEDED' });
  assert.equal(await tell('one', noted), first);
  assert.equal(await tell('two', part), second);
});

const fates = ['unavailable', 'lost_unheard', 'written_unheard'] as const;

test('wherever the process dies that pays with credits, they are taken once and settle the invoice once', async () => {
  for (const fate of fates) {
    for (let last = 1, isWhole = false; !isWhole; last += 1) {
      const { world, invoice, pay, wallet, balance, stateOf, settle, another } = await paidWorld();
      const id = await invoice(hundred);
      const one = await wallet('70', postPaid);
      let appended = 0;
      world.store.fate = () => {
        appended += 1;
        return appended > last ? 'unavailable' : appended === last ? fate : 'written';
      };
      const credits = { payment_method_type: 'CREDITS' };
      await pay(id, '60', credits, 'one').catch((error: unknown) => {
        if (!(error instanceof Problem)) throw error;
      });
      isWhole = appended < last;
      world.store.fate = () => 'written';
      await settle(another());
      await pay(id, '60', credits, 'one', another());
      await settle(another());
      const where = `${fate} at append ${last}`;
      assert.is(await balance(one), '10', where);
      assert.equal((await stateOf(id)).payments.length, 1, where);
    }
  }
});

test.run();
