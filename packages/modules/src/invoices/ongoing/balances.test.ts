import { MemoryStore, rejection } from '@counterfoil/testkit';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { balanceWorld, day, type ShownBalance } from './test-balance-world.ts';

const test = suite('what wallets have left once everything is paid (E 18.8)');

test('the worked month: 22.00 of usage on 5.00 leave -17.00, and nothing is taken off twice', async () => {
  const { create, wallet, use, pass, at, figures, balanceOf } = await balanceWorld();
  const { id } = await wallet('5');
  await create();
  await pass(day(1, 2));
  assert.is(await figures(id), '5 5: 0 0', 'fixed charges are not for this wallet');
  use(1300, day(1, 3));
  at(day(1, 25));
  assert.is(await figures(id), '-17 -17: 22 0');
  const shown = await balanceOf(id);
  assert.equal([shown.balance, shown.credit_balance, shown.position], ['5', '5', '1300']);
  await pass(day(2, 1));
  assert.is(await figures(id), '-17 -17: 0 22', 'it stands on a draft');
  await pass(day(2, 1, 2));
  // The credits have paid 5.00 of it: these are gone from the wallet, and from what is owed.
  assert.is(await figures(id), '-17 -17: 0 17');
});

test('wherever the log stands while a period is closed, billed and paid with credits, all of it is counted once', async () => {
  const { create, walletFor, use, pass, world, another, balanceOf } = await balanceWorld();
  const [first, second] = [await walletFor('1', ['USAGE']), await walletFor('50', ['USAGE'])];
  await create();
  // 200 of them are charged, at 0.02.
  use(300, day(1, 3));
  await pass(day(1, 31));
  const ends = [world.store.log.length];
  world.store.fate = () => {
    ends.push(world.store.log.length);
    return 'written';
  };
  await pass(day(2, 1, 3));
  assert.ok(ends.length > 10, `${ends.length} appends`);
  for (const end of [...ends, world.store.log.length]) {
    const store = new MemoryStore();
    for (const { stream, revision, position: _, ...event } of world.store.log.slice(0, end)) {
      await store.append(stream, [event], revision - 1);
    }
    const then = another(store);
    const left = [await balanceOf(first, then), await balanceOf(second, then)];
    const sum = left.reduce((all, shown) => all + Number(shown.real_time_balance), 0);
    assert.is(sum, 1 + 50 - 4, `after ${end} events: ${JSON.stringify(left.map(figuresIn))}`);
  }
});

const figuresIn = ({
  real_time_balance,
  current_period_usage,
  unpaid_invoices_amount,
}: ShownBalance) => [real_time_balance, current_period_usage, unpaid_invoices_amount];

test('usage above a commitment of the subscription counts with its factor, after the allowance', async () => {
  const { create, wallet, use, pass, at, figures } = await balanceWorld();
  const { id } = await wallet('50');
  await create({ commitment_amount: '10', overage_factor: '2' });
  await pass(day(1, 2));
  use(1300, day(1, 3));
  at(day(1, 25));
  // 22.00 after the allowance: 10.00, and 12.00 twice.
  assert.is(await figures(id), '16 16: 34 0');
});

/** Two invoices: 130 with 65 of usage, of which 30 are paid, and 50 of usage. */
async function twoInvoices(types: readonly string[], body: object = {}) {
  const world = await balanceWorld();
  const { walletFor, billed, received, figures } = world;
  const id = await walletFor('1000', types, body);
  const first = await billed({
    lines: [
      { price_type: 'USAGE', amount: '80', discount: '10', credits: '5' },
      { amount: '60', tax: '5' },
    ],
  });
  await received(first, '30');
  await billed({ lines: [{ price_type: 'USAGE', amount: '50' }] });
  return { ...world, id, first, shown: await figures(id) };
}

for (const [types, shown] of [
  [['USAGE'], '915 915: 0 85'],
  [['ALL'], '850 850: 0 150'],
  [['FIXED'], '850 850: 0 150'],
] as const) {
  test(`unpaid invoices are borne by a wallet for ${types}`, async () => {
    assert.is((await twoInvoices(types)).shown, shown);
  });
}

test('what was paid beyond the usage of an invoice has paid its other charges, and raises no balance', async () => {
  const { id, first, received, figures } = await twoInvoices(['USAGE']);
  await received(first, '90');
  assert.is(await figures(id), '950 950: 0 50');
});

test('credits are worth their rate, and a balance that needs no whole number of them has nine digits', async () => {
  const { shown } = await twoInvoices(['USAGE'], { conversion_rate: '3' });
  assert.is(shown, '2915 971.666666667: 0 85');
});

