import { invariant, shiftedBy } from '@counterfoil/kernel';
import { callRoute, rejection } from '@counterfoil/testkit';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { offers } from '../../offers/index.ts';
import { modificationRoutes as routes } from '../modify/routes.ts';
import { subscription } from '../subscription.ts';
import { day, subscriptionWorld } from '../test-subscription-world.ts';

const test = suite('ends of trials');

/** A world with a subscription on a trial of 14 days, from the start of 2026 on. */
async function trialWorld(prices: readonly object[] = [{ amount: '31' }], terms: object = {}) {
  const world = await subscriptionWorld(prices);
  const made = await world.create({ trial_period_days: 14, ...terms });
  const ask = (end: string | null, quote: object = {}) => ({
    params: { id: made.id },
    body: { type: 'trial_end' as const, trial_end_params: endAt(end), ...quote } as never,
  });
  return {
    ...world,
    id: made.id,
    preview: (end: string | null) =>
      callRoute(routes['POST /subscriptions/{id}/modify/preview'], world.request(), ask(end)),
    move: (end: string | null, quote: object = {}) =>
      callRoute(
        routes['POST /subscriptions/{id}/modify/execute'],
        world.request('move'),
        ask(end, quote),
      ),
  };
}

/** An end of a trial as a request asks for it; null: now. */
const endAt = (new_trial_end: string | null): object =>
  new_trial_end === null ? { action: 'immediate' } : { action: 'scheduled_date', new_trial_end };

const periodOf = (shown: { current_period_start: string; current_period_end: string }) => [
  shown.current_period_start,
  shown.current_period_end,
];

test('a trial ends now: the first period begins and is charged, as its preview shows', async () => {
  const { id, preview, move, pass, events, settled } = await trialWorld();
  await pass(day(1, 6));
  const seen = await preview(null);
  assert.is(seen.settlement.charge_amount, '31');
  assert.is((await settled(id)).length, 0);
  const done = await move(null, { quote_id: seen.quote_id });
  assert.equal(done.settlement, seen.settlement);
  assert.equal(
    [done.subscription.subscription_status, done.subscription.trial_end],
    ['active', day(1, 6)],
  );
  assert.equal(periodOf(done.subscription), [day(1, 6), day(2, 6)]);
  assert.equal(await events(id), [
    ...['SubscriptionCreated', 'PeriodOpened'],
    ...['TrialMoved', 'TrialEnded', 'PeriodClosed', 'PeriodOpened', 'SettlementRecorded'],
  ]);
  assert.is((await rejection(move(null))).details?.reason, 'inactive');
});

test('a line that another took the place of before its start is not charged, however early the trial ends', async () => {
  const { id, get, move, pass, settled, request } = await trialWorld();
  const [line] = (await get(id)).line_items;
  invariant(line, 'it has a line');
  await callRoute(routes['POST /subscriptions/{id}/modify/execute'], request('quantity'), {
    params: { id },
    body: {
      type: 'quantity_change',
      quantity_change_params: { line_items: [{ id: line.id, quantity: '2' }] },
    } as never,
  });
  await pass(day(1, 6));
  await move(null);
  const [first] = await settled(id);
  assert.equal([first?.charge_amount, first?.lines.length], ['62', 1]);
});

test('a trial is lengthened and shortened, and charges nothing before its end', async () => {
  const { id, move, pass, get, settled } = await trialWorld();
  await pass(day(1, 6));
  const longer = await move(day(1, 31));
  assert.equal(longer.settlement.lines, []);
  assert.equal(
    [longer.subscription.trial_end, longer.subscription.subscription_status],
    [day(1, 31), 'trialing'],
  );
  assert.equal(periodOf(longer.subscription), [day(1, 1), day(1, 31)]);
  assert.is(longer.subscription.line_items[0]?.start_date, day(1, 31));
  await pass(day(1, 20));
  assert.equal(await settled(id), []);
  await move(day(1, 25));
  await pass(day(1, 25));
  const paid = await get(id);
  assert.equal([paid.subscription_status, ...periodOf(paid)], ['active', day(1, 25), day(2, 25)]);
  assert.equal(
    (await settled(id)).map(({ net_amount }) => net_amount),
    ['31'],
  );
});

