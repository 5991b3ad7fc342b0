import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { subscription } from '../../subscriptions/index.ts';
import { wallet } from '../../wallets/index.ts';
import { amountsOf, type Invoice, invoice } from '../invoice.ts';
import { applyNote } from '../settling/notes.ts';
import { settlePayment } from '../settling/payments.ts';
import { day, invoiceWorld } from '../test-invoice-world.ts';
import { groupedLinesMaximum } from './cause.ts';

const test = suite('invoices of what subscriptions settle');

/** An invoice in short: its reason, type and status, and the amounts of its lines. */
const shown = (each: Invoice) =>
  [
    each.billing_reason,
    each.invoice_type,
    each.invoice_status,
    each.lines.map(({ kind, amount }) => `${kind} ${amount}`).join(', '),
  ].join(': ');

type Call = Awaited<ReturnType<typeof invoiceWorld>>['call'];

const byRoute = (id: string) => ({ params: { id } });

/** Gives the line of a subscription under a price another amount. */
async function priced(call: Call, id: string, priceId: string, amount: string): Promise<void> {
  const found = await call<{ items: { id: string; price_id: string }[] }>(
    'POST /subscriptions/lineitems/search',
    { body: { subscription_ids: [id] } },
  );
  const line = found.items.find(({ price_id }) => price_id === priceId);
  await call('PUT /subscriptions/lineitems/{id}', {
    ...byRoute(line?.id ?? ''),
    body: { amount },
  });
}

/** Ends a subscription at once, and gives back what is not used. */
const endedNow = (call: Call, id: string) =>
  call('POST /subscriptions/{id}/cancel', {
    ...byRoute(id),
    body: { cancellation_type: 'immediate', proration_behavior: 'create_prorations' },
  });

test('a trial bills nothing before its end, which opens the first period', async () => {
  const { create, pass, invoices } = await invoiceWorld();
  await create({ trial_period_days: 7 });
  await pass(day(1, 7));
  assert.equal((await invoices()).map(shown), []);
  await pass(day(1, 8));
  const [first] = await invoices();
  assert.equal(first && shown(first), 'SUBSCRIPTION_TRIAL_END: SUBSCRIPTION: FINALIZED: fixed 100');
  assert.equal([first?.period_start, first?.period_end], [day(1, 8), day(2, 8)]);
});

test('a month without usage is billed with the next one in advance, and one without anything is skipped', async () => {
  const { create, pass, invoices, post } = await invoiceWorld();
  await create();
  await pass(day(2, 1, 3));
  const [, cycle] = await invoices();
  assert.is(
    cycle && shown(cycle),
    'SUBSCRIPTION_CYCLE: SUBSCRIPTION: FINALIZED: usage 0, fixed 100',
  );
  const { id } = await post('/plans', { name: 'Free' });
  const price = {
    ...{ entity_type: 'PLAN', entity_id: id, type: 'FIXED', billing_model: 'FLAT_FEE' },
    ...{ currency: 'usd', billing_period: 'MONTHLY', invoice_cadence: 'ADVANCE', amount: '0' },
    start_date: '2020-01-01T00:00:00Z',
  };
  await post('/prices', price);
  await create({ plan_id: id });
  await pass(day(2, 2));
  const skipped = (await invoices()).at(-1);
  assert.is(skipped && shown(skipped), 'SUBSCRIPTION_CREATE: SUBSCRIPTION: SKIPPED: fixed 0');
  assert.equal([skipped?.invoice_number, skipped?.billing_sequence], [null, 1]);
});

test('a subscription that began before there were invoices gets those of all its time, in order', async () => {
  const { create, settle, invoices, use } = await invoiceWorld();
  use(150, day(2, 3));
  await create({ start_date: '2025-11-01T00:00:00Z' });
  await settle();
  const all = await invoices();
  assert.equal(
    all.map((each) => [each.billing_reason, each.billing_sequence, each.invoice_status]),
    [
      ['SUBSCRIPTION_CREATE', 1, 'FINALIZED'],
      ['SUBSCRIPTION_CYCLE', 2, 'FINALIZED'],
      ['SUBSCRIPTION_CYCLE', 3, 'DRAFT'],
    ],
  );
});