test('several wallets bear what they may pay, in their order; the last bears what they do not have', async () => {
  const { walletFor, billed, create, use, pass, at, figures } = await balanceWorld();
  const usage = await walletFor('10', ['USAGE'], { priority: 1 });
  const all = await walletFor('40', ['ALL'], { priority: 2 });
  const last = await walletFor('7', ['USAGE'], { priority: 3 });
  await billed({ lines: [{ price_type: 'USAGE', amount: '6' }, { amount: '30' }] });
  const shown = async () => [await figures(usage), await figures(all), await figures(last)];
  assert.equal(await shown(), ['4 4: 0 6', '10 10: 0 30', '7 7: 0 0']);
  await create({ start_date: day(1, 2) });
  await pass(day(1, 2));
  use(1300, day(1, 3));
  at(day(1, 25));
  // The second has paid 40 of the opening invoice, and bears the other 70 alone; of 22 of usage the first bears 4, and the last the rest.
  assert.equal(await shown(), ['0 0: 4 6', '-100 -100: 0 100', '-11 -11: 18 0']);
});

test('a purchase of credits is not paid with credits, and takes nothing off', async () => {
  const { walletFor, billed, figures } = await balanceWorld();
  const id = await walletFor('10', ['ALL']);
  const cause = { kind: 'purchase' as const, wallet_id: id as never, transaction_id: 'wtxn_1' };
  await billed({ lines: [{ amount: '50' }], cause });
  assert.is(await figures(id), '10 10: 0 0');
});

test('a wallet that is not active has nothing; one that is POST_PAID bears nothing', async () => {
  const { wallet, walletFor, billed, figures, call } = await balanceWorld();
  const frozen = await walletFor('10', ['ALL'], { priority: 1 });
  await call('POST /wallets/{id}/freeze', { params: { id: frozen }, body: {} });
  const later = await wallet('20', { wallet_type: 'POST_PAID' });
  const active = await walletFor('30', ['ALL']);
  await billed({ lines: [{ amount: '5' }] });
  assert.equal(
    [await figures(frozen), await figures(later.id), await figures(active)],
    ['0 0: 0 0', '20 20: 0 0', '25 25: 0 5'],
  );
});

test('usage of those who inherit and of those who are paid for is borne by who pays; other currencies are not', async () => {
  const { post, create, wallet, calls, at, pass, figures, customerId } = await balanceWorld();
  const { id: heir } = await post('/customers', { name: 'Bob', external_id: 'bob' });
  const { id: paid } = await post('/customers', { name: 'Eve', external_id: 'eve' });
  const { id } = await wallet('100');
  const { id: euros } = await wallet('100', { currency: 'eur' });
  const { id: bobs } = await wallet('100', { customer_id: heir });
  await create({ inheritance: { external_customer_ids_to_inherit_subscription: ['bob'] } });
  await create({
    external_customer_id: 'eve',
    inheritance: { invoicing_customer_external_id: 'ada' },
  });
  await pass(day(1, 2));
  const uses = (customer: string, count: number) => {
    for (let each = 0; each < count; each += 1) calls.push({ customerId: customer, at: day(1, 3) });
  };
  uses(customerId, 100);
  uses(heir, 50);
  uses(paid, 200);
  at(day(1, 20));
  // 150 and 200 calls, of which each subscription has a hundred free.
  assert.is(await figures(id), '97 97: 3 0');
  assert.equal([await figures(euros), await figures(bobs)], ['100 100: 0 0', '100 100: 0 0']);
});

test('the wallets of a customer are found by the external id as by the id, with their balances where these are asked for', async () => {
  const { wallet, asked, billed, customerId } = await balanceWorld();
  await wallet('100');
  const { id: euros } = await wallet('7', { currency: 'eur' });
  await billed({ lines: [{ price_type: 'USAGE', amount: '30' }] });
  const list = (query: object) =>
    asked('GET /customers/wallets', { query }) as Promise<readonly ShownBalance[]>;
  const byKey = await list({ lookup_key: 'ada' });
  assert.equal(
    byKey.map(({ credit_balance, real_time_balance }) => [credit_balance, real_time_balance]),
    [
      ['7', undefined],
      ['100', undefined],
    ],
  );
  assert.equal(await list({ id: customerId }), byKey);
  const [first, second] = await list({ id: customerId, include_real_time_balance: 'true' });
  assert.equal(
    [first?.id, first?.real_time_balance, second?.real_time_balance],
    [euros, '7', '70'],
  );
});

test('credits that have expired do not count any more, booked or not', async () => {
  const { wallet, at, figures } = await balanceWorld();
  const { id } = await wallet('100', { initial_credits_expiry_date_utc: '2026-01-05T00:00:00Z' });
  at(day(1, 5));
  assert.is(await figures(id), '0 0: 0 0');
});

test('a customer that is not named, not known or named as two is an error that names the field', async () => {
  const { asked } = await balanceWorld();
  const refused = async (query: object) => rejection(asked('GET /customers/wallets', { query }));
  assert.match((await refused({})).message, 'id or lookup_key is required');
  const nobody = await refused({ lookup_key: 'nobody' });
  assert.match(nobody.message, 'no customer with lookup_key "nobody"');
  const id = 'cust_00000000000000000000000000';
  assert.is((await refused({ id })).details?.field, 'id');
  const two = await refused({ id, lookup_key: 'ada' });
  assert.match(two.message, 'lookup_key: names another customer than id');
});

test.run();
