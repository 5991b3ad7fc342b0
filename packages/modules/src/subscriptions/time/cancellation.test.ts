import { rejection } from '@counterfoil/testkit';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { day, subscriptionWorld } from '../test-subscription-world.ts';

const test = suite('the end of subscriptions');

const usage = { type: 'USAGE', amount: '0.02' };

/** A subscription of June 2026, 30 days of 600 in advance, and half of it gone by. */
async function halfAMonth(prices: readonly object[] = [{ amount: '600' }]) {
  const world = await subscriptionWorld(prices);
  await world.pass(day(6, 1));
  const made = await world.create();
  await world.pass(day(6, 16));
  return { ...world, id: made.id };
}

test('an immediate end credits what was paid for the rest, and bills what is owed', async () => {
  const { id, cancel, get, settled, lines, pass, events } = await halfAMonth([
    { amount: '600' },
    usage,
  ]);
  const answer = await cancel(id, { cancellation_type: 'immediate', reason: 'moved' });
  assert.is(answer.status, 'cancelled');
  assert.is(answer.total_credit_amount, '300');
  assert.is(answer.effective_date, day(6, 16));
  assert.is(answer.settlement.net_amount, '-300');
  assert.is(answer.proration_details[0]?.charged_amount, '600');
  const after = await get(id);
  assert.is(after.subscription_status, 'cancelled');
  assert.is(after.cancelled_at, day(6, 16));
  assert.is(after.end_date, day(6, 16));
  assert.equal(
    after.line_items.map(({ end_date }) => end_date),
    [day(6, 16), day(6, 16)],
  );
  const rows = await lines({ subscription_ids: [id] });
  assert.ok(rows.items.every(({ end_date }) => end_date === day(6, 16)));
  const last = (await settled(id)).at(-1);
  assert.is(last?.reason, 'cancelled');
  const billed = last?.lines.find(({ kind }) => kind === 'usage');
  assert.equal(billed?.span, { start: day(6, 1), end: day(6, 16) });
  const told = await events(id);
  await pass(day(12, 1));
  assert.equal(await events(id), told, 'nothing happens after the end');
  assert.is(
    (await rejection(cancel(id, { cancellation_type: 'immediate' }))).code,
    'invalid_operation',
  );
});

test('without proration nothing is credited, and arrears may be left out', async () => {
  const { id, cancel, settled } = await halfAMonth([{ amount: '600' }, usage]);
  const answer = await cancel(id, {
    cancellation_type: 'immediate',
    proration_behavior: 'none',
    cancel_immediately_inovice_policy: 'skip',
  });
  assert.is(answer.total_credit_amount, '0');
  assert.equal(answer.settlement.lines, []);
  assert.is((await settled(id)).length, 1);
});

test('an immediate end may lie back in the period that runs', async () => {
  const { id, cancel } = await halfAMonth();
  const at = async (cancel_at: string) =>
    (await rejection(cancel(id, { cancellation_type: 'immediate', cancel_at }))).errors?.[0];
  assert.is((await at(day(6, 17)))?.pointer, '/cancel_at');
  assert.is((await at(day(6, 1)))?.pointer, '/cancel_at');
  const answer = await cancel(id, { cancellation_type: 'immediate', cancel_at: day(6, 11) });
  assert.is(answer.total_credit_amount, '400');
  assert.is(answer.effective_date, day(6, 11));
});

test('an end with the period waits for it, and bills it as ever', async () => {
  const { id, cancel, get, pass, events, schedules, settled } = await halfAMonth([
    { amount: '600' },
    usage,
  ]);
  const answer = await cancel(id, { cancellation_type: 'end_of_period' });
  assert.is(answer.status, 'active');
  assert.is(answer.effective_date, day(7, 1));
  const waiting = await get(id);
  assert.is(waiting.cancel_at, day(7, 1));
  assert.ok(waiting.cancel_at_period_end);
  assert.is(waiting.cancelled_at, undefined);
  assert.is((await schedules(id)).schedules[0]?.scheduled_at, day(7, 1));
  await pass(day(7, 1));
  assert.equal((await events(id)).slice(-4), [
    'CancellationScheduled',
    'PeriodClosed',
    'SettlementRecorded',
    'SubscriptionCancelled',
  ]);
  const after = await get(id);
  assert.is(after.cancelled_at, day(7, 1));
  assert.is(after.current_period_end, day(7, 1));
  assert.is((await settled(id)).at(-1)?.reason, 'period_closed');
});

