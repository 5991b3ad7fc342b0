import { reactTo, rejection } from '@counterfoil/testkit';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { couponRedemptions } from '../../coupons/index.ts';
import { wallet, walletTable } from '../../wallets/index.ts';
import { invoice } from '../invoice.ts';
import { notePayment } from '../settling/payments.ts';
import { billingWorld } from '../test-billing-world.ts';
import { voidedInvoices } from './reactions.ts';

const test = suite('void invoices');

type World = Awaited<ReturnType<typeof billingWorld>>;

/** The balances of all wallets of the customer, oldest first. */
async function balances({ request }: Pick<World, 'request'>): Promise<readonly string[]> {
  const { items } = await request().read.list(walletTable, { limit: 100, offset: 0 }, []);
  return items.map(({ balance }) => balance).toReversed();
}

/** An invoice of 50 of usage and 50 fixed, with 10 % tax, of which a wallet of 30 pays 30. */
async function paidByCredits(world: World) {
  const { id: walletId } = await world.wallet('30');
  const { id } = await world.make({
    line_items: [
      { display_name: 'Calls', amount: '50', quantity: '5', price_type: 'USAGE' },
      { display_name: 'Base', amount: '50', quantity: '1' },
    ],
  });
  await world.settle();
  return { id, walletId };
}

test('a draft and an invoice that nobody has paid are void without more', async () => {
  const world = await billingWorld();
  const { make, makeVoid } = world;
  for (const body of [{ invoice_status: 'DRAFT' }, {}]) {
    const { id } = await make(body);
    const { invoice: shown } = await makeVoid(id);
    assert.equal(
      [shown.invoice_status, shown.payment_status, shown.amount_remaining],
      ['VOIDED', 'PENDING', '0'],
    );
    assert.ok(shown.voided_at);
  }
  assert.equal(await balances(world), []);
});

test('money goes to a wallet of the customer, as a lot of its own', async () => {
  const world = await billingWorld();
  const { make, pay, makeVoid } = world;
  const { id } = await make();
  await pay(id, '60');
  const { invoice: shown } = await makeVoid(id);
  assert.equal(
    [shown.payment_status, shown.amount_paid, shown.amount_remaining],
    ['REFUNDED', '60', '0'],
  );
  assert.equal(await balances(world), ['60']);
});

test('what was paid beyond what was owed does not come twice', async () => {
  const world = await billingWorld();
  const { make, pay, makeVoid } = world;
  const { id } = await make();
  await pay(id, '150');
  await makeVoid(id);
  assert.equal(await balances(world), ['110']);
});

test('prepaid credits go back to the lots that paid, and the money beside', async () => {
  const world = await billingWorld();
  const { pay, makeVoid, request, stateOf } = world;
  const { id, walletId } = await paidByCredits(world);
  assert.equal([(await stateOf(id))?.total, await balances(world)], ['80', ['0']]);
  await pay(id, '80');
  const lots = async () =>
    (await request().load(wallet, walletId))?.lots.map(({ remaining, class: kind }) => [
      kind,
      remaining,
    ]);
  await makeVoid(id);
  assert.equal(await lots(), [
    ['free', '30'],
    ['free', '80'],
  ]);
  // Whoever carries it out again changes nothing.
  await reactTo(request(), voidedInvoices, id);
  assert.equal(await balances(world), ['110']);
});

test('an invoice that is void before its credits were debited gives them back as well', async () => {
  const world = await billingWorld();
  const { id: walletId } = await world.wallet('30');
  const { id } = await world.make({
    line_items: [{ display_name: 'Calls', amount: '100', quantity: '5', price_type: 'USAGE' }],
  });
  const held = await world.request().load(wallet, walletId);
  assert.is(held?.holds.length, 1);
  await world.makeVoid(id);
  await world.settle();
  const after = await world.request().load(wallet, walletId);
  assert.equal([after?.holds.length, after?.credit_balance], [0, '30']);
});

test('of a wallet that was closed meanwhile the customer gets the worth in another', async () => {
  const world = await billingWorld();
  const { id, walletId } = await paidByCredits(world);
  await world.call('POST /wallets/{id}/terminate', { params: { id: walletId } });
  await world.makeVoid(id);
  assert.equal(await balances(world), ['0', '30']);
});

test('coupons that were redeemed for it can be redeemed again', async () => {
  const { make, makeVoid, coupon, request } = await billingWorld();
  const id = await coupon({ max_redemptions: 1 });
  const first = await make({ coupons: [id] });
  await rejection(make({ coupons: [id] }));
  await makeVoid(first.id);
  assert.is((await request().load(couponRedemptions, id))?.total, 0);
  assert.is((await make({ coupons: [id] })).total_discount, '10');
});

test('a void invoice, and one of which a payment is under way, cannot be void', async () => {
  const { make, makeVoid, request } = await billingWorld();
  const { id } = await make();
  await makeVoid(id);
  assert.is((await rejection(makeVoid(id))).details?.reason, 'voided');
  const other = await make();
  const noted = { payment_id: 'pay_1', payment_status: 'PROCESSING' as const };
  await request().execute(invoice, other.id, notePayment(noted));
  const problem = await rejection(makeVoid(other.id));
  assert.equal([problem.code, problem.details?.reason], ['invalid_operation', 'payment_under_way']);
  assert.is((await rejection(makeVoid('inv_x'))).code, 'not_found');
});

test('while an invoice is being made final it waits', async () => {
  const { make, makeVoid, update, world } = await billingWorld();
  let number = 0;
  world.store.fate = () => {
    number += 1;
    return number > 1 ? 'unavailable' : 'written';
  };
  const { id, invoice_status } = await make();
  world.store.fate = () => 'written';
  assert.is(invoice_status, 'DRAFT');
  for (const work of [makeVoid(id), update(id, { metadata: { a: '1' } })]) {
    const problem = await rejection(work);
    assert.equal([problem.code, problem.retryAfterSeconds], ['service_unavailable', 1]);
  }
});

test.run();
