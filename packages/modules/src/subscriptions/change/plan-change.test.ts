import { rejection } from '@counterfoil/testkit';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { takeDue } from '../decisions.ts';
import { subscription } from '../subscription.ts';
import { day, subscriptionWorld } from '../test-subscription-world.ts';
import { followingSubscriptions } from './reactions.ts';

const test = suite('changes of plan');

const prorated = { proration_behavior: 'create_prorations' };

/** The charges, credits and spans of usage of a settlement, as texts. */
const linesOf = ({ lines }: { readonly lines: readonly object[] }): string[] =>
  (lines as { kind: string; amount?: string; span: { start: string; end: string } }[]).map(
    ({ kind, amount, span }) =>
      [kind, amount, [span.start, span.end].map((at) => at.slice(5, 10)).join('–')]
        .filter(Boolean)
        .join(' '),
  );

const monthly = (amount: string) => ({ amount });
const of = (billing_period: string, amount: string) => ({ billing_period, amount });

const examples: readonly (readonly [
  string,
  readonly [object, object],
  object,
  readonly [number, number],
  readonly string[],
])[] = [
  ['to a dearer one', [monthly('50'), monthly('100')], {}, [4, 11], ['33.33', '66.67', '33.34']],
  ['in the middle', [monthly('100'), monthly('200')], {}, [4, 16], ['50', '100', '50']],
  [
    'to a cheaper one',
    [of('QUARTERLY', '300'), of('QUARTERLY', '150')],
    { billing_period: 'QUARTERLY' },
    [5, 16],
    ['151.65', '75.82', '-75.83'],
  ],
  [
    'to another period',
    [monthly('600'), of('ANNUAL', '2000')],
    {},
    [4, 16],
    ['300', '2000', '1700'],
  ],
];
for (const [name, [before, after], body, [month, date], sums] of examples) {
  test(`E 13 B a change ${name} credits what is left of the old and charges the new`, async () => {
    const { create, plan, pass, previewChange, change, settled } = await subscriptionWorld([
      before,
    ]);
    const target_plan_id = await plan('More', [after]);
    const { id } = await create({ start_date: day(4, 1), ...prorated, ...body });
    await pass(day(month, date));
    const asked = {
      target_plan_id,
      ...prorated,
      ...('billing_period' in after && { billing_period: after.billing_period }),
    };
    const seen = await previewChange(id, asked);
    const { credit_amount, charge_amount, net_amount } = seen.settlement;
    assert.equal([credit_amount, charge_amount, net_amount], sums);
    const done = await change(id, { ...asked, quote_id: seen.quote_id });
    assert.is(done.old_subscription.status, 'cancelled');
    assert.is(done.old_subscription.archived_at, day(month, date));
    assert.is(done.new_subscription?.status, 'active');
    const next = done.new_subscription?.id ?? '';
    const [opening] = await settled(next);
    assert.equal([opening?.credit_amount, opening?.charge_amount, opening?.net_amount], sums);
    assert.is(opening?.reason, 'plan_changed');
  });
}

test('the rest of a period runs to its old end, and the anchor stays', async () => {
  const { create, plan, pass, change, get, settled } = await subscriptionWorld([{}]);
  const target_plan_id = await plan('More', [monthly('30')]);
  const { id } = await create({ start_date: day(1, 31), ...prorated });
  await pass(day(3, 10));
  const { new_subscription } = await change(id, { target_plan_id });
  const next = new_subscription?.id ?? '';
  assert.is(new_subscription?.current_period_start, day(3, 10));
  assert.is(new_subscription?.current_period_end, day(3, 31));
  await pass(day(5, 1));
  assert.equal(
    [(await get(next)).current_period_start, (await get(next)).current_period_end],
    [day(4, 30), day(5, 31)],
  );
  assert.equal((await settled(next)).map(linesOf), [
    ['credit 6.77 03-10–03-31', 'charge 20.32 03-10–03-31'],
    ['charge 30 03-31–04-30'],
    ['charge 30 04-30–05-31'],
  ]);
});

