import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { paymentStatusOf } from '../invoices/index.ts';
import { paidWorld } from '../test-paid-world.ts';
import type { PaymentProvider, ProviderAnswer, ProviderAttempt } from './provider.ts';

const test = suite('payments by a provider');

/** The ways in which a provider meets a question about an attempt. */
type Fate = 'answers' | 'takes it unheard' | 'is away' | 'declines';

/** A provider that takes money once for each key, and notes who asked for what. */
function testProvider(fates: readonly Fate[]) {
  const taken = new Map<string, ProviderAnswer>();
  const asked: ProviderAttempt[] = [];
  const outcomes: string[] = [];
  const onAsked: (() => void)[] = [];
  const provider: PaymentProvider = {
    name: 'test',
    methods: ['CARD'],
    settle: async (attempt) => {
      const fate = fates[asked.length] ?? 'answers';
      asked.push(attempt);
      for (const look of onAsked) look();
      if (fate === 'is away') throw new Error('the provider is away');
      const answer: ProviderAnswer =
        fate === 'declines'
          ? { kind: 'failed', message: 'declined' }
          : { kind: 'succeeded', gateway_payment_id: `ch_${taken.size + 1}` };
      const known = taken.get(attempt.key) ?? answer;
      taken.set(attempt.key, known);
      if (fate === 'takes it unheard') throw new Error('the answer is lost');
      return known;
    },
    outcomeOf: async ({ key }) => {
      outcomes.push(key);
      return taken.get(key) ?? { kind: 'unknown' };
    },
    savedMethods: async () => [
      {
        id: 'pm_1',
        payment_method_type: 'CARD',
        is_default: true,
        brand: 'visa',
        last4: '4242',
        expires: '2030-01',
      },
    ],
  };
  return { provider, taken, asked, outcomes, onAsked };
}

const card = { payment_method_type: 'CARD', payment_method_id: 'pm_1' };
const hundred = { lines: [{ amount: '100' }] };

/** Ways of a provider, one for each time it is asked, and the end of the payment. */
const table: readonly { fates: readonly Fate[]; status: string; taken: number }[] = [
  { fates: ['answers'], status: 'SUCCEEDED', taken: 1 },
  { fates: ['takes it unheard'], status: 'SUCCEEDED', taken: 1 },
  { fates: ['is away', 'takes it unheard', 'is away'], status: 'SUCCEEDED', taken: 1 },
  { fates: ['is away', 'declines'], status: 'FAILED', taken: 1 },
];

for (const { fates, status, taken: times } of table) {
  test(`a provider that ${fates.join(', then ')} leaves the payment ${status}, and takes money once`, async () => {
    const { provider, taken, asked } = testProvider(fates);
    const { invoice, pay, settle, another, paymentOf, stateOf } = await paidWorld({ provider });
    const id = await invoice(hundred);
    const first = await pay(id, '100', card);
    for (const _ of [...fates, null]) await settle();
    // Whoever begins at the start of the log asks by the same key, if at all.
    await settle(another());
    assert.is((await paymentOf(first.id)).payment_status, status);
    assert.is(taken.size, times);
    assert.equal(new Set(asked.map(({ key }) => key)), new Set([`${first.id}-1`]));
    assert.is((await stateOf(id)).payments.length, status === 'SUCCEEDED' ? 1 : 0);
    assert.is(paymentStatusOf(await stateOf(id)), status);
  });
}

test('the attempt is in the log before anything is sent', async () => {
  const { provider, onAsked } = testProvider([]);
  const { world, invoice, pay } = await paidWorld({ provider });
  const id = await invoice(hundred);
  const logged: boolean[] = [];
  onAsked.push(() => {
    logged.push(world.store.log.some(({ type }) => type === 'PaymentAttemptStarted'));
  });
  const paid = await pay(id, '100', card);
  assert.equal(logged, [true]);
  assert.is(paid.gateway_payment_id, 'ch_1');
  assert.equal(
    (paid.attempts as unknown as readonly { readonly payment_status: string }[]).map(
      (attempt) => attempt.payment_status,
    ),
    ['SUCCEEDED'],
  );
});