test('a cancellation bills what was used, and what it gives back goes to the wallet', async () => {
  const { create, call, pass, use, invoices, settle, request, pay } = await invoiceWorld();
  const { id } = await create();
  use(300, day(1, 3));
  await pass(day(1, 16, 12));
  await pay();
  await endedNow(call, id);
  await settle();
  assert.equal((await invoices()).map(shown), [
    'SUBSCRIPTION_CREATE: SUBSCRIPTION: FINALIZED: fixed 100',
    'PRORATION: SUBSCRIPTION: FINALIZED: usage 4',
  ]);
  const [, last] = await invoices();
  assert.equal([last?.period_start, last?.period_end], [day(1, 1), day(1, 16, 12)]);
  const given = (await request().load(subscription, id))?.wallets[0] ?? '';
  // Of the 50 that came back, with 5 of tax, 4 have paid for the calls.
  assert.is((await request().load(wallet, given))?.credit_balance, '51');
});

test('a price that changes gives back what was charged on the invoice that charges for the rest', async () => {
  const { create, call, pass, invoices, settle, basePriceId } = await invoiceWorld();
  const { id } = await create({ proration_behavior: 'create_prorations' });
  await pass(day(1, 16, 12));
  await priced(call, id, basePriceId, '300');
  await settle();
  const last = (await invoices()).at(-1);
  assert.is(last && shown(last), 'SUBSCRIPTION_UPDATE: ONE_OFF: FINALIZED: fixed 150, credit -50');
  assert.equal([last?.subtotal, last?.total_tax, last?.total], ['100', '10', '110']);
});

test('a price that falls gives back all that was paid less what is charged, net of discounts and with its tax', async () => {
  const { create, call, coupon, pass, invoices, settle, basePriceId, request, pay } =
    await invoiceWorld();
  const { id: ten } = await coupon();
  const { id } = await create({ coupons: [ten], proration_behavior: 'create_prorations' });
  await pass(day(1, 16, 12));
  await pay();
  await priced(call, id, basePriceId, '40');
  await settle();
  const last = (await invoices()).at(-1);
  assert.is(last && shown(last), 'SUBSCRIPTION_UPDATE: ONE_OFF: FINALIZED: fixed 20, credit -20');
  assert.equal([last?.total_discount, last?.total_tax, last?.total], ['2', '-0.2', '0']);
  // 45.00 and 4.50 of tax were paid for the rest of the month, 18.00 and 1.80 are charged for it now.
  const given = (await request().load(subscription, id))?.wallets[0] ?? '';
  assert.is((await request().load(wallet, given))?.credit_balance, '29.7');
});

test('what was never paid lowers the invoice that it is owed on, and no wallet gets it (D64)', async () => {
  const { create, call, coupon, pass, invoices, settle, request } = await invoiceWorld();
  const { id: ten } = await coupon();
  const { id } = await create({ coupons: [ten] });
  await settle();
  const [first] = await invoices();
  assert.ok(first);
  // Of the 99 that are owed 60 are paid, and 39 are left.
  const amount = '60' as typeof first.total;
  const paid = settlePayment({ payment_id: 'pay_1', method: 'OFFLINE', amount });
  await request().execute(invoice, first.id, paid);
  await pass(day(1, 16, 12));
  await endedNow(call, id);
  await settle();
  const [after] = await invoices();
  const { amount_remaining, adjustment_amount } = amountsOf(after ?? first);
  assert.equal([adjustment_amount, amount_remaining], ['39', '0']);
  const given = (await request().load(subscription, id))?.wallets[0] ?? '';
  assert.is((await request().load(wallet, given))?.credit_balance, '10.5');
});

test('what is given back of a draft is a line of it (D33)', async () => {
  const { create, call, coupon, pass, invoices, settle, request } = await invoiceWorld();
  const { id: ten } = await coupon();
  const { id } = await create({ coupons: [ten] });
  await pass(day(2, 1, 1));
  await endedNow(call, id);
  await settle();
  assert.equal((await request().load(subscription, id))?.wallets, []);
  await pass(day(2, 1, 2));
  const cycle = (await invoices()).find(({ billing_reason }) => billing_reason.endsWith('CYCLE'));
  // An hour of February is 15 cents.
  assert.is(
    cycle && shown(cycle),
    'SUBSCRIPTION_CYCLE: SUBSCRIPTION: FINALIZED: usage 0, fixed 100, credit -99.85',
  );
  assert.equal([cycle?.total_discount, cycle?.total_tax, cycle?.total], ['0.01', '0.01', '0.15']);
});

