import type { Principal, RequestContext, RouteKey } from '@counterfoil/engine/define';
import type { EnvironmentId, KeyId, TenantId, UserId } from '@counterfoil/kernel';
import { callRoute, memoryWorld, pointersOf, type RawInput, rejection } from '@counterfoil/testkit';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import type { z } from 'zod';
import { createFeature, type FeatureData, feature, featureRecords } from '../features/index.ts';
import { createGroup, createGroupSchema, group, groupRecords } from '../groups/index.ts';
import { createMeter, createMeterSchema, meter, meterRecords } from '../meters/index.ts';
import {
  createPriceUnit,
  createPriceUnitSchema,
  priceUnit,
  priceUnitRecords,
} from '../pricing-units/index.ts';
import { offer } from './index.ts';
import { offerRoutes } from './routes.ts';

const routes = offerRoutes();

const test = suite('offer routes');

const principal: Principal = {
  tenantId: 'tenant_01' as TenantId,
  environmentId: 'env_01' as EnvironmentId,
  userId: 'user_01' as UserId,
  keyId: 'secret_01' as KeyId,
  roles: ['super_admin'],
  allows: () => true,
};

/** A world with the slices below, whose records are made without their routes. */
function shop() {
  const world = memoryWorld([offer, meter, group, priceUnit, feature]);
  const context = (): RequestContext => world.request(principal);
  const call = <Key extends keyof typeof routes & RouteKey>(key: Key, input: RawInput = {}) =>
    callRoute(routes[key], context(), input);
  return { world, context, call, ...below(context) };
}

/** Makes records of the slices below. */
function below(context: () => RequestContext) {
  return {
    async meter(aggregation: object = { type: 'COUNT' }) {
      const id = context().newId('meter');
      const request = createMeterSchema.parse({ name: 'Calls', event_name: 'call', aggregation });
      await context().execute(meter, id, createMeter(id, request));
      return id;
    },
    async group(entity_type = 'price') {
      const id = context().newId('group');
      const request = createGroupSchema.parse({ name: 'Models', lookup_key: id, entity_type });
      await context().execute(group, id, createGroup(id, request));
      return id;
    },
    async unit(code: string) {
      const id = context().newId('price_unit');
      const worth = { base_currency: 'usd', conversion_rate: '0.05' };
      const request = createPriceUnitSchema.parse({ code, name: code, symbol: 'cr', ...worth });
      await context().execute(priceUnit, id, createPriceUnit(id, request));
      return id;
    },
    async feature(of: Pick<FeatureData, 'type' | 'meter_id'> = plain) {
      const id = context().newId('feat');
      await context().execute(feature, id, createFeature({ ...emptyFeature, ...of, id }));
      return id;
    },
  };
}

const plain = { type: 'boolean', meter_id: null } as const;
const emptyFeature = {
  name: 'F',
  lookup_key: null,
  description: null,
  group_id: null,
  unit_singular: null,
  unit_plural: null,
  reporting_unit: null,
  alert_settings: null,
  metadata: {},
} as const;

const flat = {
  entity_type: 'PLAN',
  type: 'FIXED',
  billing_model: 'FLAT_FEE',
  billing_period: 'MONTHLY',
  invoice_cadence: 'ADVANCE',
  currency: 'usd',
  amount: '10',
};
const usage = { ...flat, type: 'USAGE', invoice_cadence: 'ARREAR' };

async function withPlan() {
  const made = shop();
  const { id } = await made.call('POST /plans', { body: { name: 'Pro', lookup_key: 'pro' } });
  return { ...made, planId: id };
}

