import { type Instant, instantOf, millisecondsOf } from '@counterfoil/kernel';
import { callRoute, rejection } from '@counterfoil/testkit';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { auditRoutes } from '../audit/routes.ts';
import { settleDue } from '../decisions.ts';
import { walletWorld } from '../test-wallet-world.ts';
import { wallet as aggregate } from '../wallet.ts';

const test = suite('times of entries, and statements');

/** A wallet with 100 credits, and its statements: balances as figures, rows as changes of credits. */
async function statements() {
  const world = await walletWorld();
  const { id, request, entries } = world;
  const balanceAt = async (as_of: Instant) =>
    Number(
      (
        await callRoute(auditRoutes['GET /wallets/{id}/balance'], request(), {
          params: { id },
          query: { as_of },
        })
      ).credit_balance,
    );
  const after = (instant: Instant) => instantOf(millisecondsOf(instant) + 1);
  return {
    ...world,
    settle: () => request().execute(aggregate, id, settleDue(id)),
    row: async (entry: string) => (await entries({ id: entry }))[0],
    statement: async (from: Instant, to: Instant) => {
      const rows = await entries({
        start_time: after(from),
        end_time: to,
        transaction_status: 'completed',
      });
      const changes = rows.map(({ type, credit_amount }) =>
        type === 'credit' ? Number(credit_amount) : -Number(credit_amount),
      );
      return { opening: await balanceAt(from), changes, closing: await balanceAt(to) };
    },
  };
}

const order = { transaction_reason: 'PURCHASED_CREDIT_INVOICED', credits_to_add: '50' };

test('an entry that is final at once has one instant', async () => {
  const { debit, world } = await statements();
  const { wallet_transaction: row } = await debit('10');
  assert.equal(
    [row.effective_at, row.recorded_at, row.completed_at],
    [world.now, world.now, world.now],
  );
});

test('an order that is paid counts from its payment, also after credits were drawn from it', async () => {
  const { topUp, pass, complete, debit, row, world } = await statements();
  const ordered = world.now;
  const { wallet_transaction: pending } = await topUp(order);
  assert.equal(
    [pending.effective_at, pending.recorded_at, pending.completed_at],
    [ordered, ordered, undefined],
  );
  pass(60);
  const paid = world.now;
  await complete(pending.id);
  pass(60);
  await debit('120');
  const shown = await row(pending.id);
  assert.is(shown?.credits_available, '30', 'the debit drew from it');
  assert.equal(
    [shown?.effective_at, shown?.recorded_at, shown?.completed_at],
    [paid, ordered, paid],
  );
});

test('a statement over the payment of an order adds up', async () => {
  const { topUp, pass, complete, debit, statement, world } = await statements();
  const { wallet_transaction: pending } = await topUp(order);
  pass(10);
  await debit('10');
  const from = world.now;
  pass(10);
  await complete(pending.id);
  pass(10);
  await debit('5');
  assert.equal(await statement(from, world.now), { opening: 90, changes: [-5, 50], closing: 135 });
});

test('an expiry that is booked late stands at its own instant in a statement', async () => {
  const { topUp, pass, settle, statement, later, entries, world } = await statements();
  const expiry_date_utc = later(60);
  await topUp({ transaction_reason: 'FREE_CREDIT_GRANT', credits_to_add: '7', expiry_date_utc });
  const [from, to] = [later(30), later(90)];
  pass(3600);
  await settle();
  assert.equal(await statement(from, to), { opening: 107, changes: [-7], closing: 100 });
  assert.equal(await statement(to, world.now), { opening: 100, changes: [], closing: 100 });
  const [expiry] = await entries({ transaction_reason: ['CREDIT_EXPIRED'] });
  assert.equal(
    [expiry?.effective_at, expiry?.recorded_at, expiry?.completed_at],
    [expiry_date_utc, world.now, world.now],
  );
});

test('nobody knows a balance of the future, or what will be known', async () => {
  const { id, request, later } = await walletWorld();
  for (const name of ['as_of', 'known_at']) {
    const query = { [name]: later(1) };
    const refused = await rejection(
      callRoute(auditRoutes['GET /wallets/{id}/balance'], request(), { params: { id }, query }),
    );
    assert.equal([refused.code, refused.errors?.[0]?.pointer], ['validation_error', `/${name}`]);
  }
});

test('both ends of a period belong to it', async () => {
  const { debit, pass, entries, world } = await statements();
  pass(10);
  const instant = world.now;
  await debit('1');
  pass(10);
  await debit('2');
  const found = await entries({ start_time: instant, end_time: instant });
  assert.equal(
    found.map(({ credit_amount }) => credit_amount),
    ['1'],
  );
});

test.run();
