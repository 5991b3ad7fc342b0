import { callRoute, rejection } from '@counterfoil/testkit';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { features } from '../../features/index.ts';
import { offersWith } from '../../offers/index.ts';
import { ofSubscriptions } from '../of-subscriptions.ts';
import { subscriptionRoutes } from '../routes.ts';
import { day, subscriptionWorld } from '../test-subscription-world.ts';

const test = suite('entitlements of a subscription itself');

const { routes = {} } = offersWith(ofSubscriptions);

/** A world with a subscription to a plan that grants 100 calls, and a feature that it does not grant. */
async function granting() {
  const world = await subscriptionWorld();
  const { call, planId, meterId, request, create } = world;
  const feature = (body: object) => call(features.routes, 'POST /features', body);
  const { id: calls } = await feature({ name: 'Calls', type: 'metered', meter_id: meterId });
  const { id: help } = await feature({ name: 'Help', type: 'boolean' });
  const plan = { plan_id: planId, feature_id: calls, feature_type: 'metered', usage_limit: 100 };
  const limit = await call(routes, 'POST /entitlements', plan);
  const { id } = await create();
  const on = (name: string, input: object) =>
    // biome-ignore lint/suspicious/noExplicitAny: each route answers in its own way.
    callRoute(routes[name as keyof typeof routes] as never, request(), input) as Promise<any>;
  const own = { entity_type: 'SUBSCRIPTION', entity_id: id } as const;
  return {
    ...world,
    id,
    calls,
    help,
    limitId: limit.id,
    on,
    add: (body: object) =>
      on('POST /entitlements', { body: { ...own, feature_type: 'metered', ...body } }),
    own,
    of: async (as_of?: string) => {
      const route = subscriptionRoutes['GET /subscriptions/{id}/entitlements'];
      const { features: all } = await callRoute(route, request(), {
        params: { id },
        query: as_of === undefined ? {} : { as_of },
      });
      return all.map(({ feature: { id: feature_id }, entitlement, sources }) => [
        feature_id === calls ? 'calls' : 'help',
        entitlement.usage_limit,
        sources.map(({ reason }) => reason),
      ]);
    },
  };
}

test('one stands beside what the plan gives, and one with a parent in its place', async () => {
  const { add, of, calls, limitId, on, id } = await granting();
  const beside = await add({ feature_id: calls, usage_limit: 20 });
  assert.equal(
    [beside.entity_type, beside.entity_id, beside.feature.name, beside.status],
    ['SUBSCRIPTION', id, 'Calls', 'published'],
  );
  assert.equal(await of(), [['calls', 120, ['plan', 'override']]]);
  const again = await rejection(add({ feature_id: calls, usage_limit: 5 }));
  assert.equal([again.code, again.details?.field], ['already_exists', 'feature_id']);
  await on('DELETE /entitlements/{id}', { params: { id: beside.id } });
  assert.equal(await of(), [['calls', 100, ['plan']]]);
  const instead = await add({ feature_id: calls, usage_limit: 5, parent_entitlement_id: limitId });
  assert.is.not(instead.id, beside.id, 'in the same instant');
  assert.equal(await of(), [['calls', 5, ['override']]]);
});

test('what it leaves out is as its parent has it', async () => {
  const { add, calls, limitId, on } = await granting();
  const off = await add({ feature_id: calls, is_soft_limit: true, parent_entitlement_id: limitId });
  assert.equal([off.usage_limit, off.is_soft_limit, off.is_enabled], [100, true, true]);
  const put = (body: object) => on('PUT /entitlements/{id}', { params: { id: off.id }, body });
  assert.is((await put({ usage_limit: 0 })).usage_limit, 0);
  const unlimited = await put({ usage_limit: null });
  assert.equal([unlimited.usage_limit, unlimited.is_soft_limit], [undefined, true]);
  const misfit = await rejection(put({ static_value: 'gold' }));
  assert.is(misfit.errors?.[0]?.pointer, '/static_value');
});

test('dates count, and what it was at any instant is known', async () => {
  const { add, of, calls, limitId, on, pass } = await granting();
  const start_date = day(2, 1);
  const end_date = day(3, 1);
  const dates = { start_date, end_date };
  const made = await add({
    feature_id: calls,
    usage_limit: 7,
    parent_entitlement_id: limitId,
    ...dates,
  });
  const [plan, own] = [[['calls', 100, ['plan']]], [['calls', 7, ['override']]]];
  assert.equal(await of(), plan);
  assert.equal([await of(day(2, 1)), await of(day(3, 1))], [own, plan]);
  await pass(day(2, 15));
  assert.equal([await of(), await of('2026-01-31T23:59:59Z')], [own, plan]);
  await on('PUT /entitlements/{id}', { params: { id: made.id }, body: { usage_limit: 9 } });
  assert.equal(
    [await of(), await of(day(2, 10)), await of(day(2, 20))],
    [[['calls', 9, ['override']]], own, [['calls', 9, ['override']]]],
  );
  await pass(day(2, 20));
  await on('DELETE /entitlements/{id}', { params: { id: made.id } });
  assert.equal([await of(), await of(day(2, 10))], [plan, own]);
});

test('one that is booked with an earlier start has granted since then', async () => {
  const { add, of, help, pass } = await granting();
  await pass(day(2, 15));
  await add({ feature_id: help, feature_type: 'boolean', start_date: day(2, 1) });
  const on = [
    ['calls', 100, ['plan']],
    ['help', null, ['override']],
  ];
  const byName = (found: unknown[][]) => found.sort(([a], [b]) => (String(a) < String(b) ? -1 : 1));
  assert.equal(byName(await of(day(2, 10))), on);
  assert.is((await of('2026-01-31T00:00:00Z')).length, 1);
});

test('in bulk all are made or none, and the refusal names the item', async () => {
  const { on, own, of, calls, help, limitId } = await granting();
  const bulk = (items: readonly object[]) =>
    on('POST /entitlements/bulk', { body: { items: items.map((item) => ({ ...own, ...item })) } });
  const good = { feature_id: help };
  const refused = await rejection(
    bulk([good, { feature_id: calls, parent_entitlement_id: 'ent_x' }]),
  );
  assert.equal([refused.code, refused.details?.index], ['not_found', 1]);
  const other = await rejection(bulk([good, { feature_id: help, parent_entitlement_id: limitId }]));
  assert.equal(
    [other.errors?.[0]?.pointer, other.details?.index],
    ['/items/1/parent_entitlement_id', 1],
  );
  assert.is((await of()).length, 1);
  const { items } = await bulk([good, { feature_id: calls, usage_limit: 1 }]);
  assert.is(items.length, 2);
  assert.equal((await of()).length, 2);
});

test('they are found by their owner, and unknown owners are not', async () => {
  const { add, on, own, help, id } = await granting();
  const made = await add({ feature_id: help, feature_type: 'boolean' });
  const listed = await on('GET /entitlements', { query: { entity_ids: id } });
  assert.equal(
    listed.items.map((each: { id: string }) => each.id),
    [made.id],
  );
  const searched = await on('POST /entitlements/search', { body: { entity_type: 'SUBSCRIPTION' } });
  assert.is(searched.pagination.total, 1);
  const found = await on('GET /entitlements/{id}', { params: { id: made.id } });
  assert.equal(found, made);
  const body = { ...own, entity_id: 'subs_none', feature_id: help, feature_type: 'boolean' };
  const unknown = await rejection(on('POST /entitlements', { body }));
  assert.equal([unknown.code, unknown.details?.field], ['not_found', 'entity_id']);
});

test.run();
