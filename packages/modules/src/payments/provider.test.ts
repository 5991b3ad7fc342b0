import type { DecimalText, PaymentAttemptId, RefundId } from '@counterfoil/kernel';
import { rejection, testPrincipal } from '@counterfoil/testkit';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { amountsOf, paymentStatusOf } from '../invoices/index.ts';
import { paidWorld } from '../test-paid-world.ts';
import { processPayment } from './decisions.ts';
import { payment } from './payment.ts';
import { askAboutPayment } from './provided.ts';
import { nameAttempt, startRefund } from './provided-decisions.ts';
import {
  type NamedAttempt,
  type PaymentProvider,
  type PreparedAttempt,
  type ProviderAccount,
  type ProviderAnswer,
  type ProviderAttempt,
  ProviderUnavailable,
} from './provider.ts';

const test = suite('payments by a provider');

/** The ways in which a provider meets a question about an attempt. */
type Fate = 'answers' | 'takes it unheard' | 'is away' | 'declines';

/**
 * A provider that forgets every key at once, and gives what it writes down another name each time. What has one name takes money
 * once.
 */
function testProvider(fates: readonly Fate[], methods: PaymentProvider['methods'] = ['CARD']) {
  const taken = new Map<string, ProviderAnswer>();
  const state = { isAway: false };
  const prepared: ProviderAttempt[] = [];
  const asked: NamedAttempt[] = [];
  const onAsked: (() => void)[] = [];
  const fateOf = (): Fate => fates[prepared.length + asked.length - 1] ?? 'answers';
  const prepare = async (attempt: ProviderAttempt): Promise<PreparedAttempt> => {
    for (const look of onAsked) look();
    prepared.push(attempt);
    if (fateOf() !== 'answers') throw new ProviderUnavailable('the provider is away');
    const isPage = attempt.method === 'PAYMENT_LINK';
    const url = isPage ? `https://pay.example/${prepared.length}` : null;
    return { kind: 'prepared', reference: `ref_${prepared.length}`, url };
  };
  const settle = async (attempt: NamedAttempt): Promise<ProviderAnswer> => {
    asked.push(attempt);
    const fate = fateOf();
    if (fate === 'is away') throw new ProviderUnavailable('the provider is away');
    const known = taken.get(attempt.reference);
    if (known) return known;
    if (attempt.method === 'PAYMENT_LINK') return { kind: 'waiting' };
    const answer: ProviderAnswer =
      fate === 'declines'
        ? { kind: 'failed', message: 'declined' }
        : { kind: 'succeeded', gateway_payment_id: `ch_${taken.size + 1}` };
    taken.set(attempt.reference, answer);
    if (fate === 'takes it unheard') throw new ProviderUnavailable('the answer is lost');
    return answer;
  };
  const account: ProviderAccount = {
    ...{ prepare, settle },
    cancel: async ({ reference }) => {
      if (state.isAway) throw new ProviderUnavailable('the provider is away');
      return taken.get(reference) ?? { kind: 'failed', message: 'cancelled' };
    },
    refund: async ({ key }) => ({ kind: 'succeeded', gateway_refund_id: `re_${key}` }),
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
    beginSetup: async ({ key }) => ({ session_id: key, url: 'https://save.example' }),
    makeDefault: async () => true,
    removeMethod: async () => true,
  };
  const provider: PaymentProvider = { name: 'test', methods, account: async () => account };
  return { provider, taken, prepared, asked, onAsked, state };
}

const card = { payment_method_type: 'CARD', payment_method_id: 'pm_1' };
const hundred = { lines: [{ amount: '100' }] };

/** Ways of a provider, one for each time it is asked, and the end of the payment. */
const table: readonly { fates: readonly Fate[]; status: string; taken: number }[] = [
  { fates: ['answers'], status: 'SUCCEEDED', taken: 1 },
  { fates: ['answers', 'takes it unheard'], status: 'SUCCEEDED', taken: 1 },
  {
    fates: ['is away', 'answers', 'takes it unheard', 'is away'],
    status: 'SUCCEEDED',
    taken: 1,
  },
  { fates: ['is away', 'answers', 'is away', 'declines'], status: 'FAILED', taken: 1 },
];

