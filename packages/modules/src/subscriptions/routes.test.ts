import { callRoute, rejection } from '@counterfoil/testkit';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { customers } from '../customers/index.ts';
import { subscriptionRoutes as routes } from './routes.ts';
import { day, subscriptionWorld } from './test-subscription-world.ts';

const test = suite('subscription routes');

const usage = { type: 'USAGE', amount: '0.02' };

test('a subscription begins now, and what is paid in advance is charged', async () => {
  const { create, get, settled, lines, planId } = await subscriptionWorld([{}, usage]);
  const made = await create({ lookup_key: 'first', metadata: { a: 'b' } });
  assert.is(made.subscription_status, 'active');
  assert.is(made.current_period_start, day(1, 1));
  assert.is(made.current_period_end, day(2, 1));
  assert.is(made.billing_anchor, day(1, 1));
  assert.is(made.plan?.id, planId);
  assert.is(made.customer?.external_id, 'ada');
  assert.is(made.line_items.length, 2);
  assert.equal(await get(made.id), made);
  const [opening, ...more] = await settled(made.id);
  assert.is(more.length, 0);
  assert.is(opening?.reason, 'period_opened');
  assert.is(opening?.charge_amount, '10');
  assert.is(opening?.lines.length, 1);
  assert.is((await lines({ subscription_ids: [made.id] })).pagination.total, 2);
});

test('a key repeats a creation without a second subscription', async () => {
  const { create, search } = await subscriptionWorld();
  const first = await create({}, 'order-1');
  assert.equal(await create({}, 'order-1'), first);
  assert.is((await search()).pagination.total, 1);
});

test('a start in the past is caught up, one in the future waits', async () => {
  const { create, settled, pass, get } = await subscriptionWorld();
  const past = await create({ start_date: '2025-10-15T00:00:00Z' });
  assert.is(past.current_period_start, day(12, 15, 2025));
  assert.is((await settled(past.id)).length, 3);
  const future = await create({ start_date: day(3, 1) });
  assert.is(future.subscription_status, 'active');
  assert.is(future.current_period_end, day(4, 1));
  assert.equal(await settled(future.id), []);
  await pass(day(3, 1));
  assert.is((await settled(future.id)).length, 1);
  assert.is((await get(future.id)).current_period_start, day(3, 1));
});

test('the prices of the plan that fit currency and period become lines', async () => {
  const { create, priceIds } = await subscriptionWorld([
    {},
    { billing_period: 'QUARTERLY', amount: '25' },
    { billing_period: 'WEEKLY', amount: '3' },
    { currency: 'eur' },
    { billing_period: 'ONETIME', amount: '50' },
  ]);
  const made = await create();
  const sold = made.line_items.map(({ price_id }) => price_id);
  assert.equal(sold, [priceIds[0], priceIds[1], priceIds[4]]);
  assert.is((await rejection(create({ currency: 'jpy' }))).code, 'invalid_operation');
  assert.is((await rejection(create({ billing_period: 'DAILY' }))).code, 'invalid_operation');
});

test('overrides change terms and quantities of one subscription alone', async () => {
  const { create, priceIds, settled } = await subscriptionWorld([{ min_quantity: '2' }]);
  const [price_id] = priceIds;
  const made = await create({
    override_line_items: [{ price_id, quantity: '3', amount: '8' }],
  });
  const [line] = made.line_items;
  assert.is(line?.quantity, '3');
  assert.is(line?.price.amount, '8');
  assert.is(line?.price.parent_price_id, price_id);
  assert.is(line?.price.entity_type, 'SUBSCRIPTION');
  assert.is((await settled(made.id))[0]?.charge_amount, '24');
  assert.is((await create()).line_items[0]?.quantity, '2');
  const wrong = async (override: object) =>
    (await rejection(create({ override_line_items: [override] }))).errors?.[0]?.pointer;
  const unknown = create({ override_line_items: [{ price_id: 'price_none', amount: '1' }] });
  assert.is((await rejection(unknown)).code, 'not_found');
  assert.is(await wrong({ price_id, quantity: '1' }), '/override_line_items/0/quantity');
  assert.is(await wrong({ price_id, billing_model: 'TIERED' }), '/override_line_items/0/tier_mode');
});

