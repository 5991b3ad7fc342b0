import { Problem } from '@counterfoil/kernel';
import { rejection } from '@counterfoil/testkit';
import type { StripeFate } from '@counterfoil/testkit/stripe-server';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { amountsOf } from '../invoices/index.ts';
import { stripeWorld } from './test-stripe-world.ts';

const test = suite('refunds by Stripe');

/** A world with an invoice of 100 that a card has paid. */
async function charged() {
  const world = await stripeWorld();
  await world.save();
  const id = await world.invoice({ lines: [{ amount: '100' }] });
  const { id: payId } = await world.pay(id, '100', { payment_method_type: 'CARD' });
  const params = { id: payId };
  return {
    ...world,
    id,
    payId,
    refund: (body: object = {}, key?: string) =>
      world.call('POST /payments/{id}/refund', { params, body, ...(key ? { key } : {}) }),
    owed: async () => amountsOf(await world.stateOf(id)).amount_remaining,
  };
}

test('money goes back through Stripe in parts, and the invoice is owed it again', async () => {
  const { refund, owed, books, server } = await charged();
  const part = await refund({ amount: '30', reason: 'One was broken.' }, 'key');
  assert.equal([part.payment_status, part.refunded_amount], ['PARTIALLY_REFUNDED', '30']);
  assert.equal([await owed(), books.balance], ['30', 7_000]);
  await refund({ amount: '30', reason: 'One was broken.' }, 'key');
  assert.is(books.balance, 7_000);
  assert.is((await rejection(refund({ amount: '70.01' }))).errors?.[0]?.pointer, '/amount');
  const rest = await refund();
  assert.equal([rest.payment_status, rest.refunded_amount], ['REFUNDED', '100']);
  assert.equal([await owed(), books.balance], ['100', 0]);
  assert.is((await rejection(refund())).details?.reason, 'payment_state');
  assert.equal(server.faults, []);
});

const unavailable = (error: unknown): void => {
  if (!(error instanceof Problem)) throw error;
};

const fates: readonly StripeFate[] = ['is cut off before', 'is cut off unheard', 'fails unheard'];

for (const fate of fates) {
  test(`whichever request of a refund ${fate}, the money goes back once`, async () => {
    for (let hit = 1, isHit = true; isHit; hit += 1) {
      const { refund, server, books, pass, settle, owed, another, payId, paymentOf } =
        await charged();
      let seen = 0;
      server.fate = () => {
        seen += 1;
        return seen === hit ? fate : 'answers';
      };
      await refund({ amount: '40' });
      server.forgetKeys();
      for (const time of ['00:01:00', '00:06:00']) await pass(`2026-01-01T${time}.000Z`);
      isHit = seen >= hit;
      await settle(another());
      const [last] = (await paymentOf(payId)).refunds;
      assert.is(last?.refund_status, 'SUCCEEDED', `request ${hit}`);
      assert.equal([books.balance, await owed()], [6_000, '40'], `request ${hit}`);
    }
  });
}

test('wherever the process dies, the money goes back once', async () => {
  for (const fate of ['unavailable', 'written_unheard'] as const) {
    for (let last = 1, isWhole = false; !isWhole; last += 1) {
      const { refund, world, server, books, settle, owed, another, paymentOf, payId } =
        await charged();
      let appended = 0;
      world.store.fate = () => {
        appended += 1;
        return appended > last ? 'unavailable' : appended === last ? fate : 'written';
      };
      await refund({}, 'key').catch(unavailable);
      await settle().catch(unavailable);
      isWhole = appended < last;
      world.store.fate = () => 'written';
      server.forgetKeys();
      await settle(another());
      const isBegun = (await paymentOf(payId)).refunds.length > 0;
      const expected = isBegun ? [0, '100'] : [10_000, '0'];
      assert.equal([books.balance, await owed()], expected, `${fate} at append ${last}`);
    }
  }
});

test('a refund that takes days waits for its webhook; one that Stripe cannot give comes back as a payment', async () => {
  for (const isPaid of [true, false]) {
    const { refund, books, hear, settle, owed, call, payId, paymentOf, id } = await charged();
    books.refundStatus = 'pending';
    const begun = await refund({ amount: '25' });
    assert.is(
      (begun.refunds as unknown as readonly { refund_status: string }[])[0]?.refund_status,
      'PROCESSING',
    );
    assert.is((await rejection(refund({ amount: '1' }))).details?.reason, 'payment_state');
    assert.is(await owed(), '25');
    books.finishRefund([...books.refunds.keys()][0] ?? '', isPaid);
    await hear();
    await settle();
    const [end] = (await paymentOf(payId)).refunds;
    assert.is(end?.refund_status, isPaid ? 'SUCCEEDED' : 'FAILED');
    assert.equal([books.balance, await owed()], isPaid ? [7_500, '25'] : [10_000, '0']);
    if (isPaid) continue;
    // What came back can be given back again, of the same charge.
    const { items } = (await call('GET /payments', {
      query: { destination_id: id },
    })) as unknown as {
      readonly items: readonly { readonly id: string; readonly amount: string }[];
    };
    const comeback = items.find(({ amount }) => amount === '25');
    books.refundStatus = 'succeeded';
    await call('POST /payments/{id}/refund', { params: { id: comeback?.id ?? '' } });
    assert.equal([books.balance, await owed()], [7_500, '25']);
  }
});

test('what a credit note has given the customer does not go back through Stripe as well', async () => {
  const { refund, credit, books, stateOf, id, owed } = await charged();
  const [line] = (await stateOf(id)).lines;
  await credit(id, { [line?.id ?? '']: '60' });
  assert.is((await rejection(refund({ amount: '50' }))).errors?.[0]?.pointer, '/amount');
  await refund({ amount: '40' });
  assert.equal([books.balance, await owed()], [6_000, '40']);
});

test('money that no provider has brought is refused', async () => {
  const { invoice, pay, call } = await stripeWorld();
  const { id } = await pay(await invoice({ lines: [{ amount: '5' }] }), '5');
  const refused = await rejection(call('POST /payments/{id}/refund', { params: { id } }));
  assert.is(refused.details?.reason, 'payment_state');
});

test.run();
