import { rejection } from '@counterfoil/testkit';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { day, subscriptionWorld } from '../test-subscription-world.ts';

const test = suite('pauses of subscriptions');

const arrear = { invoice_cadence: 'ARREAR', amount: '30' };
const usage = { type: 'USAGE', amount: '1' };
const prorated = { proration_behavior: 'create_prorations' };

/** The charges, credits and spans of usage of a settlement, as texts. */
const linesOf = ({ lines }: { readonly lines: readonly object[] }): string[] =>
  (
    lines as {
      kind: string;
      amount?: string;
      span: { start: string; end: string };
      excluded?: { start: string; end: string }[];
    }[]
  ).map(({ kind, amount, span, excluded }) => {
    const days = [span, ...(excluded ?? [])].map((each) =>
      [each.start, each.end].map((at) => at.slice(5, 10)).join('–'),
    );
    return [kind, amount, ...days].filter(Boolean).join(' ');
  });

test('E 10.6 a pause makes the period longer by its length, and later ones are counted from there', async () => {
  const { create, pause, resume, pass, get, settled } = await subscriptionWorld([
    {},
    arrear,
    usage,
  ]);
  const { id } = await create({ start_date: day(4, 1), ...prorated });
  await pass(day(4, 11));
  const paused = await pause(id, { reason: 'on leave' });
  assert.is(paused.subscription.subscription_status, 'paused');
  assert.is(paused.subscription.pause_status, 'active');
  assert.is(paused.subscription.active_pause_id, paused.pause.id);
  assert.is(paused.pause.original_period_end, day(5, 1));
  await pass(day(4, 16));
  const resumed = await resume(id);
  assert.is(resumed.subscription.subscription_status, 'active');
  assert.is(resumed.subscription.current_period_end, day(5, 6));
  assert.is(resumed.pause.resumed_at, day(4, 16));
  assert.is(resumed.settlement.net_amount, '0');
  await pass(day(5, 6));
  const shown = await get(id);
  assert.equal([shown.current_period_start, shown.current_period_end], [day(5, 6), day(6, 6)]);
  const all = await settled(id);
  assert.equal(all.map(linesOf), [
    ['charge 10 04-01–05-01'],
    ['charge 30 04-01–05-06', 'usage 04-01–05-06 04-11–04-16'],
    ['charge 10 05-06–06-06'],
  ]);
});

test('what was unused when a pause began is unused when it is over', async () => {
  const cancelled = { cancellation_type: 'immediate' };
  const { create, pause, resume, pass, cancel } = await subscriptionWorld([{ amount: '30' }]);
  const { id } = await create({ start_date: day(4, 1), ...prorated });
  const other = await create({ start_date: day(4, 1), ...prorated });
  await pass(day(4, 11));
  await pause(id);
  await pause(other.id);
  await pass(day(4, 16));
  await resume(id);
  assert.is((await cancel(id, cancelled)).total_credit_amount, '20');
  await pass(day(8, 1));
  assert.is((await cancel(other.id, cancelled)).total_credit_amount, '20', 'while it is paused');
});

test('a last period that is paused from its first instant to its end owes nothing in arrears', async () => {
  for (const terms of [{}, prorated]) {
    const { create, pause, pass, get, settled } = await subscriptionWorld([arrear, usage]);
    const { id } = await create({ start_date: day(1, 1), end_date: day(2, 10), ...terms });
    await pass(day(2, 1));
    await pause(id);
    await pass(day(2, 10));
    assert.is((await get(id)).subscription_status, 'cancelled');
    assert.equal((await settled(id)).map(linesOf), [
      ['charge 30 01-01–02-01', 'usage 01-01–02-01'],
      ['charge 0 02-01–02-10', 'usage 02-01–02-10 02-01–02-10'],
    ]);
  }
});

