import type { RequestContext } from '@counterfoil/engine/define';
import type { Instant } from '@counterfoil/kernel';
import { callRoute, memoryWorld, rejection, testPrincipal } from '@counterfoil/testkit';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { customer, customers } from '../../customers/index.ts';
import { type GrantedEntitlement, resetPeriodSchema } from '../../entitlements/index.ts';
import { feature, features } from '../../features/index.ts';
import { group } from '../../groups/index.ts';
import { meter, meters } from '../../meters/index.ts';
import { customerUsageRoutes } from './routes.ts';

const test = suite('usage of a customer');

/** Tables in which every whole stretch of hours has used 50.5, and the rest nothing. */
const rows = async () =>
  [{ ...{ count: '3', total: '50.5', moment: null, greatest: null, latest: null } }].map((row) => ({
    ...row,
    at: '2026-03-01T00:00:00.000Z',
    properties: null,
  }));
const facts = { shown: async () => '4711', query: rows, ask: rows };

const instant = (text: string): Instant => `${text}:00.000Z` as Instant;

/** A subscription that began with a month. */
const rhythm = {
  start: instant('2026-01-01T00:00'),
  anchor: instant('2026-01-01T00:00'),
  zone: 'UTC',
  billing: { start: instant('2026-03-01T00:00'), end: instant('2026-04-01T00:00') },
};

type Granted = Partial<GrantedEntitlement> & Pick<GrantedEntitlement, 'feature_id'>;

/** An entitlement of a plan, unlimited unless it says otherwise. */
const ofPlan = (fields: Granted): GrantedEntitlement => ({
  ...{ entitlement_id: 'ent_1', feature_type: 'metered', subscription_id: 'subs_1', quantity: 1 },
  ...{ entity_type: 'PLAN', entity_id: 'plan_1', entity_name: 'Starter' },
  ...{ is_enabled: true, is_soft_limit: false, usage_limit: null, usage_reset_period: null },
  ...{ static_value: null, parent_entitlement_id: null, start_date: null, end_date: null },
  rhythm,
  ...fields,
});

/** The same of an add-on. */
const ofAddon = (fields: Granted): GrantedEntitlement =>
  ofPlan({ entitlement_id: 'ent_2', entity_type: 'ADDON', ...fields });

interface Made {
  readonly id: string;
}

/** A world with a customer, two metered features and one that is on or off. `grants` is what everybody has. */
async function worldWith(grants: (ids: Readonly<Record<string, string>>) => GrantedEntitlement[]) {
  const world = memoryWorld([customer, feature, meter, group]);
  world.now = '2026-03-15T12:00:00.000Z' as Instant;
  const context = (): RequestContext =>
    Object.defineProperty(world.request(testPrincipal()), 'facts', { value: facts });
  const made = async (slice: { readonly routes: object }, key: string, body: object) => {
    const found = (slice.routes as typeof customers.routes)[key as 'GET /'];
    assert.ok(found);
    return (await callRoute(found, context(), { body })) as Made;
  };
  const ids: Record<string, string> = {};
  const aggregation = { type: 'SUM', field: 'count' };
  for (const name of ['Calls', 'Tokens']) {
    const body = { name, event_name: name, aggregation, reset_usage: 'BILLING_PERIOD' };
    const { id: meter_id } = await made(meters, 'POST /meters', body);
    const metered = { name, type: 'metered', lookup_key: name.toLowerCase(), meter_id };
    ids[name] = (await made(features, 'POST /features', metered)).id;
  }
  const boolean = { name: 'Archive', type: 'boolean' };
  ids.Archive = (await made(features, 'POST /features', boolean)).id;
  const person = { external_id: 'ext-ada', name: 'Ada', timezone: 'UTC' };
  const { id } = await made(customers, 'POST /customers', person);
  const routes = customerUsageRoutes(async () => grants(ids));
  return {
    id,
    ids,
    get: (query: object) => callRoute(routes['GET /customers/usage'], context(), { query }),
    getById: (query: object) =>
      callRoute(routes['GET /customers/{id}/usage'], context(), { params: { id }, query }),
  };
}

test('without subscriptions, metered features show their usage, and that nothing grants it', async () => {
  const { id, get, getById } = await worldWith(() => []);
  const whole = await get({ customer_id: id });
  assert.equal(
    whole.features.map(({ feature: { name }, ...rest }) => [name, rest]).toSorted(),
    ['Calls', 'Tokens'].map((name) => [
      name,
      {
        is_enabled: false,
        is_soft_limit: false,
        total_limit: null,
        is_unlimited: false,
        sources: [],
        current_usage: '50.5',
        usage_reset_period: 'MONTHLY',
        next_usage_reset_at: '2026-04-01T00:00:00.000Z',
      },
    ]),
  );
  assert.equal(
    [whole.customer_id, whole.period, whole.pagination, whole.position],
    [
      id,
      {
        start_time: '2026-03-01T00:00:00.000Z',
        end_time: '2026-04-01T00:00:00.000Z',
        period: 'MONTHLY',
      },
      { limit: 50, offset: 0, total: 2 },
      '4711',
    ],
  );
  assert.equal(await get({ customer_lookup_key: 'ext-ada' }), whole);
  assert.equal(await getById({}), whole);
});

test('the period of a limit is counted from the anchor of the subscription, with its clock time', async () => {
  const anchor = instant('2026-01-20T08:00');
  const { id, ids, get } = await worldWith(({ Calls = '' }) => [
    ofPlan({ feature_id: Calls, usage_reset_period: 'MONTHLY', rhythm: { ...rhythm, anchor } }),
  ]);
  const { features: shown } = await get({ customer_id: id });
  const resets = new Map(shown.map((one) => [one.feature.id, one.next_usage_reset_at]));
  assert.is(resets.get(ids.Calls ?? ''), '2026-03-20T08:00:00.000Z');
  assert.is(resets.get(ids.Tokens ?? ''), '2026-04-01T00:00:00.000Z');
});

