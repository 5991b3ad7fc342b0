import { published } from '@counterfoil/testkit';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { paidWorld } from '../test-paid-world.ts';
import { payment } from './payment.ts';
import { paymentPublicEvents } from './public-events.ts';

const test = suite('payment publications');

/** The types of all messages about a payment, in their order, each looked at for its declared form. */
async function told({ request }: Awaited<ReturnType<typeof paidWorld>>, id: string) {
  const messages = await published(request(), paymentPublicEvents, payment, id);
  for (const { type, body } of messages) {
    const declared = paymentPublicEvents.types[type];
    assert.ok(declared, type);
    assert.equal(declared.body.parse(body), body, type);
  }
  return messages.map(({ type }) => type.slice('payment.'.length));
}

test('a payment is told as it is written down and has come, and when it goes back', async () => {
  const world = await paidWorld();
  const id = await world.invoice({ lines: [{ amount: '100' }] });
  const paid = await world.pay(id, '40');
  const body = { payment_status: 'REFUNDED' };
  await world.call('PUT /payments/{id}', { params: { id: paid.id }, body });
  assert.equal(await told(world, paid.id), ['created', 'success', 'updated']);
});

test('one that waits says no more until it is deleted', async () => {
  const world = await paidWorld();
  const id = await world.invoice({ lines: [{ amount: '100' }] });
  const waiting = await world.pay(id, '40', { process_payment: false });
  await world.call('DELETE /payments/{id}', { params: { id: waiting.id } });
  assert.equal(await told(world, waiting.id), ['created', 'updated']);
});

test('a payment with credits is told on its way, and as failed where they are not there', async () => {
  const world = await paidWorld();
  const id = await world.invoice({ lines: [{ amount: '100' }] });
  await world.wallet('30', { wallet_type: 'POST_PAID' });
  const failed = await world.pay(id, '40', { payment_method_type: 'CREDITS' });
  assert.is(failed.payment_status, 'FAILED');
  assert.equal(await told(world, failed.id), ['created', 'pending', 'failed']);
});

test.run();