for (const { fates, status, taken: times } of table) {
  test(`a provider that ${fates.join(', then ')} leaves the payment ${status}, and takes money once`, async () => {
    const { provider, taken, asked, prepared } = testProvider(fates);
    const { invoice, pay, settle, another, paymentOf, stateOf } = await paidWorld({ provider });
    const id = await invoice(hundred);
    const first = await pay(id, '100', card);
    for (const _ of [...fates, null]) await settle();
    // Whoever begins at the start of the log asks by the same key, if at all.
    await settle(another());
    assert.is((await paymentOf(first.id)).payment_status, status);
    assert.is(taken.size, times);
    assert.equal(new Set(prepared.map(({ key }) => key)), new Set([`${first.id}-1`]));
    assert.is(new Set(asked.map(({ reference }) => reference)).size, 1);
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
  const { provider, taken } = testProvider(['is away', 'answers', 'is away']);
  const { invoice, wallet, settle, stateOf, balance } = await paidWorld({ provider });
  const one = await wallet('30', { wallet_type: 'POST_PAID' });
  const id = await invoice({ ...hundred, collection_method: 'charge_automatically' });
  for (const _ of [1, 2, 3, 4]) await settle();
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

const page = { payment_method_type: 'PAYMENT_LINK', success_url: 'https://shop.example/paid' };

test('an attempt that has a name keeps it: who had it written down as well settles the one that the log names', async () => {
  const { provider, taken, prepared } = testProvider([]);
  const { world, invoice, pay, request, settle } = await paidWorld({ provider });
  const open = { ...card, process_payment: false };
  const { id } = await pay(await invoice(hundred), '100', open);
  const begin = processPayment(id, { name: 'test', attemptId: 'attempt_1' as PaymentAttemptId });
  await request().execute(payment, id, begin);
  const ask = () => askAboutPayment(world.request(testPrincipal()), id, provider);
  await ask();
  const late = { number: 1, reference: 'ref_late', url: null };
  await request().execute(payment, id, nameAttempt(late));
  await Promise.all([ask(), ask()]);
  await settle();
  assert.equal([...taken.keys()], ['ref_1']);
  assert.is(prepared.length, 1);
});

test('a payment page shows its address as long as it can be paid, and processing it asks for no second one', async () => {
  const { provider, prepared, taken } = testProvider([], ['PAYMENT_LINK']);
  const { invoice, pay, call, settle } = await paidWorld({ provider });
  const waiting = await pay(await invoice(hundred), '100', page);
  assert.equal([waiting.payment_status, waiting.payment_url], ['PENDING', 'https://pay.example/1']);
  const process = () => call('POST /payments/{id}/process', { params: { id: waiting.id } });
  assert.is((await process()).payment_status, 'PENDING');
  taken.set('ref_1', { kind: 'succeeded', gateway_payment_id: 'ch_1' });
  await process();
  await settle();
  const paid = await call('GET /payments/{id}', { params: { id: waiting.id } });
  assert.equal([paid.payment_status, paid.payment_url], ['SUCCEEDED', null]);
  assert.is(prepared.length, 1);
});

test('an open page is closed when nothing is owed any more; what was paid there at last goes to the customer', async () => {
  for (const isPaid of [false, true]) {
    const { provider, taken } = testProvider([], ['PAYMENT_LINK']);
    const { invoice, pay, settle, paymentOf, prepaid } = await paidWorld({ provider });
    const id = await invoice(hundred);
    const { id: open } = await pay(id, '100', page);
    if (isPaid) taken.set('ref_1', { kind: 'succeeded', gateway_payment_id: 'ch_1' });
    await pay(id, '100');
    await settle();
    assert.is((await paymentOf(open)).payment_status, isPaid ? 'SUCCEEDED' : 'FAILED');
    assert.equal(await prepaid(), isPaid ? ['100'] : []);
  }
});

test('messages of a provider may be lost: it is asked after 1, 5 and 15 minutes, and not for ever', async () => {
  const { provider, asked } = testProvider([], ['PAYMENT_LINK']);
  const { invoice, pay, pass, events } = await paidWorld({ provider });
  const { id } = await pay(await invoice(hundred), '100', page);
  const questions = () => events(id).filter((type) => type === 'ProviderAsked').length;
  await pass('2026-01-01T00:00:59.000Z');
  assert.is(questions(), 0);
  for (const [at, times] of [
    ['00:01:00', 1],
    ['00:05:59', 1],
    ['00:06:00', 2],
    ['00:21:00', 3],
  ] as const) {
    await pass(`2026-01-01T${at}.000Z`);
    assert.is(questions(), times, at);
  }
  for (let day = 2; day < 100; day += 1) {
    await pass(new Date(Date.UTC(2026, 0, day)).toISOString());
  }
  assert.is(questions(), 60);
  assert.ok(asked.length > 60);
});

test('of a payment that a provider has under way the provider decides, and cancelling asks it', async () => {
  const { provider } = testProvider([], ['PAYMENT_LINK']);
  const { invoice, pay, call } = await paidWorld({ provider });
  const { id } = await pay(await invoice(hundred), '100', page);
  const put = call('PUT /payments/{id}', { params: { id }, body: { payment_status: 'SUCCEEDED' } });
  assert.is((await rejection(put)).details?.reason, 'payment_state');
  const body = { reason: 'Ordered by mistake.' };
  const ended = await call('POST /payments/{id}/cancel', { params: { id }, body });
  assert.equal([ended.payment_status, ended.error_message], ['FAILED', 'Ordered by mistake.']);
});

test('a credit note that comes before a refund is sent ends it, and nothing goes back', async () => {
  const { provider } = testProvider([]);
  const { invoice, pay, request, credit, settle, stateOf, paymentOf, prepaid } = await paidWorld({
    provider,
  });
  const id = await invoice(hundred);
  const { id: payId } = await pay(id, '100', card);
  const refund_id = 'refund_1' as RefundId;
  const amount = '50' as DecimalText;
  // Both have looked at the invoice before either is decided.
  const begin = startRefund(payId, { refund_id, amount, reason: null }, '100' as DecimalText);
  await credit(id, { [(await stateOf(id)).lines[0]?.id ?? '']: '60' });
  await request().execute(payment, payId, begin);
  await settle();
  const { refunds, payment_status } = await paymentOf(payId);
  assert.equal([refunds[0]?.refund_status, payment_status], ['FAILED', 'SUCCEEDED']);
  assert.equal([amountsOf(await stateOf(id)).amount_remaining, await prepaid()], ['0', ['60']]);
});

/** A card payment of all of an invoice whose end is not known yet, and that a caller cancels, and then gives up. */
async function givenUp(fates: readonly Fate[]) {
  const made = testProvider(fates);
  const world = await paidWorld({ provider: made.provider });
  const id = await world.invoice(hundred);
  const { id: payId } = await world.pay(id, '100', card);
  const params = { id: payId };
  const giveUp = () =>
    world.call('PUT /payments/{id}', { params, body: { payment_status: 'FAILED' } });
  assert.is((await rejection(giveUp())).details?.reason, 'payment_state');
  made.state.isAway = true;
  await world.call('POST /payments/{id}/cancel', { params });
  await giveUp();
  made.state.isAway = false;
  return { ...made, ...world, id, payId };
}

test('money that was taken for a payment which a caller has given up is recorded, and goes to the invoice', async () => {
  const { settle, paymentOf, payId, stateOf, id } = await givenUp(['answers', 'takes it unheard']);
  assert.is((await paymentOf(payId)).payment_status, 'FAILED');
  await settle();
  const paid = await paymentOf(payId);
  assert.equal([paid.payment_status, paid.gateway_payment_id], ['SUCCEEDED', 'ch_1']);
  assert.is((await stateOf(id)).payments.length, 1);
});

test('it goes to the customer where the invoice was paid otherwise meanwhile, also when the payment was deleted', async () => {
  const unheard = ['answers', 'takes it unheard'] as const;
  const { settle, pay, call, payId, id, prepaid } = await givenUp(unheard);
  await call('DELETE /payments/{id}', { params: { id: payId } });
  await pay(id, '100');
  await settle();
  assert.equal(await prepaid(), ['100']);
  const shown = await call('GET /payments/{id}', { params: { id: payId } });
  assert.equal([shown.payment_status, shown.excess_amount], ['SUCCEEDED', '100']);
});

test('a payment that was given up before anything was taken is never taken', async () => {
  const { settle, taken, paymentOf, payId } = await givenUp(['answers', 'is away']);
  await settle();
  assert.is(taken.size, 0);
  assert.is((await paymentOf(payId)).payment_status, 'FAILED');
});

test.run();