test('a card that is saved pays what wallets leave of an invoice that is charged automatically', async () => {
  const { provider, taken } = testProvider(['is away']);
  const { invoice, wallet, settle, stateOf, balance } = await paidWorld({ provider });
  const one = await wallet('30', { wallet_type: 'POST_PAID' });
  const id = await invoice({ ...hundred, collection_method: 'charge_automatically' });
  for (const _ of [1, 2, 3]) await settle();
  const { payments } = await stateOf(id);
  assert.equal(payments.map(({ method, amount }) => `${method} ${amount}`).sort(), [
    'CARD 70',
    'CREDITS 30',
  ]);
  assert.equal([await balance(one), taken.size], ['0', 1]);
});

test('what a provider has saved for a customer is listed; without one there is nothing', async () => {
  const { provider } = testProvider([]);
  const path = 'GET /payments/customers/{id}/methods';
  const withOne = await paidWorld({ provider });
  const saved = await withOne.call(path, { params: { id: withOne.customerId } });
  assert.is((saved as unknown as { readonly items: unknown[] }).items.length, 1);
  const without = await paidWorld();
  const none = await without.call(path, { params: { id: without.customerId } });
  assert.equal(none as unknown, { items: [] });
});

test('a payment page that waits is not asked for a second time', async () => {
  const asked: string[] = [];
  const provider: PaymentProvider = {
    name: 'test',
    methods: ['PAYMENT_LINK'],
    settle: async ({ key }) => {
      asked.push(key);
      return { kind: 'waiting' };
    },
    outcomeOf: async () => ({ kind: 'waiting' }),
    savedMethods: async () => [],
  };
  const { invoice, pay, call } = await paidWorld({ provider });
  const waiting = await pay(await invoice(hundred), '100', { payment_method_type: 'PAYMENT_LINK' });
  assert.is(waiting.payment_status, 'PENDING');
  await call('POST /payments/{id}/process', { params: { id: waiting.id } });
  assert.equal(new Set(asked), new Set([`${waiting.id}-1`]));
});

/** A card payment of all of an invoice whose end is not known yet, and that a caller gives up. */
async function givenUp(fates: readonly Fate[]) {
  const made = testProvider(fates);
  const world = await paidWorld({ provider: made.provider });
  const id = await world.invoice(hundred);
  const { id: payId } = await world.pay(id, '100', card);
  const body = { payment_status: 'FAILED' };
  await world.call('PUT /payments/{id}', { params: { id: payId }, body });
  return { ...made, ...world, id, payId };
}

test('money that was taken for a payment which a caller has given up is recorded, and goes to the invoice', async () => {
  const { settle, asked, paymentOf, payId, stateOf, id } = await givenUp(['takes it unheard']);
  assert.is((await paymentOf(payId)).payment_status, 'FAILED');
  await settle();
  await settle();
  const paid = await paymentOf(payId);
  assert.equal([paid.payment_status, paid.gateway_payment_id], ['SUCCEEDED', 'ch_1']);
  assert.equal([asked.length, (await stateOf(id)).payments.length], [1, 1]);
});

test('it goes to the customer where the invoice was paid otherwise meanwhile, also when the payment was deleted', async () => {
  const { settle, pay, call, payId, id, prepaid } = await givenUp(['takes it unheard']);
  await call('DELETE /payments/{id}', { params: { id: payId } });
  await pay(id, '100');
  await settle();
  await settle();
  assert.equal(await prepaid(), ['100']);
  const shown = await call('GET /payments/{id}', { params: { id: payId } });
  assert.equal([shown.payment_status, shown.excess_amount], ['SUCCEEDED', '100']);
});

test('a payment that was given up before anything was sent is never sent', async () => {
  const { settle, taken, outcomes, paymentOf, payId } = await givenUp(['is away', 'is away']);
  await settle();
  assert.equal([taken.size, outcomes.length > 0], [0, true]);
  assert.is((await paymentOf(payId)).payment_status, 'FAILED');
});

test.run();