test('a plan is shown with what it owns and all that is inside', async () => {
  const { call, planId, ...make } = await withPlan();
  const [meter_id, group_id, feature_id] = [
    await make.meter(),
    await make.group(),
    await make.feature(),
  ];
  await make.unit('credits');
  const price = await call('POST /prices', {
    body: { ...usage, entity_id: planId, meter_id, group_id },
  });
  const config = { price_unit: 'credits', amount: '3' };
  const custom = { amount: undefined, price_unit_type: 'CUSTOM', price_unit_config: config };
  await call('POST /prices', { body: { ...flat, entity_id: planId, ...custom } });
  await call('POST /entitlements', {
    body: { feature_id, feature_type: 'boolean', plan_id: planId },
  });
  const grant = { name: 'Credits', scope: 'PLAN', credits: '5', cadence: 'ONETIME' };
  await call('POST /creditgrants', { body: { ...grant, plan_id: planId } });
  const plan = await call('GET /plans/{id}', { params: { id: planId } });
  assert.equal(
    [plan.prices?.length, plan.entitlements?.length, plan.credit_grants?.length],
    [2, 1, 1],
  );
  const shown = plan.prices?.find(({ id }) => id === price.id);
  assert.equal([shown?.meter?.id, shown?.group?.id], [meter_id, group_id]);
  assert.is(plan.prices?.find(({ id }) => id !== price.id)?.pricing_unit?.code, 'credits');
  assert.equal(
    [plan.entitlements?.[0]?.feature?.id, plan.entitlements?.[0]?.plan?.name],
    [feature_id, 'Pro'],
  );
  const listed = await call('POST /plans/search', { body: { expand: 'prices,credit_grant' } });
  assert.equal(
    [
      listed.items[0]?.prices?.length,
      listed.items[0]?.entitlements,
      listed.items[0]?.credit_grants?.length,
    ],
    [2, undefined, 1],
  );
});

test('lists of add-ons and costsheets show inside what expand names', async () => {
  const { call } = await withPlan();
  const { id: addon } = await call('POST /addons', { body: { name: 'More', lookup_key: 'more' } });
  const { costsheet } = await call('POST /costs', { body: { name: 'Costs' } });
  await call('POST /prices', { body: { ...flat, entity_type: 'ADDON', entity_id: addon } });
  const body = { ...flat, entity_type: 'COSTSHEET', entity_id: costsheet.id };
  await call('POST /prices', { body });
  const addons = await call('GET /addons', { query: { expand: 'prices' } });
  assert.equal([addons.items[0]?.prices?.length, addons.items[0]?.entitlements], [1, undefined]);
  const costs = await call('POST /costs/search', { body: { expand: 'prices' } });
  assert.is(costs.items[0]?.prices?.length, 1);
  assert.is((await call('POST /costs/search', { body: {} })).items[0]?.prices, undefined);
});

test('a search of costsheets takes page, period and place as clients send them', async () => {
  const { call } = shop();
  for (const name of ['a', 'b', 'c']) await call('POST /costs', { body: { name } });
  const found = async (body: object) => {
    const { items, pagination } = await call('POST /costs/search', { body });
    return [items.map(({ name }) => name).join(''), pagination];
  };
  const all = { limit: 50, offset: 0, total: 3 };
  assert.equal(await found({}), ['cba', all]);
  const queryFilter = { limit: 1, offset: 2, order: 'desc', sort: 'created_at' };
  assert.equal(await found({ queryFilter }), ['a', { limit: 1, offset: 2, total: 3 }]);
  assert.equal(await found({ queryFilter: { status: 'archived' } }), ['', { ...all, total: 0 }]);
  const none = { ...all, total: 0 };
  const before = { end_time: '2001-01-01T00:00:00Z' };
  assert.equal(await found({ timeRangeFilter: before }), ['', none]);
  assert.equal(await found({ timeRangeFilter: { start_time: before.end_time } }), ['cba', all]);
  const { tenantId: tenantID, environmentId: environmentID } = principal;
  assert.equal(await found({ tenantID, environmentID }), ['cba', all]);
  assert.equal(await found({ tenantID, environmentID: 'env_02' }), ['', none]);
  assert.equal(await found({ tenantID: 'tenant_02' }), ['', none]);
});

test('owners of prices and settings of entitlements that only the contract has find nothing', async () => {
  const { call } = await withPlan();
  for (const entity_type of ['PRICE', 'SUBSCRIPTION']) {
    assert.is((await call('POST /prices/search', { body: { entity_type } })).pagination.total, 0);
    assert.is((await call('GET /prices', { query: { entity_type } })).pagination.total, 0);
  }
  const body = routes['POST /entitlements/search'].body as z.ZodType;
  assert.ok(body.safeParse({ has_grant_config: false }).success);
  assert.equal(pointersOf(body, { has_grant_config: true }), ['/has_grant_config']);
});