test('what was paused before a change is no part of the rest', async () => {
  const { create, plan, pass, pause, resume, previewChange } = await subscriptionWorld([
    monthly('30'),
  ]);
  const target_plan_id = await plan('More', [monthly('60')]);
  const { id } = await create({ start_date: day(4, 1), ...prorated });
  await pass(day(4, 11));
  await pause(id);
  await pass(day(4, 16));
  await resume(id);
  await pass(day(4, 21));
  const { settlement, new_billing_cycle } = await previewChange(id, { target_plan_id });
  assert.is(new_billing_cycle.period_end, day(5, 6));
  assert.equal([settlement.credit_amount, settlement.charge_amount], ['15', '30']);
});

test('usage and arrears up to a change are billed, and the usage from then on by the new plan', async () => {
  const usage = { type: 'USAGE', amount: '1' };
  const arrears = { amount: '30', invoice_cadence: 'ARREAR' };
  const { create, plan, pass, change, settled } = await subscriptionWorld([usage, arrears]);
  const target_plan_id = await plan('More', [usage]);
  const { id } = await create({ start_date: day(4, 1), ...prorated });
  await pass(day(4, 11));
  const { new_subscription } = await change(id, { target_plan_id });
  assert.equal((await settled(id)).map(linesOf), [['usage 04-01–04-11', 'charge 10 04-01–04-11']]);
  await pass(day(5, 1));
  const after = await settled(new_subscription?.id ?? '');
  assert.equal(after.map(linesOf), [['usage 04-11–05-01']]);
});

test('not prorated, nothing is credited and nothing charged before the next boundary', async () => {
  const { create, plan, pass, change, settled } = await subscriptionWorld([monthly('50')]);
  const target_plan_id = await plan('More', [monthly('100')]);
  const { id } = await create({ start_date: day(4, 1) });
  await pass(day(4, 11));
  const { new_subscription } = await change(id, { target_plan_id, proration_behavior: 'none' });
  await pass(day(5, 1));
  const after = await settled(new_subscription?.id ?? '');
  assert.equal(after.map(linesOf), [['charge 100 05-01–06-01']]);
  assert.is((await settled(id)).length, 1);
});

test('a change at the end of the period comes then, and can be taken back before', async () => {
  const { create, plan, pass, change, get, settled, schedules, revert } = await subscriptionWorld([
    monthly('50'),
  ]);
  const target_plan_id = await plan('More', [monthly('100')]);
  const { id } = await create({ start_date: day(4, 1), ...prorated });
  await pass(day(4, 11));
  const asked = { target_plan_id, change_at: 'end_of_period' };
  const scheduled = await change(id, asked);
  assert.ok(scheduled.is_scheduled);
  assert.is(scheduled.scheduled_at, day(5, 1));
  assert.is(scheduled.settlement.net_amount, '100');
  assert.is(scheduled.new_subscription, undefined);
  assert.is((await rejection(change(id, asked))).details?.reason, 'exists');
  const [found] = (await schedules(id)).schedules;
  assert.is(found?.schedule_type, 'plan_change');
  await revert(scheduled.schedule_id ?? '');
  assert.equal((await schedules(id)).schedules, []);
  await change(id, asked);
  await pass(day(5, 2));
  const old = await get(id);
  assert.is(old.subscription_status, 'cancelled');
  assert.is(old.cancelled_at, day(5, 1));
  assert.is((await settled(id)).length, 1);
});

