import { callRoute, rejection } from '@counterfoil/testkit';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { walletRoutes } from '../routes.ts';
import { walletWorld } from '../test-wallet-world.ts';
import { wallet } from '../wallet.ts';
import { invoiceOfOrder } from './decisions.ts';
import { topUpRoutes } from './routes.ts';

const test = suite('top-ups that wait for their payment');

const order = (credits: string, more: object = {}) => ({
  transaction_reason: 'PURCHASED_CREDIT_INVOICED',
  credits_to_add: credits,
  ...more,
});

const code = async (answer: Promise<unknown>) => (await rejection(answer)).code;

/** A wallet with 100 credits and an order of 50 more. */
async function walletWithOrder(more: object = {}, body: object = {}) {
  const world = await walletWorld(body);
  const { wallet_transaction: entry, wallet } = await world.topUp(order('50', more), 'key');
  return { ...world, entry, ordered: wallet };
}

test('an order is an entry that changes no balance and makes no lot', async () => {
  const { entry, ordered, wallet, entries } = await walletWithOrder();
  assert.is(entry.transaction_status, 'pending');
  assert.is(entry.type, 'credit');
  assert.equal([entry.credit_balance_before, entry.credit_balance_after], ['100', '100']);
  assert.is(entry.credits_available, '0');
  assert.is(ordered.credit_balance, '100');
  assert.equal(await wallet(), ordered);
  assert.equal((await entries({ transaction_status: 'pending' }))[0], entry);
  assert.is((await entries()).length, 2);
});

test('an amount beside the credits has to be worth them', async () => {
  const { topUp } = await walletWorld();
  const free = { transaction_reason: 'FREE_CREDIT_GRANT', credits_to_add: '1' };
  assert.is((await topUp({ ...free, amount: '1' })).wallet.credit_balance, '101');
  const refused = await rejection(topUp({ ...free, amount: '7' }));
  assert.is(refused.code, 'validation_error');
  assert.is(refused.errors?.[0]?.pointer, '/amount');
});

test('completing it loads what was ordered, under the same id and the time of the order', async () => {
  const { entry, complete, pass, entries, debit, world } = await walletWithOrder();
  pass(60);
  await debit('10');
  const { wallet, wallet_transaction: done } = await complete(entry.id);
  assert.is(wallet.credit_balance, '140');
  assert.equal(wallet.credits_available_breakdown, { free: '90', purchased: '50' });
  assert.equal(done, {
    ...entry,
    transaction_status: 'completed',
    sequence: 3,
    credit_balance_before: '90',
    credit_balance_after: '140',
    credits_available: '50',
    updated_at: world.now,
    effective_at: world.now,
    completed_at: world.now,
  });
  assert.equal((await entries({ id: entry.id }))[0], done);
});

test('it ends exactly once; the same end again is answered the same, the other one refused', async () => {
  const completed = await walletWithOrder();
  const first = await completed.complete(completed.entry.id, 'once');
  const length = completed.world.store.log.length;
  assert.equal(await completed.complete(completed.entry.id, 'once'), first);
  assert.equal(await completed.complete(completed.entry.id), first);
  assert.is(await code(completed.cancel(completed.entry.id)), 'invalid_operation');
  assert.is(await code(completed.cancel(completed.entry.id, 'other')), 'invalid_operation');
  assert.is(completed.world.store.log.length, length, 'what is refused leaves nothing');
  assert.equal(await completed.complete(completed.entry.id, 'twice'), first);
  assert.equal(await completed.complete(completed.entry.id, 'twice'), first);
  const kept = completed.world.store.log.slice(length).map(({ type }) => type);
  assert.equal(kept, ['RequestWithoutEffect']);
  assert.equal(await completed.wallet(), first.wallet);

  const cancelled = await walletWithOrder();
  const end = await cancelled.cancel(cancelled.entry.id);
  assert.is(end.wallet_transaction.transaction_status, 'failed');
  assert.is(end.wallet.credit_balance, '100');
  assert.equal(await cancelled.cancel(cancelled.entry.id), end);
  assert.is(await code(cancelled.complete(cancelled.entry.id)), 'invalid_operation');
});

test('the same end once more is answered under its key as it was, whatever was drawn since', async () => {
  const { complete, debit, entry } = await walletWithOrder();
  const first = await complete(entry.id);
  await debit('101');
  const later = await complete(entry.id, 'again');
  assert.is.not(
    later.wallet_transaction.credits_available,
    first.wallet_transaction.credits_available,
    'it shows the entry beside its wallet, both of one moment',
  );
  await debit('1');
  assert.equal(await complete(entry.id, 'again'), later);
});

test('two at once: one load', async () => {
  const { entry, complete, entries } = await walletWithOrder();
  const [one, other] = await Promise.all([complete(entry.id), complete(entry.id, 'key')]);
  assert.equal(one, other);
  assert.is((await entries({ type: 'credit' })).length, 2);
});

