import { Problem } from '@counterfoil/kernel';
import { rejection } from '@counterfoil/testkit';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { paidWorld, type Shown } from '../../test-paid-world.ts';
import { wallet } from '../../wallets/index.ts';
import { invoice } from '../invoice.ts';

const test = suite('purchases of credits');

/** A customer with a wallet, who orders fifty credits at two dollars each. */
async function buying(body: object = {}) {
  const world = await paidWorld();
  const { call, wallet, settle } = world;
  const id = await wallet('0', { topup_conversion_rate: '2', ...body });
  const order = async (more: object = {}) => {
    const answer = (await call('POST /wallets/{id}/top-up', {
      params: { id },
      body: { transaction_reason: 'PURCHASED_CREDIT_INVOICED', credits_to_add: '50', ...more },
    })) as unknown as {
      readonly invoice_id: string;
      readonly wallet_transaction: { readonly id: string };
    };
    const billed = await world.request().load(invoice, answer.invoice_id ?? '');
    await settle();
    const { id: transactionId } = answer.wallet_transaction;
    return { invoiceId: answer.invoice_id, transactionId, atOnce: billed?.invoice_status };
  };
  const streams = (category: string): number =>
    world.world.store.log.filter(({ stream }) => stream.startsWith(`${category}-`)).length;
  return { ...world, walletId: id, order, streams };
}

const idOf = (id: string) => ({ params: { id } });

test('an order becomes an invoice, whose payment loads the credits once', async () => {
  const { order, call, pay, settle, balance, walletId, stateOf } = await buying();
  const { invoiceId, transactionId, atOnce } = await order();
  // It is there when the answer names it.
  assert.is(atOnce, 'FINALIZED');
  const billed = await call('GET /invoices/{id}', idOf(invoiceId));
  assert.equal(
    [billed.invoice_status, billed.invoice_type, billed.billing_reason, billed.total],
    ['FINALIZED', 'ONE_OFF', 'MANUAL', '100'],
  );
  assert.equal(billed.metadata, { wallet_id: walletId, wallet_transaction_id: transactionId });
  await pay(invoiceId, '40');
  await settle();
  assert.is(await balance(walletId), '0');
  await pay(invoiceId, '60');
  await settle();
  await settle();
  assert.is(await balance(walletId), '50');
  assert.is((await stateOf(invoiceId)).purchase, 'completed');
});

test('credits that the customer has are not paid back as well', async () => {
  const { order, pay, settle, credit, makeVoid, stateOf } = await buying();
  const { invoiceId } = await order();
  await pay(invoiceId, '100');
  await settle();
  const line = (await stateOf(invoiceId)).lines[0]?.id ?? '';
  assert.is(
    (await rejection(credit(invoiceId, { [line]: '10' }))).details?.reason,
    'not_creditable',
  );
  assert.is((await rejection(makeVoid(invoiceId))).details?.reason, 'not_creditable');
});

test('credits that cost less than can be paid are invoiced to nobody, and do not load themselves', async () => {
  const { order, streams, balance, walletId, call } = await buying();
  const { invoiceId, transactionId } = await order({ credits_to_add: '0.002' });
  assert.equal([invoiceId, streams('invoice')], [undefined, 0]);
  assert.is(await balance(walletId), '0');
  await call('POST /wallets/transactions/{id}/cancel', idOf(transactionId));
});

test('an order that its caller cancels leaves nothing more in the stream of the wallet', async () => {
  const { order, request, settle, walletId, call } = await buying();
  const { transactionId } = await order();
  await call('POST /wallets/transactions/{id}/cancel', idOf(transactionId));
  await settle();
  const types: string[] = [];
  for await (const { event } of request().chain(wallet, walletId)) types.push(event.type);
  assert.is(types.at(-1), 'TopUpFailed');
});

test('from the payment on, what was paid for credits does not go back', async () => {
  const { order, pay, settle, credit, makeVoid, stateOf, balance, walletId } = await buying();
  const { invoiceId } = await order();
  await pay(invoiceId, '100');
  const line = (await stateOf(invoiceId)).lines[0]?.id ?? '';
  // Nobody has told the wallet yet.
  assert.is(await balance(walletId), '0');
  for (const act of [() => makeVoid(invoiceId), () => credit(invoiceId, { [line]: '100' })]) {
    assert.is((await rejection(act())).details?.reason, 'not_creditable');
  }
  await settle();
  assert.is(await balance(walletId), '50');
});

test('credits do not pay for credits', async () => {
  const { order, stateOf } = await buying({ initial_credits_to_load: '500' });
  const { invoiceId } = await order();
  assert.equal((await stateOf(invoiceId)).taken, []);
});

test('an invoice that becomes void fails the order', async () => {
  const { order, makeVoid, settle, balance, walletId, call } = await buying();
  const { invoiceId, transactionId } = await order();
  await makeVoid(invoiceId);
  await settle();
  const { items } = (await call('GET /wallets/{id}/transactions', idOf(walletId))) as unknown as {
    readonly items: readonly Shown[];
  };
  const entry = items.find(({ id }) => id === transactionId);
  assert.is(entry?.transaction_status, 'failed');
  assert.is(await balance(walletId), '0');
});

test('an order that is cancelled makes its invoice void', async () => {
  const { order, call, settle, stateOf } = await buying();
  const { invoiceId, transactionId } = await order();
  await call('POST /wallets/transactions/{id}/cancel', idOf(transactionId));
  await settle();
  assert.is((await stateOf(invoiceId)).invoice_status, 'VOIDED');
});