test('a pause begins at an instant or with the end of the period, and ends by itself', async () => {
  const { create, pause, pass, get, pauses, settled, events } = await subscriptionWorld();
  const { id: first } = await create({ start_date: day(4, 1) });
  const { id: second } = await create({ start_date: day(4, 1) });
  await pass(day(4, 2));
  const scheduled = await pause(first, {
    pause_mode: 'scheduled',
    pause_start: day(4, 11),
    pause_end: day(4, 16),
  });
  assert.is(scheduled.subscription.subscription_status, 'active');
  assert.is(scheduled.subscription.pause_status, 'scheduled');
  assert.is(scheduled.billing_impact.adjusted_period_end, day(5, 6));
  await pause(second, { pause_mode: 'period_end', pause_days: 10 });
  await pass(day(4, 12));
  assert.is((await get(first)).subscription_status, 'paused');
  await pass(day(5, 3));
  assert.is((await get(second)).subscription_status, 'paused');
  assert.is((await settled(second)).length, 1, 'the next period waits');
  await pass(day(5, 20));
  assert.is((await get(first)).current_period_start, day(5, 6));
  const shown = await get(second);
  assert.equal([shown.current_period_start, shown.current_period_end], [day(5, 11), day(6, 11)]);
  assert.equal(
    (await pauses(second)).items.map(({ pause_status, resumed_at }) => [pause_status, resumed_at]),
    [['completed', day(5, 11)]],
  );
  const told = (await events(second)).filter((type) => /Pause|Period/.test(type));
  const opened = ['PeriodOpened', 'PauseScheduled', 'PeriodClosed', 'PauseStarted'];
  assert.equal(told, [...opened, 'PauseEnded', 'PeriodOpened']);
});

test('a pause that has not begun is given up by resuming', async () => {
  const { create, pause, resume, pass, get, pauses } = await subscriptionWorld();
  const { id } = await create();
  await pause(id, { pause_mode: 'period_end' });
  assert.is((await rejection(pause(id))).code, 'invalid_operation');
  const { pause: given } = await resume(id);
  assert.is(given.pause_status, 'cancelled');
  await pass(day(2, 2));
  assert.is((await get(id)).current_period_start, day(2, 1));
  await pause(id, { pause_days: 3 });
  assert.is((await pauses(id)).total, 2);
});

test('the end of a pause can be moved', async () => {
  const { create, pause, resume, pass, get } = await subscriptionWorld();
  const { id } = await create();
  await pass(day(1, 11));
  await pause(id);
  const at = { resume_mode: 'scheduled', resume_at: day(1, 21) };
  assert.is((await resume(id, at)).pause.pause_end, day(1, 21));
  await pass(day(1, 20));
  assert.is((await get(id)).subscription_status, 'paused');
  await pass(day(1, 21));
  assert.is((await get(id)).subscription_status, 'active');
  assert.is((await get(id)).current_period_end, day(2, 11));
});

test('grants that fall into a pause are skipped and keep their rhythm', async () => {
  const { create, pause, pass, resume, request, call, planId, events } = await subscriptionWorld();
  const grant = {
    scope: 'PLAN',
    plan_id: planId,
    name: 'Credits',
    credits: '10',
    cadence: 'RECURRING',
    period: 'MONTHLY',
    period_count: 1,
    expiration_type: 'NEVER',
  };
  const { offers } = await import('../../offers/index.ts');
  await call(offers.routes, 'POST /creditgrants', grant);
  const { id } = await create();
  await pass(day(1, 20));
  await pause(id);
  await pass(day(2, 5));
  await resume(id);
  await pass(day(3, 2));
  const { subscription } = await import('../subscription.ts');
  const given: string[] = [];
  for await (const event of request().history(subscription, id)) {
    if (event.type === 'CreditsGranted' || event.type === 'CreditsSkipped') {
      given.push(`${event.type} ${event.data.period_start.slice(0, 10)}`);
    }
  }
  assert.equal(given, [
    'CreditsGranted 2026-01-01',
    'CreditsSkipped 2026-02-01',
    'CreditsGranted 2026-03-01',
  ]);
  assert.ok((await events(id)).length > 0);
});

test('the end of the subscription comes when it comes, and what was paid for longer is credited', async () => {
  const { create, pause, resume, pass, settled, get } = await subscriptionWorld([{ amount: '30' }]);
  const { id } = await create({ start_date: day(4, 1), end_date: day(4, 21), ...prorated });
  await pass(day(4, 11));
  await pause(id);
  await pass(day(4, 16));
  const { settlement } = await resume(id);
  assert.equal(linesOf(settlement), ['credit 5 04-21–04-26']);
  await pass(day(5, 1));
  assert.is((await get(id)).subscription_status, 'cancelled');
  assert.equal(
    (await settled(id)).map(({ net_amount }) => net_amount),
    ['20', '-5'],
  );
  const held = await create({ start_date: day(5, 1), end_date: day(5, 21), ...prorated });
  await pass(day(5, 11));
  await pause(held.id);
  await pass(day(6, 11));
  assert.is((await get(held.id)).cancelled_at, day(5, 21));
  assert.equal((await settled(held.id)).map(linesOf)[1], ['credit 9.68 05-21–05-31']);
});