test('one that ends between look and decision is refused and leaves nothing of the refusal', async () => {
  for (const [route, other, status] of [
    [topUpRoutes['POST /wallets/transactions/{id}/complete'], 'cancel', 'completed'],
    [topUpRoutes['POST /wallets/transactions/{id}/cancel'], 'complete', 'failed'],
  ] as const) {
    const world = await walletWithOrder();
    const context = world.request('late', 'key');
    const looked = await context.load(wallet, world.id);
    let length = 0;
    const load = async () => {
      Object.assign(context, { load: () => world.request().load(wallet, world.id) });
      await world[other](world.entry.id);
      length = world.world.store.log.length;
      return looked;
    };
    Object.assign(context, { load });
    const answer = callRoute(route, context, { params: { id: world.entry.id } });
    assert.is(await code(answer), 'invalid_operation', status);
    assert.is(world.world.store.log.length, length);
  }
});

test('it is completed although no read shows it yet', async () => {
  const { entry, request } = await walletWithOrder();
  const context = request();
  Object.assign(context, { read: { find: () => Promise.resolve(null) } });
  const route = topUpRoutes['POST /wallets/transactions/{id}/complete'];
  const { wallet } = await callRoute(route, context, { params: { id: entry.id } });
  assert.is(wallet.credit_balance, '150');
});

test('a frozen wallet takes what was paid for', async () => {
  const { entry, complete, freeze } = await walletWithOrder();
  await freeze();
  assert.is((await complete(entry.id)).wallet.credit_balance, '150');
});

test('termination ends what waits, and it cannot be completed any more', async () => {
  const { entry, complete, cancel, terminate, entries } = await walletWithOrder();
  await terminate();
  assert.is((await entries({ id: entry.id }))[0]?.transaction_status, 'failed');
  assert.is(await code(complete(entry.id)), 'invalid_operation');
  assert.is((await cancel(entry.id)).wallet_transaction.transaction_status, 'failed');
});

test('an order whose credits would have expired cannot be completed, booked or not', async () => {
  const world = await walletWorld();
  const expiry_date_utc = world.later(60);
  const { wallet_transaction: entry } = await world.topUp(order('50', { expiry_date_utc }));
  world.pass(60);
  const length = world.world.store.log.length;
  assert.is(await code(world.complete(entry.id)), 'invalid_operation');
  assert.is(world.world.store.log.length, length, 'a refusal stores nothing');
  await world.debit('1');
  const [failed] = await world.entries({ id: entry.id });
  assert.is(failed?.transaction_status, 'failed');
  assert.is(await code(world.complete(entry.id)), 'invalid_operation');
});

test('what was never an order cannot be completed, and what is nothing is not found', async () => {
  const { debit, complete, cancel } = await walletWorld();
  const { wallet_transaction: entry } = await debit('1');
  assert.is(await code(complete(entry.id)), 'invalid_operation');
  assert.is(await code(cancel(entry.id)), 'invalid_operation');
  assert.is(await code(complete('wtxn_none')), 'not_found');
  assert.is(await code(cancel('wtxn_none')), 'not_found');
});

test('a repeated order is answered as the first; another body is another order', async () => {
  const { topUp, entry, ordered } = await walletWithOrder();
  assert.equal(await topUp(order('50'), 'key'), {
    wallet: ordered,
    wallet_transaction: entry,
    invoice_id: invoiceOfOrder(entry.id),
  });
  assert.is.not((await topUp(order('50'), 'other')).wallet_transaction.id, entry.id);
});

test('an order by amount keeps amount, credits and rate as they were', async () => {
  const world = await walletWorld({ topup_conversion_rate: '3' });
  const { wallet_transaction: entry } = await world.topUp({
    transaction_reason: 'PURCHASED_CREDIT_INVOICED',
    amount: '10',
  });
  assert.equal([entry.amount, entry.credit_amount], ['10', '3.333333333']);
  const { wallet_transaction: done } = await world.complete(entry.id);
  assert.equal([done.amount, done.credit_amount], ['10', '3.333333333']);
});

test('a bonus cannot be ordered, and orders of one wallet are limited', async () => {
  const { topUp } = await walletWorld();
  assert.is(await code(topUp(order('1', { bonus_credits_to_add: '1' }))), 'validation_error');
  for (let count = 0; count < 100; count += 1) await topUp(order('1'));
  assert.is(await code(topUp(order('1'))), 'invalid_operation');
});

test('orders are in the search of all wallets', async () => {
  const { entry, request } = await walletWithOrder();
  const search = walletRoutes['POST /wallets/transactions/search'];
  const { items } = await callRoute(search, request(), { body: { transaction_status: 'pending' } });
  assert.equal(items, [entry]);
});

test.run();
