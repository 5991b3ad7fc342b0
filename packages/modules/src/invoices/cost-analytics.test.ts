import type { DecimalText, InvoiceLineId } from '@counterfoil/kernel';
import { rejection } from '@counterfoil/testkit';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import {
  costAnalytics,
  costAnalyticsQuestionSchema,
  costAnalyticsSchema,
} from '../cost-analytics/index.ts';
import { invoice } from './invoice.ts';
import { applyNote } from './settling/notes.ts';
import { day, invoiceWorld } from './test-invoice-world.ts';

const test = suite('margins of customers');

/** January with 1,300 calls, which was billed, and a costsheet by which each call costs four tenths of a cent. */
async function january({ hasCosts = true } = {}) {
  const world = await invoiceWorld();
  const { create, use, pass, post, meterId, readings, request } = world;
  await create();
  use(1300, day(1, 3));
  await pass(day(2, 1, 3));
  const sheet = async (amount: string, more: object = {}) => {
    const { id } = await post('/costs', { name: 'Machines' }).then(
      (answer) => (answer as unknown as { readonly costsheet: { readonly id: string } }).costsheet,
    );
    const price = {
      ...{ entity_type: 'COSTSHEET', entity_id: id, currency: 'usd', billing_period: 'MONTHLY' },
      ...{ billing_model: 'FLAT_FEE', start_date: '2020-01-01T00:00:00Z' },
    };
    await post('/prices', {
      ...{ ...price, type: 'USAGE', invoice_cadence: 'ARREAR', meter_id: meterId, amount },
      ...more,
    });
    const rent = { ...price, type: 'FIXED', invoice_cadence: 'ADVANCE', amount: '50' };
    return (await post('/prices', rent)).id;
  };
  const fixed = hasCosts ? await sheet('0.004') : null;
  const ask = async (body: object = {}) => {
    const context = request();
    const asked = costAnalyticsQuestionSchema.parse({
      ...{ start_time: day(1, 1), end_time: day(2, 1) },
      ...body,
    });
    const { moment } = await readings.atOnce(context);
    const shown = await costAnalytics(context, asked, async () => moment as never);
    return costAnalyticsSchema.parse(shown);
  };
  return { ...world, ask, sheet, fixed };
}

type Shown = Awaited<ReturnType<Awaited<ReturnType<typeof january>>['ask']>>;
const brief = ({ currency, revenue, cost, margin }: Shown['totals'][number]) =>
  `${currency} ${revenue} − ${cost} = ${margin}`;

test('what was billed, what the usage has cost, and what is left', async () => {
  const { ask, customerId, planId, meterId, fixed, world } = await january();
  const before = world.store.log.length;
  const shown = await ask();
  assert.is(world.store.log.length, before);
  assert.equal(shown.totals, [
    {
      ...{ currency: 'usd', revenue: '122', cost: '5.2', margin: '116.8' },
      ...{ margin_ratio: '0.957377', return_on_cost: '22.461538' },
    },
  ]);
  const [own] = shown.items;
  assert.equal([own?.customer_id, own?.margins], [customerId, shown.totals]);
  assert.equal(
    shown.plans.map((plan) => [plan.plan_id, brief(plan)]),
    [[planId, 'usd 122 − 5.2 = 116.8']],
  );
  assert.equal(
    shown.features.map((each) => [each.meter_id, each.feature_ids.length, brief(each)]),
    [
      [meterId, 1, 'usd 22 − 5.2 = 16.8'],
      [null, 0, 'usd 100 − 0 = 100'],
    ],
  );
  assert.equal(shown.fixed_price_ids, [fixed]);
});

test('a span has the lines that begin in it, and the usage in it', async () => {
  const { ask } = await january();
  const february = await ask({ start_time: day(2, 1), end_time: day(3, 1) });
  assert.equal(february.totals.map(brief), ['usd 100 − 0 = 100']);
  assert.is(february.totals[0]?.return_on_cost, null);
  const both = await ask({ end_time: day(3, 1) });
  assert.equal(both.totals.map(brief), ['usd 222 − 5.2 = 216.8']);
  const none = await ask({ start_time: '2025-01-01T00:00:00Z', end_time: '2025-02-01T00:00:00Z' });
  assert.equal([none.totals, none.items[0]?.margins], [[], []]);
});

test('what credit notes give back is no revenue, and tax never was', async () => {
  const { ask, invoices, request } = await january();
  const opening = (await invoices())[0];
  assert.ok(opening);
  const lines = [{ line_id: opening.lines[0]?.id as InvoiceLineId, amount: '20' as DecimalText }];
  await request().execute(invoice, opening.id, applyNote({ credit_note_id: 'cn_1', lines }));
  assert.equal((await ask()).totals.map(brief), ['usd 102 − 5.2 = 96.8']);
});

test('a feature is asked for alone', async () => {
  const { ask, call } = await january();
  const { items } = await call<{ readonly items: readonly { readonly id: string }[] }>(
    'GET /features',
    {},
  );
  const shown = await ask({ feature_ids: items.map(({ id }) => id) });
  assert.equal(shown.totals.map(brief), ['usd 22 − 5.2 = 16.8']);
  const unknown = await rejection(ask({ feature_ids: ['feat_x'] }));
  assert.equal([unknown.code, unknown.details?.field], ['not_found', 'feature_ids.0']);
});

/** The same, with three hundred calls of January to a large model, and the rest to a small one. */
async function models() {
  const world = await january();
  const calls = world.calls.map((each, number) => ({
    ...each,
    properties: { model: number < 300 ? 'large' : 'small' },
  }));
  world.calls.splice(0, calls.length, ...calls);
  return world;
}