test('an end that is scheduled can be taken back, and replaced', async () => {
  const { id, cancel, get, update, pass, schedules } = await halfAMonth();
  await cancel(id, { cancellation_type: 'end_of_period' });
  assert.is((await update(id, { cancel_at_period_end: false })).cancel_at, undefined);
  assert.equal((await schedules(id)).schedules, []);
  await pass(day(7, 2));
  assert.is((await get(id)).subscription_status, 'active');
  assert.is((await update(id, { cancel_at_period_end: true })).cancel_at, day(8, 1));
  const moved = await update(id, { cancel_at: day(7, 20) });
  assert.is(moved.cancel_at, day(7, 20));
  assert.not(moved.cancel_at_period_end);
  assert.is((await schedules(id)).count, 1);
  await pass(day(9, 1));
  assert.is((await get(id)).cancelled_at, day(7, 20));
});

test('an end on a date closes the period there, and credits the rest', async () => {
  const { id, cancel, pass, settled } = await halfAMonth([{ amount: '600' }, usage]);
  await cancel(id, { cancellation_type: 'scheduled_date', cancel_at: day(7, 16) });
  await pass(day(8, 20));
  const last = (await settled(id)).at(-1);
  assert.is(last?.at, day(7, 16));
  // 15 of the 31 days of July are used.
  assert.is(last?.credit_amount, '309.68');
  const billed = last?.lines.find(({ kind }) => kind === 'usage');
  assert.equal(billed?.span, { start: day(7, 1), end: day(7, 16) });
});

test('a longer line is credited when a subscription ends with a shorter period', async () => {
  const { id, cancel, pass, settled } = await halfAMonth([
    { amount: '10' },
    { amount: '1200', billing_period: 'ANNUAL' },
    { amount: '90', billing_period: 'QUARTERLY', invoice_cadence: 'ARREAR' },
  ]);
  await cancel(id, { cancellation_type: 'end_of_period' });
  await pass(day(7, 1));
  const [closing, ending] = (await settled(id)).slice(-2);
  // 30 of the 92 days of the quarter that began with June.
  assert.is(closing?.charge_amount, '29.35');
  // 335 of 365 days.
  assert.is(ending?.credit_amount, '1101.37');
});

test('a subscription with an end is billed up to there', async () => {
  const { create, pass, settled, get } = await subscriptionWorld([{ amount: '31' }, usage]);
  const made = await create({ end_date: day(2, 15), proration_behavior: 'create_prorations' });
  await pass(day(5, 1));
  const after = await get(made.id);
  assert.is(after.subscription_status, 'cancelled');
  assert.is(after.cancelled_at, day(2, 15));
  const charged = (await settled(made.id)).map(({ at, charge_amount }) => [at, charge_amount]);
  assert.equal(charged, [
    [day(1, 1), '31'],
    [day(2, 1), '0'],
    [day(2, 1), '15.5'],
    [day(2, 15), '0'],
  ]);
});

test('a trial that is cancelled costs nothing', async () => {
  const { create, cancel, settled, pass, get } = await subscriptionWorld([{}, usage]);
  const now = await create({ trial_period_days: 14 });
  const later = await create({ trial_period_days: 14 });
  await cancel(later.id, { cancellation_type: 'end_of_period' });
  await pass(day(1, 8));
  await cancel(now.id, { cancellation_type: 'immediate' });
  await pass(day(3, 1));
  assert.equal(await settled(now.id), []);
  assert.equal(await settled(later.id), []);
  assert.is((await get(later.id)).cancelled_at, day(1, 15));
});

test('a subscription that has not begun is cancelled for nothing', async () => {
  const { create, cancel, settled, pass, events } = await subscriptionWorld();
  const made = await create({ start_date: day(3, 1) });
  assert.is(
    (await rejection(cancel(made.id, { cancellation_type: 'end_of_period' }))).code,
    'invalid_operation',
  );
  await cancel(made.id, { cancellation_type: 'immediate' });
  await pass(day(4, 1));
  assert.equal(await settled(made.id), []);
  assert.equal(await events(made.id), ['SubscriptionCreated', 'SubscriptionCancelled']);
});

test('a repeated cancellation under one key answers the same and settles once', async () => {
  const { id, cancel, settled } = await halfAMonth();
  const first = await cancel(id, { cancellation_type: 'immediate' }, 'end-1');
  assert.equal(await cancel(id, { cancellation_type: 'immediate' }, 'end-1'), first);
  assert.is((await settled(id)).length, 2);
});

test.run();