test('references of a price are checked, and named when there is no such record', async () => {
  const { call, planId, ...make } = await withPlan();
  const refusal = async (body: object) =>
    rejection(call('POST /prices', { body: { ...flat, entity_id: planId, ...body } }));
  const fieldOf = async (body: object) => {
    const { code, details } = await refusal(body);
    assert.is(code, 'not_found');
    return details?.field;
  };
  assert.is(await fieldOf({ entity_id: 'plan_x' }), 'entity_id');
  assert.is(await fieldOf({ entity_type: 'ADDON' }), 'entity_id');
  assert.is(await fieldOf({ entity_type: 'SUBSCRIPTION' }), 'entity_id');
  assert.is(await fieldOf({ ...usage, meter_id: 'meter_x' }), 'meter_id');
  assert.is(await fieldOf({ group_id: 'group_x' }), 'group_id');
  const inUnit = (price_unit: string) => ({
    amount: null,
    price_unit_type: 'CUSTOM',
    price_unit_config: { price_unit, amount: '1' },
  });
  assert.is(await fieldOf(inUnit('none')), 'price_unit');
  await make.unit('credits');
  const euros = await refusal({ ...inUnit('credits'), currency: 'eur' });
  assert.is(euros.errors?.[0]?.pointer, '/currency');
  const ofFeatures = await refusal({ group_id: await make.group('feature') });
  assert.is(ofFeatures.errors?.[0]?.pointer, '/group_id');
});

test('many prices are made in the order asked for, all or none, of one owner', async () => {
  const { call, planId, world } = await withPlan();
  const item = { ...flat, entity_id: planId };
  const made = await call('POST /prices/bulk', {
    body: { items: [item, { ...item, amount: '11' }, { ...item, amount: '12' }] },
  });
  assert.equal(
    made.items.map(({ amount }) => amount),
    ['10', '11', '12'],
  );
  const events = world.store.log.length;
  const other = await call('POST /plans', { body: { name: 'Other' } });
  const mixed = await rejection(
    call('POST /prices/bulk', { body: { items: [item, { ...item, entity_id: other.id }] } }),
  );
  assert.equal([mixed.code, mixed.details?.index], ['validation_error', 1]);
  const unknown = await rejection(
    call('POST /prices/bulk', { body: { items: [item, { ...item, group_id: 'group_x' }] } }),
  );
  assert.equal(
    [unknown.code, unknown.details?.index, unknown.details?.field],
    ['not_found', 1, 'group_id'],
  );
  const wrong = await rejection(
    call('POST /prices/bulk', { body: { items: [item, { ...item, amount: null }] } }),
  );
  assert.equal([wrong.errors?.[0]?.pointer, wrong.details?.index], ['/items/1/amount', 1]);
  assert.is(world.store.log.length, events + 1, 'nothing but the other plan');
});

test('a re-pricing answers the new price; lists show what is in force, a plan all', async () => {
  const { call, planId, world } = await withPlan();
  const body = { ...flat, entity_id: planId, lookup_key: 'monthly' };
  const first = await call('POST /prices', { body });
  world.now = '2026-02-01T00:00:00.000Z' as typeof world.now;
  const second = await call('PUT /prices/{id}', {
    params: { id: first.id },
    body: { amount: '12' },
  });
  assert.equal([second.amount, second.parent_price_id], ['12', first.id]);
  const old = await call('GET /prices/{id}', { params: { id: first.id } });
  assert.is(old.end_date, second.start_date);
  const idsOf = async (search: object) =>
    (await call('POST /prices/search', { body: { plan_ids: [planId], ...search } })).items.map(
      ({ id }) => id,
    );
  assert.equal(await idsOf({}), [second.id]);
  assert.is((await idsOf({ allow_expired_prices: true })).length, 2);
  const plan = await call('GET /plans/{id}', { params: { id: planId } });
  assert.is(plan.prices?.length, 2);
});