test('events that are chosen bring their share of the lines of usage, and cost what they cost', async () => {
  const { ask, planId, meterId } = await models();
  const of = async (...values: string[]) => ask({ property_filters: { model: values } });
  const large = await of('large');
  // 300 of 1,300 calls: 5.0769… of 22.
  assert.equal(large.totals.map(brief), ['usd 5.08 − 1.2 = 3.88']);
  assert.equal((await of('small')).totals.map(brief), ['usd 16.92 − 4 = 12.92']);
  assert.equal((await of('small', 'large')).totals.map(brief), ['usd 22 − 5.2 = 16.8']);
  assert.equal((await of('none')).totals, []);
  assert.equal(
    [large.plans.map(({ plan_id }) => plan_id), large.features.map(({ meter_id }) => meter_id)],
    [[planId], [meterId]],
  );
});

test('usage that came late is a part of what was billed for its time', async () => {
  const { ask, pass, calls, customerId } = await models();
  for (let number = 0; number < 1300; number += 1) {
    calls.push({ customerId, at: day(1, 20), properties: { model: 'large' } });
  }
  await pass(day(3, 1, 3));
  // What came late costs 13 more: 1,600 of 2,600 calls have 21.54 of 35, line by line.
  const large = await ask({ property_filters: { model: ['large'] } });
  assert.equal(large.totals.map(brief), ['usd 21.54 − 6.4 = 15.14']);
});

test('a customer is asked for with its children, as if they were one', async () => {
  const { ask, create, post, pass, calls, customerId } = await january();
  const parent = { name: 'Bob', external_id: 'bob', parent_customer_id: customerId };
  const { id: bob } = await post('/customers', parent);
  calls.push({ customerId: bob, at: day(1, 5) });
  await create({ external_customer_id: 'bob', start_date: day(2, 1, 3) });
  await pass(day(2, 2));
  const span = { end_time: day(3, 1) };
  const both = await ask({ ...span, external_customer_id: 'ada', include_children: true });
  assert.equal(
    [both.items.map((each) => each.customer_id), both.totals.map(brief)],
    [[customerId], ['usd 322 − 5.204 = 316.796']],
  );
  const alone = await ask({ ...span, external_customer_id: 'ada', include_children: false });
  assert.equal(alone.totals.map(brief), ['usd 222 − 5.2 = 216.8']);
  const refused = await rejection(ask({ ...span, include_children: true }));
  assert.is(refused.errors?.[0]?.pointer, '/include_children');
});

test('records are shown inside where they are asked for', async () => {
  const { ask, planId, meterId, customerId } = await january();
  const expand = ['customer', 'plan', 'feature', 'meter', 'price'];
  const { items, plans, features } = await ask({ expand });
  const [calls, rest] = features;
  assert.equal(
    [items[0]?.customer?.id, plans[0]?.plan?.id, calls?.meter?.id],
    [customerId, planId, meterId],
  );
  assert.equal(
    calls?.features?.map(({ id }) => id),
    calls?.feature_ids,
  );
  assert.equal(
    calls?.prices?.map(({ amount }) => amount),
    ['0.004'],
  );
  assert.equal([rest?.meter, rest?.features, rest?.prices], [undefined, [], []]);
  const plain = await ask();
  assert.equal(
    [plain.items[0]?.customer, plain.plans[0]?.plan, plain.features[0]?.prices],
    [undefined, undefined, undefined],
  );
});

for (const [member, wrong] of [
  ['expand', ['sources']],
  ['property_filters', { model: [] }],
  ['property_filters', { model: 'large' }],
  ['include_children', 'yes'],
] as const) {
  test(`${JSON.stringify(wrong)} is no ${member}`, () => {
    const span = { start_time: day(1, 1), end_time: day(2, 1) };
    const read = costAnalyticsQuestionSchema.safeParse({ ...span, [member]: wrong });
    assert.equal(
      read.error?.issues.map(({ path }) => path[0]),
      [member],
    );
  });
}

test('each currency stands by itself, and each price for the time in which it was in force', async () => {
  const { ask, sheet } = await january({ hasCosts: false });
  await sheet('0.01', { currency: 'eur', start_date: day(1, 3, 10) });
  // Of the calls, one a minute from the third on, 600 came before ten o'clock.
  assert.equal((await ask()).totals.map(brief), ['eur 0 − 7 = -7', 'usd 122 − 0 = 122']);
});

test('customers come page by page, and pages add up', async () => {
  const { ask, post, customerId } = await january();
  await post('/customers', { name: 'Bob', external_id: 'bob' });
  const pages = [await ask({ limit: 1 }), await ask({ limit: 1, offset: 1 })];
  assert.equal(
    pages.map(({ pagination }) => pagination.total),
    [2, 2],
  );
  assert.equal(
    pages.flatMap(({ totals }) => totals.map(brief)),
    ['usd 122 − 5.2 = 116.8'],
  );
  assert.is((await ask({ limit: 50 })).pagination.limit, 50);
  const bob = await ask({ external_customer_id: 'bob' });
  assert.equal([bob.items[0]?.external_customer_id, bob.totals], ['bob', []]);
  assert.is((await ask({ customer_id: customerId })).items.length, 1);
});

test('what cannot be told is refused', async () => {
  const { ask, sheet } = await january({ hasCosts: false });
  assert.is((await rejection(ask())).code, 'not_found');
  await sheet('0.01');
  const pointerOf = async (body: object) => (await rejection(ask(body))).errors?.[0]?.pointer;
  assert.is(await pointerOf({ end_time: day(1, 1) }), '/end_time');
  assert.is(await pointerOf({ end_time: '2027-06-01T00:00:00Z' }), '/end_time');
  assert.equal((await ask({ customer_id: 'cust_x' })).pagination.total, 0);
});

test.run();