test('a cancellation right after the beginning gives back what its invoice comes to, whoever is first', async () => {
  const { create, call, coupon, invoices, settle, request } = await invoiceWorld();
  const { id: ten } = await coupon();
  const { id } = await create({ coupons: [ten] });
  await endedNow(call, id);
  await settle();
  const [first] = await invoices();
  assert.is(
    first && shown(first),
    'SUBSCRIPTION_CREATE: SUBSCRIPTION: FINALIZED: fixed 100, credit -100',
  );
  assert.equal([first?.total_discount, first?.total], ['0', '0']);
  assert.equal((await request().load(subscription, id))?.wallets, []);
});

test('what a credit note has given back does not come back a second time', async () => {
  const { create, call, coupon, pass, invoices, settle, request } = await invoiceWorld();
  const { id: ten } = await coupon();
  const { id } = await create({ coupons: [ten] });
  await settle();
  const [first] = await invoices();
  assert.ok(first);
  const { total } = first;
  const paid = settlePayment({ payment_id: 'pay_1', method: 'OFFLINE', amount: total });
  await request().execute(invoice, first.id, paid);
  const line_id = first.lines[0]?.id ?? '';
  const lines = [{ line_id, amount: '80' as typeof total }];
  await request().execute(invoice, first.id, applyNote({ credit_note_id: 'cn_1', lines }));
  await pass(day(1, 16, 12));
  await endedNow(call, id);
  await settle();
  // Of the 90 that were paid before tax 45 are not used, but 10 are left.
  const given = (await request().load(subscription, id))?.wallets[0] ?? '';
  assert.is((await request().load(wallet, given))?.credit_balance, '11');
});

test('who pays for a subscription is invoiced, and who uses is told', async () => {
  const { create, post, invoices, settle, customerId } = await invoiceWorld();
  const { id: payer } = await post('/customers', { name: 'Head office', external_id: 'head' });
  await create({ inheritance: { invoicing_customer_external_id: 'head' } });
  await settle();
  const [first] = await invoices();
  assert.equal([first?.customer_id, first?.subscription_customer_id], [payer, customerId]);
  assert.is(first?.total_tax, '0', 'taxes are those of who pays');
});

test('a coupon for one invoice is taken off one; one for two periods off what belongs to them', async () => {
  const { create, coupon, use, pass, invoices } = await invoiceWorld();
  const { id: once } = await coupon({ name: 'Once', cadence: 'once', percentage_off: '50' });
  const { id: twice } = await coupon({
    ...{ name: 'Twice', cadence: 'repeated', duration_in_periods: 2 },
  });
  await create({ coupons: [once, twice] });
  for (const month of [1, 2, 3]) use(150, day(month, 3));
  await pass(day(4, 1, 3));
  assert.equal(
    (await invoices()).map(({ coupons, total_discount }) => [
      ...coupons.map(({ name }) => name).toSorted(),
      total_discount,
    ]),
    [['Once', 'Twice', '55'], ['Twice', '10.1'], ['Twice', '0.1'], ['0']],
  );
});

test('subscriptions that are invoiced together are one invoice each month, whoever is first', async () => {
  const { create, pass, use, invoices, settle } = await invoiceWorld();
  const { id: parent } = await create();
  await settle();
  await create({ inheritance: { parent_subscription_id: parent } });
  use(150, day(1, 3));
  await pass(day(2, 1, 3));
  const all = await invoices();
  assert.equal(all.map(shown), [
    'SUBSCRIPTION_CREATE: SUBSCRIPTION: FINALIZED: fixed 100',
    'SUBSCRIPTION_CREATE: SUBSCRIPTION: FINALIZED: fixed 100',
    'SUBSCRIPTION_CYCLE: SUBSCRIPTION: FINALIZED: usage 1, fixed 100, usage 1, fixed 100',
  ]);
  assert.is(all[2]?.subscription_id, parent);
});

