import { Problem } from '@counterfoil/kernel';
import { rejection } from '@counterfoil/testkit';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { couponRedemptions } from '../../coupons/index.ts';
import { changeSetting, setting } from '../../settings/index.ts';
import { billingWorld } from '../test-billing-world.ts';

const test = suite('invoices of the caller');

test('lines add up, discounts and taxes are computed, and it is final with a number and a due date', async () => {
  const { make, coupon } = await billingWorld();
  const shown = await make({
    line_items: [
      { display_name: 'Setup', amount: '70', quantity: '1' },
      { display_name: 'Hours', amount: '30', quantity: '2.5' },
    ],
    coupons: [await coupon()],
    description: 'For May',
    metadata: { order: '7' },
  });
  assert.equal(
    [shown.subtotal, shown.total_discount, shown.total_tax, shown.total, shown.amount_due],
    ['100', '10', '9', '99', '99'],
  );
  assert.equal(
    [shown.invoice_status, shown.payment_status, shown.invoice_type, shown.billing_reason],
    ['FINALIZED', 'PENDING', 'ONE_OFF', 'MANUAL'],
  );
  assert.is(shown.invoice_number, 'INV-202601-00001');
  assert.is(shown.due_date, '2026-01-02T00:00:00.000Z');
  assert.equal(
    shown.line_items?.map((line) => [
      line.display_name,
      line.price_type,
      line.quantity,
      line.invoice_level_discount,
      line.tax_amount,
    ]),
    [
      ['Setup', 'FIXED', '1', '7', '6.3'],
      ['Hours', 'FIXED', '2.5', '3', '2.7'],
    ],
  );
  assert.equal(shown.customer?.external_id, 'ada');
  assert.equal([shown.description, shown.metadata], ['For May', { order: '7' }]);
});

test('without lines the subtotal is one', async () => {
  const { make } = await billingWorld();
  const { line_items, total } = await make({ line_items: undefined, description: 'Workshop' });
  assert.equal(
    line_items?.map(({ display_name, amount, quantity }) => [display_name, amount, quantity]),
    [['Workshop', '100', '1']],
  );
  assert.is(total, '110');
});

test('a draft has no number, and waits until it is made final by hand', async () => {
  const { make, finalize, world } = await billingWorld();
  const draft = await make({ invoice_status: 'DRAFT' });
  assert.equal([draft.invoice_status, draft.invoice_number, draft.due_date], ['DRAFT', null, null]);
  assert.is(draft.total, '110');
  world.now = '2026-03-05T00:00:00.000Z' as typeof world.now;
  const { invoice, message } = await finalize(draft.id);
  assert.equal(
    [invoice.invoice_status, invoice.invoice_number, invoice.due_date],
    ['FINALIZED', 'INV-202603-00001', '2026-03-06T00:00:00.000Z'],
  );
  assert.is(message, 'Invoice INV-202603-00001 is final.');
  assert.equal((await finalize(draft.id)).invoice, invoice);
});

test('a number that a caller has given is passed over by a sequence that comes to it later, wherever the process dies', async () => {
  for (let number = 1, isWhole = false; !isWhole; number += 1) {
    const { make, call, world, another, settle, invoices } = await billingWorld();
    for (const own of ['00001', '00002', '00004']) {
      await make({ invoice_number: `ACME-202601-${own}` });
    }
    await call('PUT /settings/invoice_config', { body: { value: { prefix: 'ACME' } } });
    let count = 0;
    world.store.fate = () => {
      count += 1;
      return count >= number ? 'unavailable' : 'written';
    };
    await make().catch((error: unknown) => assert.instance(error, Problem));
    isWhole = count < number;
    world.store.fate = () => 'written';
    await settle(another());
    await make();
    const numbers = (await invoices()).map(({ invoice_number }) => invoice_number);
    const [third, fifth] = ['ACME-202601-00003', 'ACME-202601-00005'];
    assert.equal(
      numbers.slice(3),
      numbers.length > 4 ? [third, fifth] : [third],
      `append ${number}`,
    );
  }
});

test('a number that a sequence has given is given to nobody under a later prefix', async () => {
  const { make, call } = await billingWorld();
  const { invoice_number } = await make();
  await call('PUT /settings/invoice_config', { body: { value: { prefix: 'ACME' } } });
  assert.is((await rejection(make({ invoice_number }))).code, 'already_exists');
});