test('a price that is deleted before it begins is over at once, and keeps no meter', async () => {
  const { call, planId, context, ...make } = await withPlan();
  const meter_id = await make.meter();
  const start_date = '2030-01-01T00:00:00Z';
  const body = { ...usage, entity_id: planId, meter_id, start_date };
  const { id } = await call('POST /prices', { body });
  const listed = async () =>
    (await call('GET /prices', { query: { plan_ids: planId } })).pagination.total;
  const removeMeter = () => context().execute(meter, meter_id, meterRecords.remove(meter_id));
  assert.is(await listed(), 1);
  assert.is((await rejection(removeMeter())).code, 'invalid_operation');
  await call('DELETE /prices/{id}', { params: { id } });
  assert.is(await listed(), 0);
  assert.is((await removeMeter()).state?.status, 'deleted');
});

test('a lookup_key leads to the price in force, before and after a change takes effect', async () => {
  const { call, planId, world } = await withPlan();
  const body = { ...flat, entity_id: planId, lookup_key: 'monthly' };
  const first = await call('POST /prices', { body });
  const effective_from = '2026-03-01T00:00:00Z';
  const next = { params: { id: first.id }, body: { amount: '12', effective_from } };
  const second = await call('PUT /prices/{id}', next);
  const found = async () =>
    (await call('GET /prices/lookup/{lookup_key}', { params: { lookup_key: 'monthly' } })).id;
  assert.is(await found(), first.id);
  world.now = '2026-03-01T00:00:00.000Z' as typeof world.now;
  assert.is(await found(), second.id);
  const taken = { ...flat, entity_id: planId, lookup_key: 'monthly' };
  const duplicate = await rejection(call('POST /prices', { body: taken }));
  assert.equal([duplicate.code, duplicate.details?.field], ['already_exists', 'lookup_key']);
  const params = { lookup_key: 'none' };
  const none = await rejection(call('GET /prices/lookup/{lookup_key}', { params }));
  assert.is(none.details?.field, 'lookup_key');
});

test('a price is quoted with every step', async () => {
  const { call, planId, ...make } = await withPlan();
  const tiers = [{ up_to: 10, unit_amount: '5' }, { unit_amount: '4' }];
  const { id } = await call('POST /prices', {
    body: {
      ...usage,
      entity_id: planId,
      meter_id: await make.meter(),
      amount: null,
      billing_model: 'TIERED',
      tier_mode: 'SLAB',
      tiers,
    },
  });
  const quote = await call('POST /prices/{id}/quote', { params: { id }, body: { quantity: '15' } });
  assert.equal([quote.amount, quote.charges.length], ['70', 1]);
  const buckets = { params: { id }, body: { quantities: ['10', '5'] } };
  assert.is((await call('POST /prices/{id}/quote', buckets)).amount, '75');
});

test('what an entitlement names is checked, and the item of many is named', async () => {
  const { call, planId, ...make } = await withPlan();
  const feature_id = await make.feature();
  const item = { feature_id, plan_id: planId };
  const bulk = (...items: object[]) => call('POST /entitlements/bulk', { body: { items } });
  const unknown = await rejection(bulk(item, { ...item, feature_id: 'feat_x' }));
  assert.equal(
    [unknown.code, unknown.details?.field, unknown.details?.index],
    ['not_found', 'feature_id', 1],
  );
  const parent = await rejection(bulk({ ...item, parent_entitlement_id: 'ent_x' }));
  assert.is(parent.details?.field, 'parent_entitlement_id');
  const twice = await rejection(bulk(item, item));
  assert.equal([twice.code, twice.details?.index], ['already_exists', 1]);
  const wrong = await rejection(bulk({ ...item, feature_type: 'metered' }));
  assert.equal([wrong.errors?.[0]?.pointer, wrong.details?.index], ['/items/0/feature_type', 0]);
  const { items } = await bulk(item);
  assert.equal([items[0]?.feature_type, items[0]?.feature?.id], ['boolean', feature_id]);
  const again = { ...item, feature_type: 'boolean' };
  assert.is((await rejection(call('POST /entitlements', { body: again }))).code, 'already_exists');
});