test('what is to come is taken back by its name, once, and not under the name of another subscription', async () => {
  const { create, plan, pass, change, schedules, revertNamed } = await subscriptionWorld([
    monthly('50'),
  ]);
  const target_plan_id = await plan('More', [monthly('100')]);
  const { id } = await create({ start_date: day(4, 1) });
  await pass(day(4, 11));
  const other = await create({ start_date: day(4, 1) });
  const { schedule_id } = await change(id, { target_plan_id, change_at: 'period_end' });
  const refused = await rejection(revertNamed({ schedule_id, subscription_id: other.id }));
  assert.is(refused.code, 'not_found');
  assert.equal(refused.details?.field, 'schedule_id');
  assert.is((await schedules(id)).count, 1);
  const taken = await revertNamed({ schedule_id, subscription_id: id });
  assert.is(taken.schedule_status, 'cancelled');
  assert.is((await schedules(id)).count, 0);
  assert.is((await rejection(revertNamed({ schedule_id }))).details?.reason, 'ended');
});

test('a scheduled change moves with a pause, and falls away with a cancellation', async () => {
  const { create, plan, pass, change, pause, resume, cancel, get, schedules } =
    await subscriptionWorld([monthly('50')]);
  const target_plan_id = await plan('More', [monthly('100')]);
  const asked = { target_plan_id, change_at: 'period_end' };
  const { id } = await create({ start_date: day(4, 1), ...prorated });
  await pass(day(4, 11));
  await change(id, asked);
  await pause(id);
  await pass(day(5, 11));
  await resume(id);
  assert.is((await schedules(id)).schedules[0]?.scheduled_at, day(5, 31));
  await cancel(id, { cancellation_type: 'immediate' });
  assert.equal((await schedules(id)).schedules, []);
  assert.is((await get(id)).subscription_status, 'cancelled');
});

test('quantities, lines beside the plan and overrides are taken along where they mean something', async () => {
  const { create, plan, pass, change, get, priceIds } = await subscriptionWorld([
    {},
    of('ANNUAL', '7'),
  ]);
  const target_plan_id = await plan('More', [
    { ...monthly('30'), display_name: 'Seats' },
    { ...monthly('5'), display_name: 'Support' },
  ]);
  const seats = { price_id: priceIds[0], quantity: '5' };
  const own = { type: 'FIXED', billing_model: 'FLAT_FEE', price_unit_type: 'FIAT' };
  const { id } = await create({
    ...prorated,
    override_line_items: [seats],
    line_items: [
      {
        price: { ...own, ...monthly('3'), billing_period: 'MONTHLY', invoice_cadence: 'ADVANCE' },
        display_name: 'Extra',
      },
      {
        price: { ...own, ...monthly('9'), billing_period: 'ONETIME', invoice_cadence: 'ADVANCE' },
        display_name: 'Set-up',
      },
    ],
  });
  await pass(day(1, 11));
  const { carry_over, new_subscription } = await change(id, { target_plan_id });
  assert.equal(
    carry_over.map(({ kind, carried, reason }) => [kind, carried, reason]),
    [
      ['quantity', false, 'no_counterpart'],
      ['line', true, 'same_terms'],
      ['line', false, 'charged_once'],
    ],
  );
  const next = await get(new_subscription?.id ?? '');
  assert.equal(next.line_items.map(({ display_name }) => display_name).sort(), [
    'Extra',
    'Seats',
    'Support',
  ]);
});

test('a quantity goes to the only line of both plans', async () => {
  const { create, plan, pass, change, get, priceIds } = await subscriptionWorld([{}]);
  const target_plan_id = await plan('More', [monthly('30')]);
  const { id } = await create({
    ...prorated,
    override_line_items: [{ price_id: priceIds[0], quantity: '5' }],
  });
  await pass(day(1, 11));
  const { carry_over, new_subscription, change_type } = await change(id, { target_plan_id });
  assert.equal(
    carry_over.map(({ kind, carried }) => [kind, carried]),
    [['quantity', true]],
  );
  assert.is((await get(new_subscription?.id ?? '')).line_items[0]?.quantity, '5');
  assert.is(change_type, 'upgrade');
});