test('a due date and a number of its own stand, and nobody else gets the number', async () => {
  const { make } = await billingWorld();
  const due_date = '2026-02-01T00:00:00.000Z';
  const shown = await make({ invoice_number: 'A-1', due_date });
  assert.equal([shown.invoice_number, shown.due_date], ['A-1', due_date]);
  assert.is((await rejection(make({ invoice_number: 'A-1' }))).code, 'already_exists');
  const draft = await make({ invoice_number: 'A-2', invoice_status: 'DRAFT' });
  assert.is(draft.invoice_number, 'A-2');
  assert.is((await make()).invoice_number, 'INV-202601-00001');
  const looksOurs = await rejection(make({ invoice_number: 'INV-7' }));
  assert.equal(looksOurs.errors?.[0]?.pointer, '/invoice_number');
});

test('tax rates of its own stand in place of the customer’s', async () => {
  const { make, post } = await billingWorld();
  const { id } = await post('/taxes/rates', { name: 'Low', code: 'LOW', percentage_value: '5' });
  const { id: fixed } = await post('/taxes/rates', { name: 'Fee', code: 'FEE', fixed_value: '2' });
  const named = await make({ tax_rates: [id, fixed] });
  assert.equal(
    named.taxes.map(({ tax_rate, taxable_amount, tax_amount }) => [
      tax_rate.code,
      taxable_amount,
      tax_amount,
    ]),
    [
      ['LOW', '100', '5'],
      ['FEE', '100', '2'],
    ],
  );
  const override = { tax_rate_code: 'LOW', currency: 'usd' };
  assert.is((await make({ tax_rate_overrides: [override] })).total, '105');
  const twice = await rejection(make({ tax_rates: [id], tax_rate_overrides: [override] }));
  assert.is(twice.errors?.[0]?.pointer, '/tax_rate_overrides/0/tax_rate_code');
  const foreign = { ...override, currency: 'eur' };
  const other = await rejection(make({ tax_rate_overrides: [foreign] }));
  assert.is(other.errors?.[0]?.pointer, '/tax_rate_overrides/0/currency');
});

test('coupons of lines come before those of the whole, and each is redeemed once', async () => {
  const { make, coupon, request } = await billingWorld();
  const [half, ten] = [await coupon({ percentage_off: '50' }), await coupon()];
  const shown = await make({
    line_items: [
      { display_name: 'A', amount: '60', quantity: '1', price_id: 'price_a' },
      { display_name: 'B', amount: '40', quantity: '1' },
    ],
    line_item_coupons: [{ line_item_id: 'price_a', coupon_id: half }],
    coupons: [ten],
    invoice_coupons: [{ coupon_id: half }],
  });
  assert.equal(
    shown.coupon_applications.map((each) => [
      each.coupon_id,
      each.invoice_line_item_id === null,
      each.original_price,
      each.discounted_amount,
      each.discount_percentage,
    ]),
    [
      [half, false, '60', '30', '50'],
      [ten, true, '70', '7', '10'],
      [half, true, '63', '31.5', '50'],
    ],
  );
  const redemptions = await request().load(couponRedemptions, half);
  assert.equal([redemptions?.total, redemptions?.invoices.length], [1, 1]);
});

test('a coupon that was redeemed often enough is refused, and nothing is made', async () => {
  const { make, coupon, typesOf } = await billingWorld();
  const id = await coupon({ max_redemptions: 1 });
  await make({ coupons: [id] });
  const before = typesOf('invoice').length;
  const problem = await rejection(make({ coupons: [id] }));
  assert.equal([problem.details?.reason, problem.details?.field], ['limit_reached', 'coupons.0']);
  assert.is(typesOf('invoice').length, before);
});

test('an invoice that comes to nothing is paid as soon as it is final', async () => {
  const { make, coupon } = await billingWorld();
  const shown = await make({ coupons: [await coupon({ percentage_off: '100' })] });
  assert.equal(
    [shown.total, shown.payment_status, shown.paid_at, shown.amount_remaining],
    ['0', 'SUCCEEDED', shown.finalized_at, '0'],
  );
});

