import { type MemoryWorld, rejection } from '@counterfoil/testkit';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { wallet } from '../../wallets/index.ts';
import { amountsOf } from '../invoice.ts';
import { day, invoiceWorld } from '../test-invoice-world.ts';

const test = suite('finalisation of an invoice whose process dies');

/** A month that is over, with calls, a coupon for one invoice and two wallets: what follows makes an invoice final. */
async function monthOver() {
  const month = await invoiceWorld();
  const { wallet: open, coupon, create, use, pass, world } = month;
  const first = await open('5', { allow_multiple: true, priority: 1 });
  const second = await open('50', { allow_multiple: true });
  const { id: ten } = await coupon();
  const { id: one } = await coupon({ name: 'One', cadence: 'once', percentage_off: '1' });
  await create({ coupons: [ten, one] });
  use(1300, day(1, 3));
  await pass(day(2, 1));
  return { ...month, first, second, start: world.store.log.length };
}

type Month = Awaited<ReturnType<typeof monthOver>>;
const fates = ['unavailable', 'lost_unheard', 'written_unheard'] as const;

/** Lets the delay pass in a process that dies at an append, and never comes back. */
async function dyingAt(month: Month, number: number, fate: (typeof fates)[number]): Promise<void> {
  const { store } = month.world;
  let count = 0;
  store.fate = () => {
    count += 1;
    if (count < number) return 'written';
    return count === number ? fate : 'unavailable';
  };
  await month.pass(day(2, 1, 2)).catch(() => undefined);
  store.fate = () => 'written';
  assert.ok(count >= number, 'it takes fewer appends than this');
}

async function assertEnd({
  world,
  invoices,
  balance,
  first,
  second,
  typesOf,
  request,
  start,
}: Month) {
  const [, cycle, ...others] = await invoices();
  assert.equal(others, []);
  assert.is(cycle?.invoice_status, 'FINALIZED');
  assert.is(cycle?.invoice_number, 'INV-202602-00001');
  assert.equal(
    [cycle?.subtotal, cycle?.total_discount, cycle?.total_credits, cycle?.total_tax, cycle?.total],
    ['122', '12.2', '19.8', '10.98', '100.98'],
  );
  assert.is(cycle && amountsOf(cycle).amount_remaining, '100.98');
  assert.equal([await balance(first.id), await balance(second.id)], ['0', '35.2']);
  const types = world.store.log.slice(start).map(({ type }) => type);
  const count = (wanted: string) => types.filter((type) => type === wanted).length;
  assert.equal(
    ['FinalizationStarted', 'NumberTaken', 'InvoiceFinalized', 'CreditsHeld', 'HoldCaptured'].map(
      count,
    ),
    [1, 1, 1, 2, 2],
  );
  for (const { id } of [first, second]) {
    assert.equal((await request().load(wallet, id))?.holds, []);
  }
  assert.is(typesOf('coupon_use').length, 1);
}

/** Another process finds what is left to do. */
async function goOn(month: Month, by: MemoryWorld): Promise<void> {
  await month.pass(day(2, 1, 2));
  await month.settle(by);
}

test('it takes ten appends', async () => {
  const month = await monthOver();
  const before = month.world.store.appends;
  await month.pass(day(2, 1, 2));
  assert.is(month.world.store.appends - before, 10);
  await assertEnd(month);
});

for (const fate of fates) {
  for (let number = 1; number <= 10; number += 1) {
    test(`ended by another process after append ${number} was ${fate}`, async () => {
      const month = await monthOver();
      await dyingAt(month, number, fate);
      await goOn(month, month.another());
      await assertEnd(month);
    });
  }
}

test('two processes that make it final at the same time do together what one would do', async () => {
  const month = await monthOver();
  await dyingAt(month, 2, 'unavailable');
  await Promise.all([month.settle(month.another()), month.settle(month.another())]);
  await goOn(month, month.another());
  await assertEnd(month);
});

test('what a wallet does not have any more when it is asked is paid by others, and the rest is left to be paid', async () => {
  const month = await monthOver();
  const { first, second, call } = month;
  await dyingAt(month, 2, 'lost_unheard');
  for (const { id } of [first, second]) {
    await call('POST /wallets/{id}/debit', { params: { id }, body: { credits: '4' } });
  }
  await goOn(month, month.another());
  const [, cycle] = await month.invoices();
  assert.equal([cycle?.total_credits, cycle?.total], ['19.8', '100.98']);
  assert.equal([await month.balance(first.id), await month.balance(second.id)], ['0', '27.2']);
});

test('a wallet that is frozen between its hold and the end pays what it holds', async () => {
  const month = await monthOver();
  await dyingAt(month, 4, 'unavailable');
  const { id } = month.first;
  const state = await month.request().load(wallet, id);
  assert.is(state?.holds.length, 1);
  const hold_id = state?.holds[0]?.id ?? '';
  for (const route of [
    'POST /wallets/{id}/holds/{hold_id}/void',
    'PUT /wallets/{id}/holds/{hold_id}',
  ]) {
    const problem = await rejection(month.call(route, { params: { id, hold_id }, body: {} }));
    assert.is(problem.details?.reason, 'hold_of_invoice');
  }
  await month.call('POST /wallets/{id}/freeze', { params: { id } });
  await goOn(month, month.another());
  await assertEnd(month);
});

/** The process that goes on dies at an append too. */
async function goingOnUntil(month: Month, number: number): Promise<void> {
  const { store } = month.world;
  let count = 0;
  store.fate = () => {
    count += 1;
    return count < number ? 'written' : 'unavailable';
  };
  await month.settle(month.another()).catch(() => undefined);
  store.fate = () => 'written';
  assert.ok(count >= number, 'it takes fewer appends than this');
}

/** The plan to take of both wallets, and the first of them empty before it is asked. */
async function firstEmptied() {
  const month = await monthOver();
  await dyingAt(month, 2, 'written_unheard');
  const params = { id: month.first.id };
  await month.call('POST /wallets/{id}/debit', { params, body: { credits: '5' } });
  const topUp = {
    ...{ credits_to_add: '50', transaction_reason: 'FREE_CREDIT_GRANT' },
    idempotency_key: 'later',
  };
  return {
    ...month,
    topUp: () => month.call('POST /wallets/{id}/top-up', { params, body: topUp }),
    holds: async () => (await month.request().load(wallet, month.first.id))?.holds,
  };
}

test('credits that come to a wallet when the invoice is final are not held for it by who goes on', async () => {
  const month = await firstEmptied();
  await goOn(month, month.another());
  const [, cycle] = await month.invoices();
  assert.equal(
    cycle?.taken.map(({ wallet_id }) => wallet_id),
    [month.second.id],
  );
  await month.topUp();
  await month.settle(month.another());
  assert.equal(await month.holds(), []);
});

test('credits that come to a wallet which was passed over, before the invoice is final, do not keep it from being so', async () => {
  const month = await firstEmptied();
  // That the first has nothing, the hold of the second, and then its number, which is not taken.
  await goingOnUntil(month, 3);
  await month.topUp();
  await goOn(month, month.another());
  const [, cycle] = await month.invoices();
  assert.is(cycle?.invoice_status, 'FINALIZED');
  assert.equal([cycle?.total_credits, cycle?.total], ['19.8', '100.98']);
  assert.equal([await month.balance(month.first.id), await month.holds()], ['50', []]);
});

test.run();
