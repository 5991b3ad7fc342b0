import { callRoute, rejection } from '@counterfoil/testkit';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { offersWith } from '../../offers/index.ts';
import { ofSubscriptions } from '../of-subscriptions.ts';
import { subscription } from '../subscription.ts';
import { day, subscriptionWorld } from '../test-subscription-world.ts';
import { grantRoutes } from './routes.ts';

const test = suite('grants of credits of a subscription itself');

const { routes = {} } = offersWith(ofSubscriptions);

async function granting(body: object = {}) {
  const world = await subscriptionWorld();
  const { request, create } = world;
  const { id } = await create(body);
  const on = (name: string, input: object) =>
    // biome-ignore lint/suspicious/noExplicitAny: each route answers in its own way.
    callRoute(routes[name as keyof typeof routes] as never, request(), input) as Promise<any>;
  const own = {
    ...{ name: 'Gift', scope: 'SUBSCRIPTION', subscription_id: id, credits: '10' },
    ...{ cadence: 'RECURRING', period: 'MONTHLY' },
  };
  return {
    ...world,
    id,
    on,
    add: (more: object = {}) => on('POST /creditgrants', { body: { ...own, ...more } }),
    /** The instants of what was given, and of what was skipped. */
    given: async () => {
      const found: string[] = [];
      for await (const event of request().history(subscription, id)) {
        if (event.type === 'CreditsGranted') found.push(event.data.period_start.slice(0, 10));
        if (event.type === 'CreditsSkipped')
          found.push(`not ${event.data.period_start.slice(0, 10)}`);
      }
      return found;
    },
    upcoming: async () => {
      const route = grantRoutes['GET /subscriptions/{id}/grants/upcoming'];
      const { items } = await callRoute(route, request(), { params: { id } });
      return items.map(({ scheduled_for }) => scheduled_for.slice(0, 10));
    },
  };
}

test('one is given from now on, and shows whose it is and when', async () => {
  const { add, given, upcoming, pass, id } = await granting();
  await pass(day(1, 10));
  const made = await add();
  assert.equal(
    [made.scope, made.subscription_id, made.start_date, made.credit_grant_anchor, made.end_date],
    ['SUBSCRIPTION', id, day(1, 10), day(1, 10), undefined],
  );
  assert.equal(await given(), ['2026-01-10']);
  assert.equal(await upcoming(), ['2026-02-10']);
  await pass(day(3, 10));
  assert.equal(await given(), ['2026-01-10', '2026-02-10', '2026-03-10']);
});

/** Examples of engine 19: a start that is dated back gives at once what has come by then. */
const dated: readonly [start: string, given: number, pending: number][] = [
  ['2026-03-14T00:00:00Z', 1, 1],
  ['2026-01-01T00:00:00Z', 3, 1],
  ['2026-03-20T00:00:00Z', 0, 1],
];
for (const [start_date, count, pending] of dated) {
  test(`E 19 on March 15 one from ${start_date} gives ${count} times`, async () => {
    const { add, given, upcoming, pass } = await granting();
    await pass(day(3, 15));
    await add({ start_date });
    assert.is((await given()).length, count);
    assert.is((await upcoming()).length, pending);
  });
}

test('one that is dated back leaves out what fell into a pause, and what has expired', async () => {
  const { add, given, pass, id, pause, on } = await granting();
  await pass(day(2, 10));
  await pause(id, { pause_end: day(2, 20) });
  await pass(day(3, 20));
  await add({ start_date: day(1, 15), expiration_type: 'BILLING_CYCLE' });
  assert.equal(await given(), ['2026-01-15', 'not 2026-02-15', '2026-03-15']);
  const { items } = await on('GET /creditgrants', { query: { subscription_ids: id } });
  assert.is(items.length, 1);
});

test('what is given for a period that is over expires with it, also where a pause holds the next one up', async () => {
  const { add, pause, pass, id, request } = await granting();
  await pause(id, { pause_mode: 'period_end', pause_end: day(3, 1) });
  await pass(day(2, 10));
  await add({ start_date: day(1, 20), expiration_type: 'BILLING_CYCLE' });
  const expiries: (string | null)[] = [];
  for await (const event of request().history(subscription, id)) {
    if (event.type === 'CreditsGranted') expiries.push(event.data.expires_at);
  }
  assert.equal(expiries, [day(2, 1)]);
});

test('E 19 credits for every two weeks come each 14 days, one after another', async () => {
  const { add, given, pass } = await granting();
  await add({ period: 'WEEKLY', period_count: 2 });
  await pass(day(2, 12));
  assert.equal(await given(), ['2026-01-01', '2026-01-15', '2026-01-29', '2026-02-12']);
});

test('it can be renamed, and ended: nothing is given for a period that ends later', async () => {
  const { add, on, given, upcoming, pass } = await granting();
  const { id } = await add();
  const put = (body: object) => on('PUT /creditgrants/{id}', { params: { id }, body });
  assert.is((await put({ name: 'Present' })).name, 'Present');
  assert.is((await put({ end_date: day(3, 15) })).end_date, day(3, 15));
  await pass(day(2, 1));
  assert.equal(await given(), ['2026-01-01', '2026-02-01']);
  await pass(day(5, 1));
  assert.equal([await given(), await upcoming()], [['2026-01-01', '2026-02-01'], []]);
  const past = await rejection(put({ end_date: day(6, 1) }));
  assert.is(past.code, 'invalid_operation', 'it gives nothing any more');
});

test('it can be stopped now or later, and stays as it is then', async () => {
  const { add, on, given, upcoming, pass, id: of } = await granting();
  const { id } = await add();
  const stop = (body: object = {}) => on('DELETE /creditgrants/{id}', { params: { id }, body });
  const later = await stop({ effective_date: day(2, 20) });
  assert.match(later.message, '2026-02-20');
  assert.equal(await upcoming(), []);
  await pass(day(1, 5));
  const { message } = await stop();
  assert.match(message, '2026-01-05');
  assert.equal(await stop(), { message });
  const shown = await on('GET /creditgrants/{id}', { params: { id } });
  assert.equal([shown.status, shown.end_date], ['archived', day(1, 5)]);
  await pass(day(4, 1));
  assert.equal(await given(), ['2026-01-01']);
  const list = { query: { subscription_ids: of } };
  assert.is((await on('GET /creditgrants', list)).items.length, 0);
});

test('the end of the subscription ends it', async () => {
  const { add, on, cancel, id: of } = await granting();
  const { id } = await add();
  await cancel(of, { cancellation_type: 'immediate' });
  const shown = await on('GET /creditgrants/{id}', { params: { id } });
  assert.is(shown.end_date, day(1, 1));
  assert.is((await rejection(add())).code, 'invalid_operation');
  const unknown = await rejection(add({ subscription_id: 'subs_none' }));
  assert.equal([unknown.code, unknown.details?.field], ['not_found', 'subscription_id']);
});

test('a trial gives nothing before its end', async () => {
  const { add, given, upcoming } = await granting({ trial_period_days: 7 });
  await add();
  assert.equal([await given(), await upcoming()], [[], ['2026-01-08']]);
});

test.run();