test('an entitlement stands in for one of another owner, for the same feature', async () => {
  const { call, planId, ...make } = await withPlan();
  const [feature_id, other] = [await make.feature(), await make.feature()];
  const create = (plan_id: string, given: object) =>
    call('POST /entitlements', { body: { feature_type: 'boolean', plan_id, ...given } });
  const parent = await create(planId, { feature_id });
  const named = { parent_entitlement_id: parent.id };
  const { id: second } = await call('POST /plans', { body: { name: 'Team' } });
  const misfit = await rejection(create(second, { feature_id: other, ...named }));
  assert.is(misfit.errors?.[0]?.pointer, '/parent_entitlement_id');
  const own = await rejection(create(planId, { feature_id, ...named }));
  assert.is(own.errors?.[0]?.pointer, '/parent_entitlement_id');
  assert.is((await create(second, { feature_id, ...named })).parent_entitlement_id, parent.id);
  const { id: third } = await call('POST /plans', { body: { name: 'Late' } });
  await call('DELETE /plans/{id}', { params: { id: planId } });
  const late = await rejection(create(third, { feature_id, ...named }));
  assert.is(late.errors?.[0]?.pointer, '/parent_entitlement_id');
});

test('a feature that counts maxima of buckets is not granted', async () => {
  const { call, planId, ...make } = await withPlan();
  const aggregation = { type: 'MAX', field: 'seats', bucket_size: 'HOUR' };
  const meter_id = await make.meter(aggregation);
  const body = {
    feature_id: await make.feature({ type: 'metered', meter_id }),
    feature_type: 'metered',
    plan_id: planId,
  };
  assert.is((await rejection(call('POST /entitlements', { body }))).code, 'invalid_operation');
});

test('an entitlement is updated and deleted by its own id', async () => {
  const { call, planId, ...make } = await withPlan();
  const body = { feature_id: await make.feature(), feature_type: 'boolean', plan_id: planId };
  const { id } = await call('POST /entitlements', { body });
  const params = { id };
  const changed = await call('PUT /entitlements/{id}', { params, body: { is_enabled: false } });
  assert.equal([changed.is_enabled, changed.feature?.name], [false, 'F']);
  await call('DELETE /entitlements/{id}', { params });
  assert.is((await rejection(call('GET /entitlements/{id}', { params }))).code, 'not_found');
  const listed = await call('GET /plans/{id}/entitlements', { params: { id: planId } });
  assert.is(listed.pagination.total, 0);
});

test('a deleted plan takes what it owns along', async () => {
  const { call, planId } = await withPlan();
  const body = { ...flat, entity_id: planId, lookup_key: 'monthly' };
  const price = await call('POST /prices', { body });
  await call('DELETE /plans/{id}', { params: { id: planId } });
  const plan = await call('GET /plans/{id}', { params: { id: planId } });
  assert.equal([plan.status, plan.prices?.[0]?.status], ['archived', 'archived']);
  assert.is((await call('GET /prices')).pagination.total, 0);
  const edit = { params: { id: price.id }, body: { display_name: 'x' } };
  assert.is((await rejection(call('PUT /prices/{id}', edit))).code, 'invalid_operation');
  const reused = await call('POST /plans', { body: { name: 'New', lookup_key: 'pro' } });
  await call('POST /prices', { body: { ...body, entity_id: reused.id } });
});

test('an add-on is found by its lookup_key', async () => {
  const { call } = shop();
  const { id } = await call('POST /addons', { body: { name: 'Seats', lookup_key: 'seats' } });
  const byKey = { params: { lookup_key: 'seats' } };
  assert.is((await call('GET /addons/lookup/{lookup_key}', byKey)).id, id);
  await call('PUT /addons/{id}', { params: { id }, body: { name: 'More' } });
  await call('DELETE /addons/{id}', { params: { id } });
  assert.is((await rejection(call('GET /addons/lookup/{lookup_key}', byKey))).code, 'not_found');
  assert.is((await call('GET /addons/{id}', { params: { id } })).status, 'archived');
});