test('a quote binds a change, and says what has changed', async () => {
  const { create, plan, pass, previewChange, change, world } = await subscriptionWorld([{}]);
  const target_plan_id = await plan('More', [monthly('30')]);
  const { id } = await create({ start_date: day(4, 1), ...prorated });
  await pass(day(4, 30));
  const { quote_id } = await previewChange(id, { target_plan_id });
  const other = await plan('Most', [monthly('99')]);
  const refused = await rejection(change(id, { target_plan_id: other, quote_id }));
  assert.is(refused.code, 'version_conflict');
  assert.is(refused.details?.reason, 'quote_outdated');
  world.now = day(5, 2);
  const late = await rejection(change(id, { target_plan_id, quote_id }));
  assert.is(late.details?.reason, 'quote_expired');
});

test('a change is done once under its key', async () => {
  const { create, plan, pass, change } = await subscriptionWorld([{}]);
  const target_plan_id = await plan('More', [monthly('30')]);
  const { id } = await create({ start_date: day(4, 1), ...prorated });
  await pass(day(4, 11));
  const first = await change(id, { target_plan_id }, 'once');
  assert.equal(await change(id, { target_plan_id }, 'once'), first);
});

test('a change is refused to the same plan, from a paused one, and in a state that has none', async () => {
  const { create, plan, planId, pass, change, pause, cancel } = await subscriptionWorld([{}]);
  const target_plan_id = await plan('More', [monthly('30')]);
  const { id } = await create({ start_date: day(4, 1) });
  assert.is((await rejection(change(id, { target_plan_id }))).details?.reason, 'inactive');
  await pass(day(4, 11));
  assert.is(
    (await rejection(change(id, { target_plan_id: planId }))).details?.reason,
    'unsuitable',
  );
  await pause(id);
  assert.is((await rejection(change(id, { target_plan_id }))).details?.reason, 'paused');
  await cancel(id, { cancellation_type: 'immediate' });
  assert.is((await rejection(change(id, { target_plan_id }))).details?.reason, 'inactive');
});

test('a trial ends with a change, and the new plan begins at once', async () => {
  const { create, plan, pass, change, settled } = await subscriptionWorld([{}]);
  const target_plan_id = await plan('More', [monthly('30')]);
  const { id } = await create({ trial_period_days: 10, ...prorated });
  await pass(day(1, 5));
  const { new_subscription } = await change(id, { target_plan_id });
  assert.is(new_subscription?.current_period_end, day(2, 5));
  assert.equal((await settled(new_subscription?.id ?? '')).map(linesOf), [
    ['charge 30 01-05–02-05'],
  ]);
  assert.equal(await settled(id), []);
});

test('after 400 days of downtime a change comes at its instant, once, though two take it at the same time', async () => {
  const { create, plan, change, world, request, pass, get, settled } = await subscriptionWorld([
    monthly('50'),
  ]);
  const target_plan_id = await plan('More', [monthly('100')]);
  const { id } = await create();
  await change(id, { target_plan_id, change_at: 'end_of_period' });
  world.now = day(2, 5, 2027);
  const take = () => request().execute(subscription, id, takeDue(id));
  const outcomes = await Promise.all([take(), take()]);
  const told = outcomes.filter(({ events }) => events.some(({ type }) => type === 'PlanChanged'));
  assert.is(told.length, 1);
  const [outcome] = told;
  assert.ok(outcome);
  const follow = () => request().carryOut(followingSubscriptions, id, outcome);
  await Promise.all([follow(), follow()]);
  await follow();
  await pass(day(2, 5, 2027));
  assert.is((await get(id)).cancelled_at, day(2, 1));
  const next = outcome.state?.followed_by ?? '';
  const all = await settled(next);
  assert.equal(
    all.map(({ period_index }) => period_index),
    [...Array(13).keys()],
  );
  assert.is((await get(next)).current_period_start, day(2, 1, 2027));
});

test.run();