test('lines beside those of the plan are sold under any price that fits, or one of their own', async () => {
  const { create, priceIds, settled } = await subscriptionWorld();
  const made = await create({
    line_items: [
      { price_id: priceIds[0], quantity: '2', display_name: 'More' },
      {
        price: {
          type: 'FIXED',
          billing_model: 'FLAT_FEE',
          billing_period: 'MONTHLY',
          invoice_cadence: 'ADVANCE',
          price_unit_type: 'FIAT',
          amount: '1.5',
          display_name: 'Support',
        },
        start_date: '2026-01-16T12:00:00Z',
      },
    ],
  });
  assert.equal(
    made.line_items.map(({ display_name, entity_type }) => [display_name, entity_type]),
    [
      ['Pro', 'plan'],
      ['More', 'subscription'],
      ['Support', 'subscription'],
    ],
  );
  assert.equal(
    (await settled(made.id))[0]?.lines.map((line) => 'amount' in line && line.amount),
    ['10', '20', '0.75'],
  );
});

test('E 10.4 a trial is free, and what is charged begins with its end', async () => {
  const { create, settled, pass, get, events } = await subscriptionWorld([
    { trial_period_days: 14 },
    { billing_period: 'ONETIME', amount: '5' },
  ]);
  const made = await create();
  assert.is(made.subscription_status, 'trialing');
  assert.is(made.trial_start, day(1, 1));
  assert.is(made.trial_end, day(1, 15));
  assert.is(made.current_period_end, day(1, 15));
  assert.equal(await settled(made.id), []);
  await pass(day(1, 15));
  const after = await get(made.id);
  assert.is(after.subscription_status, 'active');
  assert.is(after.current_period_start, day(1, 15));
  assert.is(after.current_period_end, day(2, 15));
  assert.is(after.billing_anchor, day(1, 15));
  assert.is((await settled(made.id))[0]?.charge_amount, '15');
  assert.equal(await events(made.id), [
    'SubscriptionCreated',
    'PeriodOpened',
    'TrialEnded',
    'PeriodClosed',
    'PeriodOpened',
    'SettlementRecorded',
  ]);
  assert.is((await create({ trial_period_days: 0 })).subscription_status, 'active');
  assert.is((await create({ subscription_status: 'active' })).subscription_status, 'active');
  assert.is((await create({ trial_period_days: 3 })).trial_end, day(1, 18));
});

test('E 10.4 prices that disagree about the trial have to be overruled', async () => {
  const { create } = await subscriptionWorld([{ trial_period_days: 14 }, { trial_period_days: 7 }]);
  const problem = await rejection(create());
  assert.is(problem.errors?.[0]?.pointer, '/trial_period_days');
  assert.is((await create({ trial_period_days: 7 })).trial_end, day(1, 8));
});

test('a draft does nothing until it is activated, and once', async () => {
  const { create, settled, activate, get, pass, events, cancel } = await subscriptionWorld([{}]);
  const made = await create({ subscription_status: 'draft' });
  assert.is(made.subscription_status, 'draft');
  await pass(day(2, 10));
  assert.equal(await events(made.id), ['SubscriptionCreated']);
  assert.is(
    (await rejection(cancel(made.id, { cancellation_type: 'immediate' }))).code,
    'invalid_operation',
  );
  const active = await activate(made.id);
  assert.is(active.subscription_status, 'active');
  assert.is(active.start_date, day(2, 10));
  assert.is(active.current_period_end, day(3, 10));
  assert.is(active.line_items[0]?.start_date, day(2, 10));
  assert.equal(await get(made.id), active);
  assert.is((await settled(made.id)).length, 1);
  assert.is((await rejection(activate(made.id))).code, 'invalid_operation');
});

test('a draft with an anchor of its own keeps it', async () => {
  const { create, activate } = await subscriptionWorld([{}]);
  const anchor = '2026-01-05T00:00:00.000Z';
  const made = await create({ subscription_status: 'draft', billing_anchor: anchor });
  const active = await activate(made.id, { start_date: day(1, 20) });
  assert.is(active.billing_anchor, anchor);
  assert.is(active.current_period_end, day(2, 5));
});

test('periods are counted in the zone of the customer, which is frozen', async () => {
  const { create } = await subscriptionWorld([{}], { timezone: 'Asia/Kolkata' });
  const made = await create({
    billing_cycle: 'calendar',
    start_date: '2024-02-15T18:30:00Z',
    end_date: '2024-03-15T00:00:00Z',
  });
  assert.is(made.customer_timezone, 'Asia/Kolkata');
  assert.is(made.billing_anchor, '2024-02-29T18:30:00.000Z');
});

test('a short first period costs its part, where that is asked for', async () => {
  const { create, settled } = await subscriptionWorld([{ amount: '31' }]);
  const short = { billing_cycle: 'calendar', start_date: '2025-12-20T00:00:00Z' };
  const whole = await create(short);
  assert.is((await settled(whole.id))[0]?.charge_amount, '31');
  const part = await create({ ...short, proration_behavior: 'create_prorations' });
  assert.is((await settled(part.id))[0]?.charge_amount, '12');
});