test('the active costsheet is the newest published one, with prices that have not ended', async () => {
  const { call, world } = shop();
  assert.is((await rejection(call('GET /costs/active'))).code, 'not_found');
  const { costsheet: first } = await call('POST /costs', { body: { name: 'Old' } });
  world.now = '2026-01-02T00:00:00.000Z' as typeof world.now;
  const { costsheet: second } = await call('POST /costs', { body: { name: 'New' } });
  const named = { params: { id: second.id } };
  assert.is((await call('GET /costs/{id}', named)).costsheet.name, 'New');
  const renamed = await call('PUT /costs/{id}', { ...named, body: { name: 'Newer' } });
  assert.is(renamed.costsheet.name, 'Newer');
  const owned = { ...flat, entity_type: 'COSTSHEET', entity_id: second.id };
  const price = await call('POST /prices', { body: owned });
  await call('POST /prices', { body: owned });
  await call('DELETE /prices/{id}', { params: { id: price.id } });
  const active = await call('GET /costs/active');
  assert.equal([active.id, active.prices?.length], [second.id, 1]);
  await call('DELETE /costs/{id}', { params: { id: second.id } });
  assert.is((await call('GET /costs/active')).id, first.id);
  const gone = { params: { id: second.id } };
  assert.is((await rejection(call('GET /costs/{id}', gone))).code, 'not_found');
  const ofIt = { params: { id: price.id } };
  assert.is((await rejection(call('GET /prices/{id}', ofIt))).code, 'not_found');
});

test('a credit grant stops, now or later', async () => {
  const { call, planId } = await withPlan();
  const grant = { name: 'Credits', scope: 'PLAN', plan_id: planId, credits: '5' };
  const { id } = await call('POST /creditgrants', { body: { ...grant, cadence: 'ONETIME' } });
  const params = { id };
  const later = { effective_date: '2030-01-01T00:00:00Z' };
  await call('DELETE /creditgrants/{id}', { params, body: later });
  const stopping = await call('GET /creditgrants/{id}', { params });
  assert.equal([stopping.status, stopping.end_date], ['published', '2030-01-01T00:00:00.000Z']);
  await call('DELETE /creditgrants/{id}', { params });
  assert.is((await call('GET /creditgrants/{id}', { params })).status, 'archived');
  assert.is((await call('GET /creditgrants')).pagination.total, 0);
  const nobody = await rejection(
    call('POST /creditgrants', { body: { ...grant, cadence: 'ONETIME', plan_id: 'plan_x' } }),
  );
  assert.is(nobody.details?.field, 'plan_id');
});

test('what a price or an entitlement uses is not deleted; the refusal names the plan', async () => {
  const { call, planId, context, ...make } = await withPlan();
  const [meter_id, group_id, feature_id] = [
    await make.meter(),
    await make.group(),
    await make.feature(),
  ];
  const unitId = await make.unit('credits');
  const price = await call('POST /prices', {
    body: {
      ...usage,
      entity_id: planId,
      meter_id,
      group_id,
      amount: null,
      price_unit_type: 'CUSTOM',
      price_unit_config: { price_unit: 'credits', amount: '1' },
    },
  });
  const body = { feature_id, feature_type: 'boolean', plan_id: planId };
  await call('POST /entitlements', { body });
  const removals = {
    meter: () => context().execute(meter, meter_id, meterRecords.remove(meter_id)),
    group: () => context().execute(group, group_id, groupRecords.archive(group_id)),
    unit: () => context().execute(priceUnit, unitId, priceUnitRecords.archive(unitId)),
    feature: () => context().execute(feature, feature_id, featureRecords.archive(feature_id)),
  };
  for (const remove of Object.values(removals)) {
    const refused = await rejection(remove());
    assert.is(refused.code, 'invalid_operation');
    assert.match(refused.message, planId);
  }
  assert.equal((await call('GET /groups/{id}', { params: { id: group_id } })).entity_ids, [
    price.id,
  ]);
  await call('DELETE /prices/{id}', { params: { id: price.id } });
  await removals.meter();
  await removals.group();
  await removals.unit();
  assert.match((await rejection(removals.feature())).message, planId);
});

test.run();