test('a payment that is under way when the order dies goes to the customer as a lot of its own, once', async () => {
  const { order, call, pay, settle, stateOf, balance, walletId } = await buying();
  const { invoiceId, transactionId } = await order();
  await call('PUT /invoices/{id}/payment', {
    ...idOf(invoiceId),
    body: { payment_status: 'PROCESSING' },
  });
  await call('POST /wallets/transactions/{id}/cancel', idOf(transactionId));
  await settle();
  assert.is((await stateOf(invoiceId)).invoice_status, 'FINALIZED');
  await pay(invoiceId, '100');
  await settle();
  await settle();
  assert.is((await stateOf(invoiceId)).purchase, 'dead');
  // A hundred dollars are a hundred credits, whatever credits are sold for.
  assert.is(await balance(walletId), '100');
});

test('credits of a POST_PAID wallet that have paid for an order which is dead go back to it', async () => {
  const { order, call, pay, settle, stateOf, balance, walletId, wallet } = await buying();
  const { invoiceId, transactionId } = await order();
  const one = await wallet('60', { wallet_type: 'POST_PAID' });
  await call('PUT /invoices/{id}/payment', {
    ...idOf(invoiceId),
    body: { payment_status: 'PROCESSING' },
  });
  await call('POST /wallets/transactions/{id}/cancel', idOf(transactionId));
  await settle();
  await pay(invoiceId, '60', { payment_method_type: 'CREDITS' });
  await pay(invoiceId, '40');
  await settle();
  await settle();
  assert.is((await stateOf(invoiceId)).purchase, 'dead');
  assert.equal([await balance(one), await balance(walletId)], ['60', '40']);
});

test('a payment that has not come after all leaves no debt for an order that is dead', async () => {
  const { order, call, settle, stateOf } = await buying();
  const { invoiceId, transactionId } = await order();
  const tell = (payment_status: string) =>
    call('PUT /invoices/{id}/payment', { ...idOf(invoiceId), body: { payment_status } });
  await tell('PROCESSING');
  await call('POST /wallets/transactions/{id}/cancel', idOf(transactionId));
  await settle();
  await tell('FAILED');
  await settle();
  assert.is((await stateOf(invoiceId)).invoice_status, 'VOIDED');
});

test('credits that were loaded by hand before are not loaded again by the payment', async () => {
  const { order, call, pay, settle, balance, walletId, stateOf } = await buying();
  const { invoiceId, transactionId } = await order();
  await call('POST /wallets/transactions/{id}/complete', idOf(transactionId));
  await pay(invoiceId, '100');
  await settle();
  assert.is(await balance(walletId), '50');
  assert.is((await stateOf(invoiceId)).purchase, 'completed');
});

for (const isEarly of [false, true]) {
  const when = isEarly ? 'before that is final' : 'after that is final';
  test(`an order that is completed by hand ${when} pays its invoice, once`, async () => {
    const { order, call, settle, another, balance, walletId, stateOf, world } = await buying();
    world.store.fate = (_stream, events) =>
      isEarly && events[0]?.type === 'InvoiceComputed' ? 'unavailable' : 'written';
    const { invoiceId, transactionId } = await order();
    assert.is((await stateOf(invoiceId)).invoice_status, isEarly ? 'DRAFT' : 'FINALIZED');
    await call('POST /wallets/transactions/{id}/complete', idOf(transactionId));
    world.store.fate = () => 'written';
    await settle(another());
    await settle();
    const { payments, purchase, invoice_status } = await stateOf(invoiceId);
    assert.equal(
      payments.map(({ method, amount, excess }) => [method, amount, excess]),
      [['OFFLINE', '100', '0']],
    );
    assert.equal([invoice_status, purchase], ['FINALIZED', 'completed']);
    assert.is(await balance(walletId), '50');
  });
}

test('a payment of an order that went back is owed again, and nobody says that it was paid by hand', async () => {
  const { order, call, pay, settle, another, stateOf } = await buying();
  const { invoiceId } = await order();
  const { id } = await pay(invoiceId, '100');
  await settle();
  await call('PUT /payments/{id}', { ...idOf(id), body: { payment_status: 'REFUNDED' } });
  await settle(another());
  const state = await stateOf(invoiceId);
  assert.equal([state.payments.length, state.paid_at], [1, null]);
});

test('a wallet that tops itself up says so on its invoice', async () => {
  const auto_topup = { enabled: true, amount: 20, threshold: 5, invoicing: true };
  const { settle, call } = await buying({ auto_topup });
  await settle();
  const { items } = (await call('GET /invoices', {})) as unknown as { readonly items: Shown[] };
  assert.equal(
    items.map(({ billing_reason, total }) => [billing_reason, total]),
    [['WALLET_AUTO_TOPUP', '40']],
  );
});

test('wherever the process dies, one payment loads the credits once', async () => {
  for (const fate of ['unavailable', 'written_unheard'] as const) {
    for (let last = 1, isWhole = false; !isWhole; last += 1) {
      const { world, order, pay, settle, balance, walletId, another } = await buying();
      const { invoiceId } = await order();
      let appended = 0;
      world.store.fate = () => {
        appended += 1;
        return appended > last ? 'unavailable' : appended === last ? fate : 'written';
      };
      await pay(invoiceId, '100', {}, 'one').catch((error: unknown) => {
        if (!(error instanceof Problem)) throw error;
      });
      await settle();
      isWhole = appended < last;
      world.store.fate = () => 'written';
      await settle(another());
      await pay(invoiceId, '100', {}, 'one', another());
      await settle(another());
      assert.is(await balance(walletId), '50', `${fate} at append ${last}`);
    }
  }
});

test.run();