test('references and pairs that do not fit are refused', async () => {
  const { create } = await subscriptionWorld();
  const code = async (body: object) => (await rejection(create(body))).code;
  assert.is(await code({ plan_id: 'plan_none' }), 'not_found');
  assert.is(await code({ external_customer_id: 'nobody' }), 'not_found');
  assert.is(await code({ line_items: [{ price_id: 'price_none' }] }), 'not_found');
  assert.is(await code({ end_date: '2025-01-01T00:00:00Z' }), 'validation_error');
  assert.is(await code({ start_date: '2019-01-01T00:00:00Z' }), 'validation_error');
  const pairs = [
    ['send_invoice', 'default_active', true],
    ['send_invoice', 'default_incomplete', true],
    ['send_invoice', 'allow_incomplete', false],
    ['send_invoice', 'error_if_incomplete', false],
    ['charge_automatically', 'default_active', true],
    ['charge_automatically', 'allow_incomplete', true],
    ['charge_automatically', 'error_if_incomplete', true],
    ['charge_automatically', 'default_incomplete', false],
  ] as const;
  for (const [collection_method, payment_behavior, isGood] of pairs) {
    const body = { collection_method, payment_behavior };
    if (isGood) assert.is((await create(body)).payment_behavior, payment_behavior);
    else
      assert.is(await code(body), 'invalid_operation', `${collection_method} ${payment_behavior}`);
  }
});

test('subscriptions are found by what they are', async () => {
  const { create, search, planId, cancel } = await subscriptionWorld();
  const one = await create({ trial_period_days: 14 });
  const other = await create();
  await cancel(other.id, { cancellation_type: 'immediate' });
  const found = async (body: object) => (await search(body)).items.map(({ id }) => id);
  assert.equal(await found({ subscription_status: ['trialing'] }), [one.id]);
  assert.equal(await found({ subscription_status: ['cancelled'] }), [other.id]);
  assert.equal(await found({ plan_id: planId }), [other.id, one.id]);
  assert.equal(await found({ subscription_ids: [one.id] }), [one.id]);
  assert.equal(await found({ external_customer_id: 'nobody' }), []);
  assert.equal(await found({ trial_end_due_lte: day(1, 15) }), [one.id]);
});

test('subscriptions are listed, of all customers, of one, and by an external id', async () => {
  const { create, call, request } = await subscriptionWorld();
  await call(customers.routes, 'POST /customers', { name: 'Ben', external_id: 'ben' });
  const mine = await create({ lookup_key: 'mine' });
  const other = await create({ external_customer_id: 'ben' });
  const { customer_id } = other;
  const listed = async (query: object) => {
    const { items } = await callRoute(routes['GET /subscriptions'], request(), { query });
    return items.map(({ id, plan }) => [id, plan?.id]);
  };
  assert.equal(await listed({}), [
    [other.id, other.plan_id],
    [mine.id, mine.plan_id],
  ]);
  assert.equal(await listed({ customer_id, limit: 1 }), [[other.id, other.plan_id]]);
  const ofExternal = async (external_id: string) => {
    const list = routes['GET /customers/external/{external_id}/subscriptions'];
    const { items } = await callRoute(list, request(), { params: { external_id }, query: {} });
    return items.map(({ id }) => id);
  };
  assert.equal(await ofExternal('ada'), [mine.id]);
  assert.equal(await ofExternal('ben'), [other.id]);
  assert.is((await rejection(ofExternal('nobody'))).code, 'not_found');
});

test('a start lies at most five years back, and where periods can still be written', async () => {
  const { create, activate } = await subscriptionWorld([{}]);
  const draft = await create({ subscription_status: 'draft' });
  const refused = async (starting: Promise<unknown>) =>
    (await rejection(starting)).errors?.[0]?.pointer;
  for (const start_date of [
    '0001-01-01T00:00:00Z',
    '2020-01-01T00:00:00Z',
    '9999-12-31T23:59:59Z',
  ]) {
    assert.is(await refused(create({ start_date })), '/start_date', start_date);
    assert.is(await refused(activate(draft.id, { start_date })), '/start_date', start_date);
  }
});

test('what was settled is sorted by a field where it is asked for', async () => {
  const { create, request } = await subscriptionWorld();
  const { id } = await create({ start_date: '2025-10-15T00:00:00Z' });
  const list = routes['GET /subscriptions/{id}/settlements'];
  for (const sort of ['at', 'created_at']) {
    const { items } = await callRoute(list, request(), { params: { id }, query: { sort } });
    assert.is(items.length, 3, sort);
  }
  const latest = { params: { id }, query: { sort: 'at', limit: 1 } };
  assert.equal(
    (await callRoute(list, request(), latest)).items.map(({ at }) => at),
    [day(12, 15, 2025)],
  );
});

test.run();
