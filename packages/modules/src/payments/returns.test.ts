import { type DecimalText, decimal, Problem } from '@counterfoil/kernel';
import { rejection } from '@counterfoil/testkit';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { amountsOf, paymentStatusOf } from '../invoices/index.ts';
import { paidWorld } from '../test-paid-world.ts';

const test = suite('money of payments that goes back');

const hundred = { lines: [{ amount: '100' }] };
const postPaid = { wallet_type: 'POST_PAID' };
const byCredits = { payment_method_type: 'CREDITS' };

type World = Awaited<ReturnType<typeof paidWorld>>;

/** The sum of amounts. */
const sum = (amounts: readonly string[]): string =>
  amounts
    .reduce((all, amount) => all.plus(decimal(amount as DecimalText)), decimal('0'))
    .toString();

/** An invoice of a hundred that is paid, and what others may give back of it. */
async function paidInvoice(body: object = {}) {
  const world = await paidWorld();
  const id = await world.invoice(hundred);
  const { id: payId } = await world.pay(id, '100', body);
  const put = (given: object, key?: string) =>
    world.call('PUT /payments/{id}', {
      params: { id: payId },
      body: given,
      ...(key === undefined ? {} : { key }),
    });
  return { ...world, id, payId, put };
}

/** The ways in which a customer gets money of an invoice as credits. */
const ways = {
  'a void': ({ makeVoid }: World, id: string) => makeVoid(id),
  'a credit note': async ({ credit, stateOf }: World, id: string) =>
    credit(id, { [(await stateOf(id)).lines[0]?.id ?? '']: '100' }),
} as const;

/** Lets a process die at an append from now on. */
function dyingAt({ world }: World, number: number): { readonly count: () => number } {
  let count = 0;
  world.store.fate = () => {
    count += 1;
    return count >= number ? 'unavailable' : 'written';
  };
  return { count: () => count };
}

for (const [name, way] of Object.entries(ways)) {
  test(`${name}, wherever it comes between a refund and its invoice, does not pay twice`, async () => {
    for (let number = 1, isWhole = false; !isWhole; number += 1) {
      const made = await paidInvoice();
      const { put, settle, world, id, paymentOf, payId, prepaid } = made;
      const { count } = dyingAt(made, number);
      const refund = put({ payment_status: 'REFUNDED' }, 'one');
      await refund.catch((error: unknown) => assert.instance(error, Problem));
      isWhole = count() < number;
      world.store.fate = () => 'written';
      await way(made, id).catch((error: unknown) => assert.instance(error, Problem));
      await settle();
      await settle(made.another());
      const { returned, payment_status } = await paymentOf(payId);
      const given = await prepaid();
      assert.is(sum([returned, ...given]), '100', `${name} after append ${number}`);
      assert.is(payment_status, returned === '0' ? 'SUCCEEDED' : 'REFUNDED');
    }
  });
}

test('a refund that comes too late is refused, and a repetition of it too', async () => {
  const made = await paidInvoice();
  const { put, makeVoid, world, id, settle } = made;
  dyingAt(made, 2);
  await put({ payment_status: 'REFUNDED' }, 'one');
  world.store.fate = () => 'written';
  await makeVoid(id);
  assert.is(
    (await rejection(put({ payment_status: 'REFUNDED' }, 'one'))).code,
    'invalid_operation',
  );
  await settle();
  const refused = await rejection(put({ payment_status: 'REFUNDED' }, 'one'));
  assert.is(refused.details?.reason, 'payment_state');
  // What is told of it later is told.
  assert.equal((await put({ metadata: { a: '1' } })).metadata, { a: '1' });
});

