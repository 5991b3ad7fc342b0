import { callRoute, rejection } from '@counterfoil/testkit';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { type CustomerEntitlementRoutes, entitlements } from '../../entitlements/index.ts';
import { features } from '../../features/index.ts';
import { offers } from '../../offers/index.ts';
import { subscriptionRoutes } from '../routes.ts';
import { day, subscriptionWorld } from '../test-subscription-world.ts';
import { grantsOf } from './grants.ts';

const test = suite('entitlements of subscriptions');

/** A world with a plan that grants 100 calls and a switched feature. */
async function granting() {
  const world = await subscriptionWorld();
  const { call, planId, meterId, request } = world;
  const calls = await call(features.routes, 'POST /features', {
    name: 'Calls',
    type: 'metered',
    meter_id: meterId,
  });
  const support = await call(features.routes, 'POST /features', { name: 'Help', type: 'boolean' });
  const grant = (body: object) =>
    call(offers.routes, 'POST /entitlements', { plan_id: planId, ...body });
  const limit = await grant({ feature_id: calls.id, feature_type: 'metered', usage_limit: 100 });
  await grant({ feature_id: support.id, feature_type: 'boolean' });
  const routes = entitlements({ grantsOf }).routes as CustomerEntitlementRoutes;
  return {
    ...world,
    limitId: limit.id,
    grant,
    callsId: calls.id,
    of: async (query: object = {}) =>
      callRoute(routes['GET /customers/external/{external_id}/entitlements'], request(), {
        params: { external_id: 'ada' },
        query,
      }),
    ofSubscription: (id: string, query: object = {}) =>
      callRoute(subscriptionRoutes['GET /subscriptions/{id}/entitlements'], request(), {
        params: { id },
        query,
      }),
  };
}

test('a customer has what its active and trialing subscriptions give', async () => {
  const { create, of, callsId, cancel, pass, ofSubscription } = await granting();
  assert.equal((await of()).features, []);
  const one = await create();
  await create({ trial_period_days: 7 });
  await create({ subscription_status: 'draft' });
  const later = await create({ start_date: day(2, 1) });
  const limit = async () =>
    (await of()).features.find(({ feature }) => feature.id === callsId)?.entitlement.usage_limit;
  assert.is(await limit(), 200);
  assert.is((await ofSubscription(one.id)).features.length, 2);
  assert.equal((await ofSubscription(later.id)).features, []);
  const [source] = (await of({ subscription_ids: one.id })).features[0]?.sources ?? [];
  assert.is(source?.reason, 'plan');
  assert.is(source?.subscription_id, one.id);
  await cancel(one.id, { cancellation_type: 'immediate' });
  assert.is(await limit(), 100);
  await pass(day(2, 1));
  assert.is(await limit(), 200);
});

test('limits start over in the rhythm of the subscription', async () => {
  const { create, request, pass } = await granting();
  const { customer_id } = await create({ start_date: day(1, 10) });
  await pass(day(2, 15));
  const [granted] = await grantsOf(request(), customer_id);
  assert.equal(granted?.rhythm, {
    start: day(1, 10),
    anchor: day(1, 10),
    zone: 'UTC',
    billing: { start: day(2, 10), end: day(3, 10) },
  });
});

test('what was sold stays, whatever becomes of the plan', async () => {
  const { create, of, limitId, request } = await granting();
  await create();
  const before = await of();
  const route = offers.routes?.['DELETE /entitlements/{id}'];
  assert.ok(route);
  await callRoute(route, request(), { params: { id: limitId } });
  assert.equal(await of(), before);
});

test('an override stands in for an entitlement of the plan, and inherits what it leaves out', async () => {
  const { create, of, limitId, callsId } = await granting();
  await create({ override_entitlements: [{ entitlement_id: limitId, usage_limit: 500 }] });
  const [found] = (await of({ feature_ids: callsId })).features;
  assert.is(found?.entitlement.usage_limit, 500);
  assert.equal(
    found?.sources.map(({ reason }) => reason),
    ['override'],
  );
  await create({ override_entitlements: [{ entitlement_id: limitId, is_enabled: false }] });
  assert.is((await of({ feature_ids: callsId })).features[0]?.entitlement.usage_limit, 500);
});

test('what holds at an instant is asked of the past and of what is to come', async () => {
  const { create, of, limitId, cancel, pass, world, ofSubscription } = await granting();
  const trial = await create({ trial_period_days: 7 });
  const soon = await create({
    start_date: day(1, 20),
    override_entitlements: [{ entitlement_id: limitId, usage_limit: 30 }],
  });
  const at = async (as_of: string) => {
    const found = (await of({ as_of })).features.find(({ sources }) => sources[0]?.usage_limit);
    return [found?.entitlement.usage_limit, found?.sources.map(({ reason }) => reason)];
  };
  const before = [undefined, undefined];
  const expected = async () => {
    assert.equal(await at('2025-12-31T23:59:59Z'), before);
    assert.equal(await at(day(1, 1)), [100, ['plan']]);
    assert.equal(await at('2026-01-19T23:59:59.999Z'), [100, ['plan']]);
    assert.equal((await at(day(1, 20)))[0], 130);
  };
  await expected();
  assert.equal((await at(day(3, 1)))[0], 130);
  await cancel(trial.id, { cancellation_type: 'scheduled_date', cancel_at: day(2, 10) });
  assert.equal((await at('2026-02-09T23:59:59Z'))[0], 130);
  assert.equal(await at(day(2, 10)), [30, ['override']]);
  await pass(day(2, 20));
  await expected();
  assert.equal((await at('2026-02-09T23:59:59Z'))[0], 130);
  assert.equal(await at(day(2, 10)), [30, ['override']]);
  assert.equal((await ofSubscription(trial.id)).features, []);
  assert.is((await ofSubscription(trial.id, { as_of: day(2, 1) })).features.length, 2);
  await cancel(soon.id, { cancellation_type: 'immediate', cancel_at: '2026-02-20T00:00:00Z' });
  world.now = day(6, 1);
  assert.equal(await at('2026-02-19T23:59:59Z'), [30, ['override']], 'late, and ended since');
  assert.equal(await at(day(2, 20)), before);
});

test('an instant that is thousands of steps away is refused', async () => {
  const { create, of } = await granting();
  await create();
  assert.is((await of({ as_of: '2040-01-01T00:00:00Z' })).features.length, 2);
  const refused = await rejection(of({ as_of: '2900-01-01T00:00:00Z' }));
  assert.is(refused.code, 'invalid_operation');
});

test('an end that has come counts, though nobody has booked it', async () => {
  const { create, of, world } = await granting();
  await create({ end_date: day(2, 15) });
  world.now = day(2, 14);
  assert.is((await of()).features.length, 2);
  world.now = day(2, 15);
  assert.equal((await of()).features, []);
});

test.run();