test('limits are those of the subscriptions, and the percent that of the limit', async () => {
  const { id, ids, get } = await worldWith(({ Calls = '', Tokens = '', Archive = '' }) => [
    ofPlan({ feature_id: Calls, usage_limit: 100, usage_reset_period: 'DAILY' }),
    ofAddon({ feature_id: Calls, usage_limit: 101, is_soft_limit: true }),
    ofPlan({ feature_id: Tokens, entitlement_id: 'ent_5', subscription_id: 'subs_2' }),
    ofPlan({ feature_id: Archive, entitlement_id: 'ent_6', feature_type: 'boolean' }),
  ]);
  const { features: shown, pagination } = await get({ customer_id: id });
  const of = (featureId: string | undefined) =>
    shown.find(({ feature: { id: own } }) => own === featureId);
  const calls = of(ids.Calls);
  assert.equal(
    [calls?.total_limit, calls?.usage_percent, calls?.is_soft_limit, calls?.is_unlimited],
    [201, '25.12', true, false],
  );
  assert.equal(
    [calls?.is_enabled, calls?.usage_reset_period, calls?.next_usage_reset_at],
    [true, 'DAILY', '2026-03-16T00:00:00.000Z'],
  );
  assert.equal(
    calls?.sources.map(({ entitlement_id }) => entitlement_id),
    ['ent_1', 'ent_2'],
  );
  const tokens = of(ids.Tokens);
  assert.equal(
    [tokens?.total_limit, tokens?.usage_percent, tokens?.is_unlimited, tokens?.current_usage],
    [null, '0', true, '50.5'],
  );
  const last = shown.at(-1);
  assert.ok(last);
  const { feature: _, sources: __, ...archive } = last;
  assert.equal(archive, {
    is_enabled: true,
    is_soft_limit: false,
    total_limit: null,
    is_unlimited: false,
    current_usage: '0',
    usage_percent: '0',
    next_usage_reset_at: null,
  });
  assert.is(pagination.total, 3);
  const second = await get({ customer_id: id, subscription_ids: 'subs_2' });
  assert.equal(
    second.features.map(({ feature: { id: own } }) => own),
    [ids.Tokens],
  );
});

test('each of the seven periods has its end', async () => {
  const ends: Record<string, unknown> = {};
  for (const usage_reset_period of resetPeriodSchema.options) {
    const { id, ids, get } = await worldWith(({ Calls = '' }) => [
      ofPlan({ feature_id: Calls, usage_limit: 101, usage_reset_period }),
    ]);
    const { features: shown } = await get({ customer_id: id, feature_ids: ids.Calls });
    const [only] = shown;
    assert.equal([shown.length, only?.current_usage, only?.usage_percent], [1, '50.5', '50']);
    ends[usage_reset_period] = only?.next_usage_reset_at;
  }
  assert.equal(ends, {
    DAILY: '2026-03-16T00:00:00.000Z',
    WEEKLY: '2026-03-19T00:00:00.000Z',
    MONTHLY: '2026-04-01T00:00:00.000Z',
    QUARTERLY: '2026-04-01T00:00:00.000Z',
    HALF_YEARLY: '2026-07-01T00:00:00.000Z',
    ANNUAL: '2027-01-01T00:00:00.000Z',
    NEVER: null,
  });
});

test('features are chosen by ids and lookup keys; one that nobody has chooses none', async () => {
  const { id, ids, get } = await worldWith(() => []);
  const chosen = async (query: object) =>
    (await get({ customer_id: id, ...query })).features.map(({ feature: { name } }) => name).sort();
  assert.equal(await chosen({ feature_lookup_keys: 'tokens' }), ['Tokens']);
  assert.equal(await chosen({ feature_ids: ids.Calls, feature_lookup_keys: 'tokens' }), [
    'Calls',
    'Tokens',
  ]);
  assert.equal(await chosen({ feature_lookup_keys: 'nobody' }), []);
  assert.equal(await chosen({ feature_ids: 'feat_x' }), []);
  assert.equal(await chosen({ subscription_ids: 'subs_x' }), []);
  assert.equal(await chosen({ feature_ids: ids.Archive }), []);
});

test('pages go through all kinds of features', async () => {
  const { id, get } = await worldWith(({ Archive = '' }) => [
    ofPlan({ feature_id: Archive, feature_type: 'boolean' }),
  ]);
  const types = async (limit: number, offset: number) => {
    const page = await get({ customer_id: id, limit, offset });
    assert.equal(page.pagination, { limit, offset, total: 3 });
    return page.features.map(({ feature: { type } }) => type);
  };
  assert.equal(await types(2, 0), ['metered', 'metered']);
  assert.equal(await types(2, 1), ['metered', 'boolean']);
  assert.equal(await types(2, 2), ['boolean']);
  assert.equal(await types(2, 3), []);
});

test('a customer is named by one of its ids, or by both', async () => {
  const { id, get } = await worldWith(() => []);
  const code = async (query: object) => (await rejection(get(query))).code;
  assert.is(await code({}), 'validation_error');
  assert.is(
    await code({ customer_id: 'cust_x', customer_lookup_key: 'ext-ada' }),
    'validation_error',
  );
  assert.is(await code({ customer_id: 'cust_x' }), 'not_found');
  assert.is(await code({ customer_lookup_key: 'nobody' }), 'not_found');
  const both = await get({ customer_id: id, customer_lookup_key: 'ext-ada' });
  assert.is(both.customer_id, id);
});

test.run();