test('a cancellation at the end of the period waits for the end of a pause, one on a date does not', async () => {
  const { create, pause, resume, pass, cancel, get } = await subscriptionWorld();
  const { id: waiting } = await create({ start_date: day(4, 1) });
  const { id: dated } = await create({ start_date: day(4, 1) });
  await pass(day(4, 11));
  await cancel(waiting, { cancellation_type: 'end_of_period' });
  await cancel(dated, { cancellation_type: 'scheduled_date', cancel_at: day(4, 20) });
  await pause(waiting);
  await pause(dated);
  await pass(day(5, 11));
  assert.is((await get(waiting)).subscription_status, 'paused');
  assert.is((await get(dated)).cancelled_at, day(4, 20));
  const { subscription } = await resume(waiting);
  assert.is(subscription.cancel_at, day(5, 31));
  await pass(day(6, 1));
  assert.is((await get(waiting)).cancelled_at, day(5, 31));
});

test('usage in a pause is billed where the pause says so', async () => {
  const { create, pause, resume, pass, settled } = await subscriptionWorld([usage]);
  const { id } = await create({ start_date: day(4, 1) });
  await pass(day(4, 11));
  await pause(id, { bill_usage: true });
  await pass(day(4, 16));
  await resume(id);
  await pass(day(5, 6));
  assert.equal((await settled(id)).map(linesOf), [['usage 04-01–05-06']]);
});

test('a dry run records nothing', async () => {
  const { create, pause, pass, get, pauses, events } = await subscriptionWorld();
  const { id } = await create();
  await pass(day(1, 11));
  const before = await events(id);
  const seen = await pause(id, { pause_days: 5, dry_run: true });
  assert.ok(seen.dry_run);
  assert.is(seen.billing_impact.adjusted_period_end, day(2, 6));
  assert.equal(await events(id), before);
  assert.is((await get(id)).subscription_status, 'active');
  assert.is((await pauses(id)).total, 0);
});

const refusals: readonly (readonly [string, object, string])[] = [
  ['of a start that is over', { pause_mode: 'scheduled', pause_start: day(1, 1) }, '/pause_start'],
  ['of an end before its start', { pause_end: day(1, 1) }, '/pause_end'],
  ['of eleven years', { pause_end: day(1, 1, 2037) }, '/pause_end'],
];
for (const [name, body, pointer] of refusals) {
  test(`a pause is refused because ${name}`, async () => {
    const { create, pause, pass } = await subscriptionWorld();
    const { id } = await create();
    await pass(day(1, 11));
    const refused = await rejection(pause(id, body));
    assert.is(refused.errors?.[0]?.pointer, pointer);
  });
}

test('a pause whose end was 400 days ago ended then, and what it held back came in its order', async () => {
  const { create, pause, world, pass, get, settled, pauses } = await subscriptionWorld();
  const { id } = await create();
  await pause(id, { pause_mode: 'period_end', pause_days: 10 });
  world.now = day(3, 17, 2027);
  assert.is((await get(id)).subscription_status, 'active', 'nobody has looked');
  await pass(day(3, 17, 2027));
  assert.is((await pauses(id)).items[0]?.resumed_at, day(2, 11));
  assert.equal(
    (await settled(id)).map(({ period_index }) => period_index),
    [...Array(15).keys()],
  );
  assert.is((await get(id)).current_period_start, day(3, 11, 2027));
});

test('only what is active and has begun can be paused, and only what is paused resumed', async () => {
  const { create, pause, resume, pass, cancel } = await subscriptionWorld();
  const trial = await create({ trial_period_days: 7 });
  assert.is((await rejection(pause(trial.id))).details?.reason, 'inactive');
  const later = await create({ start_date: day(3, 1) });
  assert.is((await rejection(pause(later.id))).details?.reason, 'inactive');
  const { id } = await create();
  assert.is((await rejection(resume(id))).details?.reason, 'inactive');
  await pass(day(1, 2));
  await pause(id);
  assert.is((await rejection(pause(id))).details?.reason, 'paused');
  await cancel(id, { cancellation_type: 'immediate' });
  assert.is((await rejection(resume(id))).details?.reason, 'inactive');
});

test.run();
