import { callRoute, rejection } from '@counterfoil/testkit';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { reversalRoutes } from '../reversals/routes.ts';
import { debitsWorld } from './test-debits-world.ts';

const reverse = reversalRoutes['POST /wallets/{id}/transactions/{transaction_id}/reverse'];

const test = suite('debits of a customer that are dated back');

/** Wallets of 10 and 20, the second with automatic top-up; an instant, and 5 more in the first after it. */
async function history() {
  const world = await debitsWorld();
  const a = await world.open('10');
  const b = await world.open('20', {
    auto_topup: { enabled: true, threshold: '0', amount: '50', invoicing: false },
  });
  world.pass(1);
  const effective_at = world.world.now;
  world.pass(1);
  await world.call('POST /wallets/{id}/top-up', a, {
    transaction_reason: 'FREE_CREDIT_GRANT',
    credits_to_add: '5',
  });
  world.pass(1);
  return { ...world, a, b, effective_at };
}

test('each entry counts from then, whether its credits were held before or not', async () => {
  const { debit, a, b, effective_at, balances } = await history();
  const { transactions } = await debit({ amount: '25', effective_at });
  assert.equal(
    transactions.map((row) => [row.wallet_id, row.credit_amount, row.effective_at]),
    [
      [a, '10', effective_at],
      [b, '15', effective_at],
    ],
  );
  assert.equal(await balances(a, b), ['5', '5']);
});

test('what came later pays nothing: more is refused, tops no wallet up, and leaves all as it was', async () => {
  const { debit, a, b, effective_at, balances, events } = await history();
  const problem = await rejection(debit({ amount: '30.5', effective_at }));
  assert.equal(problem.details, {
    reason: 'insufficient_credits_then',
    available: '30',
    requested: '30.5',
    effective_at,
  });
  assert.equal(await balances(a, b), ['15', '20']);
  assert.not.ok(events(b).slice(2).includes('CreditsLoaded'));
  await debit({ amount: '29', effective_at });
  assert.equal(await balances(a, b), ['5', '1']);
});

test('the part that is there then is taken where it may be', async () => {
  const { debit, effective_at } = await history();
  const { credits, missing } = await debit({ amount: '31', effective_at, allow_partial: true });
  assert.equal([credits, missing], ['30', '1']);
});

test('a wallet that was not there yet is passed over', async () => {
  const { debit, open, effective_at, a } = await history();
  await open('100', { priority: -1 });
  const { transactions } = await debit({ amount: '1', effective_at });
  assert.equal(
    transactions.map((row) => row.wallet_id),
    [a],
  );
});

test('what a reversal gave back later pays nothing, and what its lot had kept pays once', async () => {
  const { request, debitOne, debit, open, pass, world } = await debitsWorld();
  const [a, b] = [await open('10'), await open('10')];
  pass(1);
  const effective_at = world.now;
  pass(1);
  const { wallet_transaction: taken } = await debitOne(a, '6');
  pass(1);
  await callRoute(reverse, request(), {
    params: { id: a, transaction_id: taken.id },
    body: {},
  });
  const drawn = async () => {
    const { transactions } = await debit({ amount: '5', effective_at });
    return transactions.map((row) => [row.wallet_id, row.credit_amount]);
  };
  assert.equal(await drawn(), [
    [a, '4'],
    [b, '1'],
  ]);
  assert.equal(await drawn(), [[b, '5']]);
});

test('nothing counts from the future, from long ago, or from before there was a wallet', async () => {
  const { debit, world, pass, open } = await debitsWorld();
  const before = world.now;
  await open('10');
  const refused = await rejection(debit({ amount: '1', effective_at: before }));
  assert.equal(refused.details, {
    reason: 'no_active_wallet',
    currency: 'usd',
    effective_at: before,
  });
  pass(91 * 86_400);
  const wrong = ['2999-01-01T00:00:00.000Z', before];
  for (const effective_at of wrong) {
    assert.is((await rejection(debit({ amount: '1', effective_at }))).code, 'validation_error');
  }
});

test.run();