test('subscriptions that are invoiced together are on one invoice also where that waits for nobody', async () => {
  const { create, call, pass, invoices, settle } = await invoiceWorld();
  const body = { value: { finalization_delay_seconds: 0 } };
  await call('PUT /settings/invoice_config', { body });
  const { id: parent } = await create();
  await settle();
  for (let number = 0; number < 3; number += 1) {
    await create({ inheritance: { parent_subscription_id: parent } });
  }
  await pass(day(2, 1));
  const cycles = (await invoices()).filter(({ billing_reason }) =>
    billing_reason.endsWith('CYCLE'),
  );
  assert.equal(
    cycles.map(({ subtotal, invoice_status }) => [subtotal, invoice_status]),
    [['400', 'FINALIZED']],
  );
});

test('a member with many lines is billed by itself, so that no invoice outgrows an event', async () => {
  const { create, call, pass, use, invoices, settle, request } = await invoiceWorld();
  const { id: parent } = await create();
  await settle();
  const { id: large } = await create({ inheritance: { parent_subscription_id: parent } });
  await create({ inheritance: { parent_subscription_id: parent } });
  const sold = await request().load(subscription, large);
  for (let number = 0; number < groupedLinesMaximum; number += 1) {
    const price = { type: 'FIXED', billing_model: 'FLAT_FEE', invoice_cadence: 'ADVANCE' };
    const body = {
      price: { ...price, currency: 'usd', billing_period: 'MONTHLY', amount: '1' },
      display_name: `Seat ${number}`,
      proration_behavior: 'none',
    };
    await call('POST /subscriptions/{id}/lineitems', { ...byRoute(large), body });
  }
  use(150, day(1, 3));
  await pass(day(2, 1, 3));
  const cycles = (await invoices()).filter(({ billing_reason: reason }) =>
    reason.endsWith('CYCLE'),
  );
  assert.equal(
    cycles.map(({ subscription_id, lines }) => [subscription_id, lines.length]).toSorted(),
    [
      [large, 21],
      [parent, 5],
    ].toSorted(),
  );
  // Its usage stands with the others, few lines as they are; late usage of it finds the invoice that has billed it.
  const { subscription_line_item_id: line } = cycles
    .flatMap(({ lines }) => lines)
    .find(({ subscription_id: id, kind }) => id === large && kind === 'usage') ?? {
    subscription_line_item_id: null,
  };
  assert.ok(sold?.lines.some(({ id }) => id === line));
  use(100, day(1, 20));
  await pass(day(3, 1, 3));
  const late = (await invoices())
    .flatMap(({ lines }) => lines)
    .filter(({ kind }) => kind === 'late_usage');
  assert.equal(
    late.map(({ amount }) => amount),
    ['2', '2', '2'],
  );
});

test('what is inherited is billed with its parent, and nowhere else', async () => {
  const { create, post, pass, invoices } = await invoiceWorld();
  await post('/customers', { name: 'Ben', external_id: 'ben' });
  await create({ inheritance: { external_customer_ids_to_inherit_subscription: ['ben'] } });
  await pass(day(2, 1, 3));
  assert.equal(
    (await invoices()).map(({ billing_reason }) => billing_reason),
    ['SUBSCRIPTION_CREATE', 'SUBSCRIPTION_CYCLE'],
  );
});

test('the date from which an invoice is due counts from its end, by the terms of the subscription', async () => {
  const { create, invoices, settle } = await invoiceWorld();
  await create({ payment_terms: '30 NET' });
  await settle();
  assert.is((await invoices())[0]?.due_date, day(1, 31));
});

test('numbers go on without gaps, whatever is skipped between', async () => {
  const { create, pass, invoices } = await invoiceWorld();
  for (let number = 0; number < 3; number += 1) await create();
  await pass(day(2, 1, 3));
  const numbers = (await invoices()).flatMap(({ invoice_number }) => invoice_number ?? []);
  assert.equal(numbers.toSorted(), [
    ...['INV-202601-00001', 'INV-202601-00002', 'INV-202601-00003'],
    ...['INV-202602-00001', 'INV-202602-00002', 'INV-202602-00003'],
  ]);
});

test.run();