test('a part that is not all there any more goes back as a whole or not at all', async () => {
  const made = await paidInvoice();
  const { put, credit, world, id, stateOf, settle, paymentOf, payId, prepaid } = made;
  dyingAt(made, 2);
  await put({ payment_status: 'PARTIALLY_REFUNDED', refunded_amount: '50' });
  world.store.fate = () => 'written';
  assert.is((await rejection(put({ payment_status: 'REFUNDED' }))).code, 'service_unavailable');
  await credit(id, { [(await stateOf(id)).lines[0]?.id ?? '']: '60' });
  await settle();
  assert.equal([(await paymentOf(payId)).returned, await prepaid()], ['0', ['60']]);
  assert.is((await put({ payment_status: 'REFUNDED' })).refunded_amount, '40');
});

test('credits of a wallet that was closed meanwhile go back as money', async () => {
  const { wallet, invoice, pay, call, prepaid, settle } = await paidWorld();
  const one = await wallet('100', { ...postPaid, conversion_rate: '2' });
  const { id } = await pay(await invoice(hundred), '100', byCredits);
  await call('POST /wallets/{id}/terminate', { params: { id: one } });
  await call('PUT /payments/{id}', { params: { id }, body: { payment_status: 'REFUNDED' } });
  await settle();
  assert.equal(await prepaid(), ['100']);
});

/** An invoice of a hundred that a wallet has paid, whose entry can be reversed. */
async function paidByWallet(rate = '1') {
  const world = await paidWorld();
  const walletId = await world.wallet('300', { ...postPaid, conversion_rate: rate });
  const id = await world.invoice(hundred);
  const paid = await world.pay(id, '100', byCredits);
  const reverse = (body: object = {}) =>
    world.call('POST /wallets/{id}/transactions/{transaction_id}/reverse', {
      params: { id: walletId, transaction_id: String(paid.wallet_transaction_id) },
      body,
    });
  return { ...world, walletId, id, payId: paid.id, reverse };
}

test('an invoice is owed again when the entry is reversed by which a wallet has paid it', async () => {
  const { reverse, settle, stateOf, id, paymentOf, payId, balance, walletId } =
    await paidByWallet();
  await reverse();
  await settle();
  await settle();
  const state = await stateOf(id);
  assert.equal([amountsOf(state).amount_remaining, paymentStatusOf(state)], ['100', 'PENDING']);
  const { payment_status, returned } = await paymentOf(payId);
  assert.equal([payment_status, returned, await balance(walletId)], ['REFUNDED', '100', '300']);
});

test('parts that are reversed are owed as the money that they were, and together as all of it', async () => {
  const { reverse, settle, stateOf, id, paymentOf, payId } = await paidByWallet('3');
  const left: string[] = [];
  for (const body of [{ credits: '10' }, { credits: '0.001' }, {}]) {
    await reverse(body);
    await settle();
    left.push(amountsOf(await stateOf(id)).amount_remaining);
  }
  assert.equal(left, ['30', '30', '100']);
  assert.is((await paymentOf(payId)).payment_status, 'REFUNDED');
});

test('what is reversed beside a refund, a void or a credit note goes back once', async () => {
  type Act = (world: Awaited<ReturnType<typeof paidByWallet>>, id: string) => unknown;
  const acts: Readonly<Record<string, Act>> = {
    ...ways,
    'a refund': ({ call, payId }) =>
      call('PUT /payments/{id}', {
        params: { id: payId },
        body: { payment_status: 'PARTIALLY_REFUNDED', refunded_amount: '80' },
      }),
  };
  for (const [name, act] of Object.entries(acts)) {
    const made = await paidByWallet();
    await made.reverse({ credits: '40' });
    await act(made, made.id);
    await made.settle();
    await made.settle();
    const owed = amountsOf(await made.stateOf(made.id)).amount_remaining;
    const credits = sum([await made.balance(made.walletId), ...(await made.prepaid())]);
    // Credits that came back are owed, or were given back for good.
    const expected = {
      'a void': ['0', '300'],
      'a credit note': ['0', '300'],
      'a refund': ['100', '300'],
    };
    assert.equal([owed, credits], expected[name as keyof typeof expected], name);
  }
});

test.run();
