import { callRoute, memoryWorld, rejection, testPrincipal } from '@counterfoil/testkit';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { customer, customers } from '../customers/index.ts';
import { feature, features } from '../features/index.ts';
import { group } from '../groups/index.ts';
import { meter } from '../meters/index.ts';
import type { GrantedEntitlement } from './granted-entitlement.ts';
import { customerEntitlementRoutes } from './routes.ts';
import { ofAddon, ofPlan } from './test-granted.ts';

const test = suite('routes of entitlements of customers');

/** A world with a customer and a feature. `granted` is what the subscriptions give everybody. */
async function worldWith(granted: (featureId: string) => readonly GrantedEntitlement[]) {
  const world = memoryWorld([customer, feature, meter, group]);
  const context = () => world.request(testPrincipal());
  const made = async (slice: { readonly routes: object }, key: string, body: object) => {
    const found = (slice.routes as typeof customers.routes)[key as 'GET /'];
    assert.ok(found);
    return (await callRoute(found, context(), { body })) as { readonly id: string };
  };
  const person = { external_id: 'ext-ada', name: 'Ada' };
  const { id } = await made(customers, 'POST /customers', person);
  const tokens = { name: 'Tokens', type: 'metered', meter: { name: 'M', event_name: 'e' } };
  const counted = { ...tokens, meter: { ...tokens.meter, aggregation: { type: 'COUNT' } } };
  const slice = features;
  const { id: featureId } = await made(slice, 'POST /features', counted);
  const routes = customerEntitlementRoutes(async (_context, customerId) =>
    customerId === id ? granted(featureId) : [],
  );
  return {
    id,
    featureId,
    get: (customerId: string, query = {}) =>
      callRoute(routes['GET /customers/{id}/entitlements'], context(), {
        params: { id: customerId },
        query,
      }),
    getByExternalId: (external_id: string) =>
      callRoute(routes['GET /customers/external/{external_id}/entitlements'], context(), {
        params: { external_id },
      }),
  };
}

test('a customer without subscriptions has nothing', async () => {
  const { id, get, getByExternalId } = await worldWith(() => []);
  assert.equal(await get(id), { customer_id: id, features: [] });
  assert.equal(await getByExternalId('ext-ada'), { customer_id: id, features: [] });
});

test('an unknown customer is not found', async () => {
  const { get, getByExternalId } = await worldWith(() => []);
  assert.is((await rejection(get('cust_x'))).code, 'not_found');
  assert.is((await rejection(getByExternalId('nobody'))).code, 'not_found');
});

test('what several sources grant is shown together, with the feature and the sources', async () => {
  const { id, featureId, get, getByExternalId } = await worldWith((feature_id) => [
    ofPlan({ feature_id, usage_limit: 100 }),
    ofAddon({ feature_id, usage_limit: 10, quantity: 2, subscription_id: 'subs_2' }),
  ]);
  const whole = await get(id);
  const [only] = whole.features;
  assert.is(whole.features.length, 1);
  assert.equal([only?.feature.id, only?.feature.meter?.name], [featureId, 'M']);
  assert.is(only?.entitlement.usage_limit, 120);
  assert.equal(
    only?.sources.map(({ entity_type, quantity }) => [entity_type, quantity]),
    [
      ['plan', 1],
      ['addon', 2],
    ],
  );
  assert.equal(await getByExternalId('ext-ada'), whole);
});

test('features and subscriptions are left out that were not asked for', async () => {
  const { id, featureId, get } = await worldWith((feature_id) => [
    ofPlan({ feature_id, usage_limit: 100 }),
    ofAddon({ feature_id, usage_limit: 10, subscription_id: 'subs_2' }),
  ]);
  const limitOf = async (query: object) => (await get(id, query)).features[0]?.entitlement;
  assert.is((await limitOf({ subscription_ids: 'subs_2' }))?.usage_limit, 10);
  assert.is((await limitOf({ feature_ids: ['feat_x', featureId] }))?.usage_limit, 110);
  assert.is(await limitOf({ feature_ids: 'feat_x' }), undefined);
});

test.run();
