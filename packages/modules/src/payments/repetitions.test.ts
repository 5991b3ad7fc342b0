import type { DecimalText } from '@counterfoil/kernel';
import { rejection } from '@counterfoil/testkit';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { amountsOf, invoice, paymentsMaximum } from '../invoices/index.ts';
import { invoicedWorld } from '../test-invoiced-world.ts';
import { paidWorld } from '../test-paid-world.ts';

const test = suite('requests about money that are repeated (ADR 3)');

const automatic = { collection_method: 'charge_automatically' } as const;
const hundred = { lines: [{ amount: '100' }] };

test('a payment that was written down is shown as it was, whatever somebody has done with it since', async () => {
  const { invoice: make, pay, call, customerId } = await paidWorld();
  assert.ok(customerId);
  const id = await make(hundred);
  const waiting = { process_payment: false };
  const first = await pay(id, '40', waiting, 'one');
  assert.is(String(first.payment_status), 'INITIATED');
  const params = { id: first.id };
  const processed = await call('POST /payments/{id}/process', { params, key: 'two' });
  assert.is(String(processed.payment_status), 'SUCCEEDED');
  assert.equal(await pay(id, '40', waiting, 'one'), first);
  const body = { payment_status: 'PARTIALLY_REFUNDED', refunded_amount: '10' };
  const returned = await call('PUT /payments/{id}', { params, body, key: 'three' });
  assert.is(String(returned.payment_status), 'PARTIALLY_REFUNDED');
  assert.equal(await call('POST /payments/{id}/process', { params, key: 'two' }), processed);
  assert.equal(await pay(id, '40', waiting, 'one'), first);
  await call('PUT /payments/{id}', { params, body: { payment_status: 'REFUNDED' } });
  assert.equal(await call('PUT /payments/{id}', { params, body, key: 'three' }), returned);
});

test('an attempt to collect says again what it has collected', async () => {
  const { invoice: make, wallet, call, pay, stateOf } = await paidWorld();
  await wallet('30', { wallet_type: 'POST_PAID' });
  const id = await make({ ...hundred, collection_method: 'send_invoice' });
  const attempt = () => call('POST /invoices/{id}/payment/attempt', { params: { id }, key: 'one' });
  const first = await attempt();
  assert.match(String(first.message), '30 usd paid, 70 remaining');
  await pay(id, '70');
  assert.is(amountsOf(await stateOf(id)).amount_remaining, '0');
  assert.equal(await attempt(), first);
});

test('an invoice that was made, computed again and made final is shown as each request has left it', async () => {
  const { call, post, customerId } = await invoicedWorld();
  const draft = {
    customer_id: customerId,
    ...{ currency: 'usd', subtotal: '100', total: '100', amount_due: '100' },
    invoice_status: 'DRAFT',
  };
  const first = await post('/invoices', draft, 'one');
  await post('/taxes/rates', { name: 'VAT', code: 'VAT', percentage_value: '10' });
  const association = { tax_rate_code: 'VAT', entity_type: 'customer', entity_id: customerId };
  await post('/taxes/associations', association);
  const again = (query: object, key?: string) =>
    call('POST /invoices/{id}/recalculate-v2', { params: { id: first.id }, query }, key);
  assert.is((await again({})).total, '110');
  assert.equal(await post('/invoices', draft, 'one'), first);
  const final = await again({ finalize: true }, 'two');
  assert.equal([final.invoice_status, final.total], ['FINALIZED', '110']);
  const body = { payment_status: 'SUCCEEDED' };
  await call('PUT /invoices/{id}/payment', { params: { id: first.id }, body });
  assert.equal(await again({ finalize: true }, 'two'), final);
  assert.equal(await post('/invoices', draft, 'one'), first);
});

test('a subscription shows the invoice of its beginning as it was then', async () => {
  const { create, call, wallet } = await invoicedWorld();
  const body = { collection_method: 'send_invoice' };
  const first = await create(body, 'one');
  const { id, amount_remaining } = first.latest_invoice as Record<
    'id' | 'amount_remaining',
    string
  >;
  assert.is(amount_remaining, '100');
  const paid = { payment_status: 'SUCCEEDED' };
  await call('PUT /invoices/{id}/payment', { params: { id }, body: paid });
  assert.equal(await create(body, 'one'), first);
  await wallet('60', { wallet_type: 'POST_PAID' });
  const waits = { payment_behavior: 'allow_incomplete', ...automatic };
  const second = await create(waits, 'two');
  const opening = second.latest_invoice as Record<'id' | 'amount_remaining', string>;
  assert.is(opening.amount_remaining, '40');
  await call('PUT /invoices/{id}/payment', { params: { id: opening.id }, body: paid });
  assert.equal((await create(waits, 'two')).latest_invoice, opening);
});

test('an invoice takes 500 payments: whoever would begin with another one is refused, and money that comes is the customer’s', async () => {
  const { invoice: make, pay, call, request, stateOf, prepaid, paymentOf } = await paidWorld();
  const id = await make(hundred);
  const waiting = await pay(id, '1', { process_payment: false });
  const told = await pay(id, '2', { process_payment: false });
  await request().execute(invoice, id, () =>
    Array.from({ length: paymentsMaximum }, (_, place) => ({
      type: 'PaymentSettled' as const,
      data: {
        payment_id: `pay_${place}`,
        method: 'OFFLINE' as const,
        ...{ amount: '0.1' as DecimalText, excess: '0' as DecimalText },
      },
    })),
  );
  const limit = { reason: 'limit_reached', limit: paymentsMaximum };
  assert.equal((await rejection(pay(id, '1'))).details, limit);
  const process = call('POST /payments/{id}/process', { params: { id: waiting.id } });
  assert.equal((await rejection(process)).details, limit);
  const attempt = call('POST /invoices/{id}/payment/attempt', { params: { id } });
  assert.equal((await rejection(attempt)).details, limit);
  await call('PUT /payments/{id}', {
    params: { id: told.id },
    body: { payment_status: 'SUCCEEDED' },
  });
  assert.is((await stateOf(id)).payments.length, paymentsMaximum);
  assert.equal((await paymentOf(told.id)).applied, { to_destination: '0', to_customer: '2' });
  assert.equal(await prepaid(), ['2']);
});

test.run();
