// What was scheduled for subscriptions, and what became of it.
import { callRoute, rejection } from '@counterfoil/testkit';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { day, subscriptionWorld } from '../test-subscription-world.ts';
import { scheduleRoutes as routes } from './routes.ts';

const test = suite('schedules of subscriptions');

/** A world with another plan, and the lists of what was scheduled. */
async function scheduledWorld() {
  const world = await subscriptionWorld([{ amount: '31' }]);
  const target_plan_id = await world.plan('Better', [{ amount: '62' }]);
  const listed = async (query: object = {}) =>
    (await callRoute(routes['GET /subscriptions/schedules'], world.request(), { query })).items;
  return {
    ...world,
    target_plan_id,
    listed,
    shown: async (query: object = {}) =>
      (await listed(query)).map((each) => [each.schedule_type, each.schedule_status]).reverse(),
    one: (id: string) =>
      callRoute(routes['GET /subscriptions/schedules/{id}'], world.request(), { params: { id } }),
  };
}

test('a cancellation is overtaken by another one, taken back, and carried out', async () => {
  const { create, cancel, update, pass, listed, shown, one, schedules, revert } =
    await scheduledWorld();
  const { id } = await create();
  await cancel(id, { cancellation_type: 'end_of_period', reason: 'moved' });
  await pass(day(1, 2));
  await cancel(id, { cancellation_type: 'scheduled_date', cancel_at: day(3, 5) });
  await pass(day(1, 3));
  assert.equal(await shown(), [
    ['cancellation', 'cancelled'],
    ['cancellation', 'pending'],
  ]);
  const [pending, overtaken] = await listed();
  assert.equal(
    [overtaken?.reason, overtaken?.cancelled_at, overtaken?.scheduled_at],
    ['moved', day(1, 2), day(2, 1)],
  );
  await update(id, { cancel_at_period_end: false });
  assert.equal(await listed({ pending_only: 'true' }), []);
  assert.is((await one(pending?.id ?? '')).schedule_status, 'cancelled');
  await pass(day(1, 4));
  await cancel(id, { cancellation_type: 'end_of_period' });
  await pass(day(2, 2));
  const [last] = await listed();
  assert.equal([last?.schedule_status, last?.executed_at], ['executed', day(2, 1)]);
  assert.equal((await schedules(id)).schedules, []);
  assert.is((await rejection(revert(last?.id ?? ''))).details?.reason, 'ended');
  assert.is((await rejection(one('sched_none'))).code, 'not_found');
});

test('a change of plan that has come is executed, and one that something else came before is not', async () => {
  const { create, change, cancel, pass, target_plan_id, listed, shown } = await scheduledWorld();
  const later = { target_plan_id, change_at: 'end_of_period' };
  const [{ id }, other] = [await create(), await create()];
  await change(id, later);
  await change(other.id, later);
  assert.equal(
    (await listed({ subscription_id: id, pending_only: 'true' })).map((each) => [
      each.target_plan_id,
      each.scheduled_at,
    ]),
    [[target_plan_id, day(2, 1)]],
  );
  await pass(day(1, 11));
  await cancel(other.id, { cancellation_type: 'immediate' });
  await pass(day(2, 1));
  assert.equal(await shown({ subscription_id: id }), [['plan_change', 'executed']]);
  assert.equal(await shown({ subscription_id: other.id }), [['plan_change', 'cancelled']]);
});

test('a pause moves what is to come', async () => {
  const { create, change, cancel, pause, pass, target_plan_id, listed } = await scheduledWorld();
  const [{ id }, other] = [await create(), await create()];
  await change(id, { target_plan_id, change_at: 'end_of_period' });
  await cancel(other.id, { cancellation_type: 'end_of_period' });
  for (const each of [id, other.id]) await pause(each, { pause_days: 5 });
  await pass(day(1, 6));
  assert.equal(
    (await listed()).map(({ schedule_status, scheduled_at }) => [schedule_status, scheduled_at]),
    [
      ['pending', day(2, 6)],
      ['pending', day(2, 6)],
    ],
  );
});

test.run();