const line = { display_name: 'A', amount: '100', quantity: '1' };
const faults: readonly [string, object, string][] = [
  ['lines that do not add up', { line_items: [{ ...line, amount: '99.99' }] }, '/subtotal'],
  ['more digits than the currency', { subtotal: '100.001' }, '/subtotal'],
  [
    'a line with more digits than the currency',
    {
      line_items: [
        { ...line, amount: '99.999' },
        { ...line, amount: '0.001' },
      ],
    },
    '/line_items/0/amount',
  ],
  ['a total that is neither', { total: '104' }, '/total'],
  ['an amount due that is neither', { amount_due: '1' }, '/amount_due'],
  [
    'a period that ends before it begins',
    { period_start: '2026-02-01T00:00:00Z', period_end: '2026-01-01T00:00:00Z' },
    '/period_end',
  ],
  [
    'a coupon for a line that is not there',
    { line_item_coupons: [{ line_item_id: 'price_x', coupon_id: 'coupon' }] },
    '/line_item_coupons/0/line_item_id',
  ],
];

for (const [what, body, pointer] of faults) {
  test(`${what} is refused at ${pointer}`, async () => {
    const { make, typesOf } = await billingWorld();
    const problem = await rejection(make(body));
    assert.equal(
      problem.errors?.map((each) => each.pointer),
      [pointer],
    );
    assert.equal(typesOf('invoice'), []);
  });
}

const unknown: readonly [object, string][] = [
  [{ customer_id: 'cust_x' }, 'customer_id'],
  [{ subscription_id: 'subs_x' }, 'subscription_id'],
  [{ coupons: ['coupon_x'] }, 'coupons.0'],
  [{ tax_rates: ['taxrate_x'] }, 'tax_rates.0'],
];

for (const [body, field] of unknown) {
  test(`${JSON.stringify(body)} is unknown`, async () => {
    const { make } = await billingWorld();
    const problem = await rejection(make(body));
    assert.equal([problem.code, problem.details?.field], ['not_found', field]);
  });
}

test('a coupon of another currency does not fit', async () => {
  const { make, coupon } = await billingWorld();
  const fixed = { type: 'fixed', amount_off: '5', currency: 'eur', percentage_off: undefined };
  const problem = await rejection(make({ coupons: [await coupon(fixed)] }));
  assert.is(problem.errors?.[0]?.pointer, '/coupons/0');
});

test('a subscription of the customer gives its payment terms, and one of somebody else does not fit', async () => {
  const { make, create, post } = await billingWorld();
  const { id: subscription_id } = await create({ payment_terms: '30 NET' });
  const own = await make({ subscription_id });
  assert.equal([own.subscription_id, own.due_date], [subscription_id, '2026-01-31T00:00:00.000Z']);
  const { id: customer_id } = await post('/customers', { name: 'Bob', external_id: 'bob' });
  const problem = await rejection(make({ subscription_id, customer_id }));
  assert.is(problem.errors?.[0]?.pointer, '/subscription_id');
});

test('a repetition under its key makes nothing again', async () => {
  const { make, typesOf } = await billingWorld();
  const first = await make({}, 'once');
  const count = typesOf('invoice').length;
  assert.equal(await make({}, 'once'), first);
  assert.is(typesOf('invoice').length, count);
});

test('what was redeemed for an invoice that never came to be is given back', async () => {
  const { make, coupon, request, pass, world } = await billingWorld();
  const id = await coupon();
  await make({ coupons: [id], invoice_number: 'A-1' });
  // Its coupons are redeemed before the number turns out to be taken.
  await rejection(make({ coupons: [id], invoice_number: 'A-1' }));
  const total = async () => (await request().load(couponRedemptions, id))?.total;
  assert.is(await total(), 2);
  await pass(new Date(Date.parse(world.now) + 11 * 60_000).toISOString());
  assert.is(await total(), 1);
  assert.equal((await request().load(couponRedemptions, id))?.invoices, []);
});

test('a number that was given under an earlier prefix is taken', async () => {
  const { make, request } = await billingWorld();
  const { invoice_number } = await make();
  await request().execute(
    setting,
    'invoice_config',
    changeSetting('invoice_config', { prefix: 'ACME' }),
  );
  assert.is((await rejection(make({ invoice_number }))).code, 'already_exists');
});

test('a request that is repeated gets its first answer, whatever has become of the invoice', async () => {
  const { make, pay } = await billingWorld();
  const first = await make({}, 'one');
  await pay(first.id, '50');
  assert.equal(await make({}, 'one'), first);
});

test.run();