/** The settlements of a subscription without ids, over some months. */
const figures = (all: readonly { readonly lines: readonly object[] }[]) =>
  all.map(({ lines }) => lines.map((line) => ({ ...line, line_item_id: '' })));

for (const days of [6, 9, 14, 20, 45]) {
  test(`a trial that comes to last ${days} days is one that was agreed so`, async () => {
    const prices = [
      { amount: '31' },
      { amount: '90', billing_period: 'QUARTERLY' },
      { amount: '7', invoice_cadence: 'ARREAR' },
    ];
    const world = await trialWorld(prices, { proration_behavior: 'create_prorations' });
    const { create, pass, settled, call } = world;
    const addon = await call(offers.routes ?? {}, 'POST /addons', { name: 'M', lookup_key: 'm' });
    await call(offers.routes ?? {}, 'POST /prices', {
      ...{ entity_type: 'ADDON', entity_id: addon.id, type: 'FIXED', billing_model: 'FLAT_FEE' },
      ...{ billing_period: 'MONTHLY', invoice_cadence: 'ADVANCE', currency: 'usd', amount: '62' },
      start_date: '2020-01-01T00:00:00Z',
    });
    const addons = [{ addon_id: addon.id, cadence: 'onetime' }, { addon_id: addon.id }];
    const terms = { addons, proration_behavior: 'create_prorations' };
    const moved = await create({ ...terms, trial_period_days: 14 });
    const agreed = await create({ ...terms, trial_period_days: days });
    await pass(shiftedBy(day(1, 1), 5 * 86_400_000));
    const params = { id: moved.id };
    const trial_end = days === 6 ? day(1, 7) : shiftedBy(day(1, 1), days * 86_400_000);
    const body = { type: 'trial_end', trial_end_params: endAt(trial_end) } as never;
    const route = routes['POST /subscriptions/{id}/modify/execute'];
    await callRoute(route, world.request('moved'), { params, body });
    const datesOf = async (id: string) =>
      (await world.request().load(subscription, id))?.addons.map((each) => each.end_date);
    assert.equal(await datesOf(moved.id), await datesOf(agreed.id));
    await pass(day(7, 1));
    assert.ok((await settled(moved.id)).length > 5);
    assert.equal(figures(await settled(moved.id)), figures(await settled(agreed.id)));
  });
}

test('grants of credits move with the end of a trial', async () => {
  const credit_grants = [
    {
      scope: 'SUBSCRIPTION',
      name: 'Welcome',
      credits: '5',
      cadence: 'ONETIME',
      expiration_type: 'NEVER',
    },
  ];
  const { id, move, pass, events } = await trialWorld([{}], { credit_grants });
  await move(day(1, 20));
  await pass(day(1, 19));
  assert.not((await events(id)).includes('CreditsGranted'));
  await pass(day(1, 20));
  assert.ok((await events(id)).includes('CreditsGranted'));
});

test('an end that cannot be is refused', async () => {
  const { id, move, pass, cancel, update } = await trialWorld([{}], { end_date: day(6, 1) });
  await pass(day(1, 6));
  for (const end of [day(1, 5), day(1, 1), day(6, 1), day(7, 1, 2040)]) {
    const problem = await rejection(move(end));
    assert.equal([end, problem.errors?.[0]?.pointer], [end, '/trial_end_params/new_trial_end']);
  }
  await cancel(id, { cancellation_type: 'end_of_period' });
  assert.is((await rejection(move(null))).details?.reason, 'exists');
  await update(id, { cancel_at_period_end: false });
  const done = await move(null);
  invariant(done.subscription.trial_end, 'it had a trial');
  assert.is(done.subscription.subscription_status, 'active');
});

test.run();
