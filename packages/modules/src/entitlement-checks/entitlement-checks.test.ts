import type { RequestContext } from '@counterfoil/engine/define';
import type { Instant } from '@counterfoil/kernel';
import { callRoute, memoryWorld, rejection, testPrincipal } from '@counterfoil/testkit';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { customer, customers } from '../customers/index.ts';
import type { GrantedEntitlement } from '../entitlements/index.ts';
import { feature, features } from '../features/index.ts';
import { group } from '../groups/index.ts';
import { meter } from '../meters/index.ts';
import { usageReservation } from '../usage/index.ts';
import { wallet, wallets } from '../wallets/index.ts';
import { entitlementCheckRoutes } from './routes.ts';

const test = suite('entitlement checks');

const instant = (text: string): Instant => `${text}:00.000Z` as Instant;

const rhythm = {
  start: instant('2026-01-01T00:00'),
  anchor: instant('2026-01-01T00:00'),
  zone: 'UTC',
  billing: { start: instant('2026-03-01T00:00'), end: instant('2026-04-01T00:00') },
};

/** A monthly limit of a plan, unlimited unless it says otherwise. */
const ofPlan = (fields: Partial<GrantedEntitlement>): GrantedEntitlement => ({
  ...{ entitlement_id: 'ent_1', feature_id: '', feature_type: 'metered', quantity: 1 },
  ...{ subscription_id: 'subs_1', entity_type: 'PLAN', entity_id: 'plan_1', entity_name: 'Pro' },
  ...{ is_enabled: true, is_soft_limit: false, usage_limit: null, static_value: null },
  ...{ usage_reset_period: 'MONTHLY', parent_entitlement_id: null },
  ...{ start_date: null, end_date: null, rhythm },
  ...fields,
});

/** The tables of usage, as a test fills them. */
class Tables {
  plain = 0;
  /** The same for every reservation: there is one. */
  counted = 0;
  voided = 0;
  known: object | null = null;
  readonly recorded: string[] = [];

  readonly facts = {
    shown: async () => '4711',
    queryAtOnce: async () => [],
    filling: () => 'counterfoil_usage',
    query: async () => [],
    ask: async (_: unknown, given: object) => {
      if ('reservation' in given) {
        return [{ counted: String(this.counted), voided: String(this.voided) }];
      }
      if ('starts' in given) return [];
      if ('id' in given) return this.known ? [this.known] : [];
      const total = String(this.plain + this.counted - this.voided);
      return [{ count: total, total, moment: null, greatest: total, latest: null }];
    },
  };
}

/** A world with a customer, a wallet and some features. `grants` is what everybody has. */
async function worldWith(
  grants: (ids: Readonly<Record<string, string>>) => readonly GrantedEntitlement[],
) {
  const world = memoryWorld([customer, feature, meter, group, wallet, usageReservation]);
  world.now = instant('2026-03-15T12:00');
  const tables = new Tables();
  const own = {
    facts: tables.facts,
    record: async (_: unknown, texts: readonly string[]) => void tables.recorded.push(...texts),
  };
  const allowed = { ...testPrincipal() };
  const context = (key?: string): RequestContext => {
    const operation = 'POST /entitlements/check';
    const request = world.request(
      allowed,
      key === undefined ? undefined : { key, operation, fields: {} },
    );
    for (const [name, value] of Object.entries(own))
      Object.defineProperty(request, name, { value });
    return request;
  };
  const made = async (slice: { readonly routes: object }, key: string, body: object) => {
    const found = (slice.routes as typeof customers.routes)[key as 'GET /'];
    assert.ok(found);
    return (await callRoute(found, context(), { body })) as { readonly id: string };
  };
  const ids: Record<string, string> = {};
  const add = async (name: string, aggregation?: object, filters: readonly object[] = []) => {
    const metered = { meter: { name, event_name: name, aggregation, filters } };
    const body = { name, type: aggregation ? 'metered' : 'boolean', lookup_key: `key-${name}` };
    ids[name] = (
      await made(features, 'POST /features', { ...body, ...(aggregation ? metered : {}) })
    ).id;
  };
  await add('tokens', { type: 'SUM', field: 'count' }, [
    { key: 'model', values: ['large', 'small'] },
  ]);
  await add('calls', { type: 'COUNT' });
  await add('seats', { type: 'MAX', field: 'seats' });
  await add('double', { type: 'SUM_WITH_MULTIPLIER', field: 'count', multiplier: '2' });
  await add('archive');
  const { id: customer_id } = await made(customers, 'POST /customers', {
    external_id: 'ada',
    name: 'Ada',
  });
  const walletBody = { customer_id, currency: 'usd', initial_credits_to_load: '10' };
  const { id: wallet_id } = await made(wallets, 'POST /wallets', walletBody);
  // What was granted last counts: it may change while a test goes on.
  const given = { grants };
  const routes = entitlementCheckRoutes(async () => given.grants(ids));
  const check = (body: object) =>
    callRoute(
      routes['POST /entitlements/check'],
      context((body as { event_id?: string }).event_id),
      { body: { customer_id, ...body } },
    );
  return {
    world,
    tables,
    ids,
    given,
    allowed,
    check,
    customer_id,
    wallet_id,
    another: async (external_id: string) => {
      const body = { external_id, name: external_id };
      return (await made(customers, 'POST /customers', body)).id;
    },
    bulk: (items: readonly object[]) =>
      callRoute(routes['POST /entitlements/check/bulk'], context(), {
        body: { items: items.map((item) => ({ customer_id, ...item })) },
      }),
  };
}

const limited = (
  name: string,
  usage_limit: number | null,
  fields: Partial<GrantedEntitlement> = {},
) => worldWith((ids) => [ofPlan({ feature_id: ids[name] ?? '', usage_limit, ...fields })]);

const resets_at = '2026-04-01T00:00:00.000Z';
const nothing = { limit: null, used: null, remaining: null, resets_at: null, position: null };

test('what nothing grants is not allowed, nor what is switched off', async () => {
  const { ids, given, check } = await worldWith(() => []);
  assert.equal(await check({ feature_id: ids.tokens }), {
    allowed: false,
    reason: 'not_granted',
    ...nothing,
  });
  given.grants = () => [ofPlan({ feature_id: ids.tokens ?? '', is_enabled: false })];
  assert.equal(await check({ feature_id: ids.tokens }), {
    allowed: false,
    reason: 'disabled',
    ...nothing,
  });
  assert.is((await check({ feature_id: ids.tokens, record: true })).reason, 'disabled');
});

test('a feature that is on or off is allowed when it is granted', async () => {
  const { ids, check } = await limited('archive', null, { feature_type: 'boolean' });
  assert.equal(await check({ feature_lookup_key: 'key-archive' }), {
    allowed: true,
    reason: 'granted',
    ...nothing,
  });
  const problem = await rejection(check({ feature_id: ids.archive, record: true }));
  assert.is(problem.code, 'validation_error');
});

for (const [name, limit, isSoft, plain, quantity, expected] of [
  ['tokens', 100, false, 40, '60', [true, 'within_limit', '60']],
  ['tokens', 100, false, 40, '60.5', [false, 'limit_reached', '60']],
  ['tokens', 100, true, 40, '60.5', [true, 'soft_limit_exceeded', '60']],
  ['tokens', 100, false, 140, '1', [false, 'limit_reached', '0']],
  ['tokens', 0, false, 0, undefined, [false, 'limit_reached', '0']],
  ['tokens', null, false, 40, '1000', [true, 'unlimited', null]],
  ['calls', 41, false, 40, undefined, [true, 'within_limit', '1']],
  ['double', 90, false, 40, '5', [true, 'within_limit', '10']],
  ['double', 90, false, 40, '6', [false, 'limit_reached', '10']],
  ['seats', 50, false, 40, '50', [true, 'within_limit', '10']],
  ['seats', 50, false, 40, '51', [false, 'limit_reached', '10']],
] as const) {
  test(`${plain} ${name} of ${isSoft ? 'soft ' : ''}${limit}, ${quantity ?? 'one'} more: ${expected[1]}`, async () => {
    const { ids, tables, check } = await limited(name, limit, { is_soft_limit: isSoft });
    tables.plain = plain;
    const [allowed, reason, remaining] = expected;
    assert.equal(await check({ feature_id: ids[name], ...(quantity ? { quantity } : {}) }), {
      ...{
        allowed,
        reason,
        limit: limit === null ? null : String(limit),
        used: String(name === 'double' ? 2 * plain : plain),
      },
      ...{ remaining, resets_at, position: '4711' },
    });
  });
}

test('use within a hard limit is let through until it is reached, before anything of it is counted', async () => {
  const { ids, tables, check } = await limited('tokens', 10);
  tables.plain = 3;
  const use = { feature_id: ids.tokens, quantity: '3', record: true };
  const [first, second, third] = [await check(use), await check(use), await check(use)];
  const common = { limit: '10', resets_at, position: '4711' };
  assert.equal(
    { ...first, event_id: '' },
    { allowed: true, reason: 'within_limit', used: '6', remaining: '4', ...common, event_id: '' },
  );
  assert.equal([second?.allowed, second?.used], [true, '9']);
  assert.equal(third, {
    allowed: false,
    reason: 'limit_reached',
    used: '9',
    remaining: '1',
    ...common,
  });
  assert.equal((await check({ ...use, quantity: '1' })).used, '10');
  assert.equal(tables.recorded, [], 'the reservation is the record');
});

test('what was counted of the reservation is not counted twice, and a void does not give room', async () => {
  const { ids, tables, check } = await limited('tokens', 10);
  const use = { feature_id: ids.tokens, quantity: '5', record: true };
  await check(use);
  tables.counted = 5;
  assert.is((await check(use)).used, '10');
  tables.counted = 10;
  tables.voided = 5;
  assert.equal([(await check(use)).reason, (await check(use)).used], ['limit_reached', '10']);
});

test('an event carries what its meter counts', async () => {
  const { ids, world, check } = await limited('tokens', 10);
  await check({ feature_id: ids.tokens, quantity: '2.5', record: true, event_id: 'e-1' });
  const { data } = world.store.log.at(-1) as unknown as { data: { usage: object } };
  assert.equal(data.usage, {
    ...{ event_id: 'e-1', event_name: 'tokens', external_customer_id: 'ada' },
    ...{ timestamp: world.now, timestamp_assigned: true },
    properties: { model: 'large', count: '2.5' },
  });
});

test('a repetition gets the first answer, in the next period too, and whatever has changed', async () => {
  const { ids, world, tables, given, check } = await limited('tokens', 10);
  world.now = instant('2026-03-31T23:59');
  const use = { feature_id: ids.tokens, quantity: '10', record: true, event_id: 'e-1' };
  const first = await check(use);
  assert.is(first.allowed, true);
  assert.equal(await check(use), first);
  const length = world.store.log.length;
  world.now = instant('2026-04-01T00:01');
  assert.equal(await check(use), first, 'before the tables know it');
  const { stream } = world.store.log.at(-1) as unknown as { stream: string };
  const reservation = stream.split('.')[1];
  tables.known = { content: '', at: world.now, reservation };
  world.now = instant('2026-06-01T00:00');
  given.grants = () => [];
  assert.equal(await check(use), first, 'when nothing is granted any more');
  assert.is(world.store.log.length, length);
});

test('a refusal is not recorded: asked again, it is decided again', async () => {
  const { ids, given, world, check } = await limited('tokens', 10);
  const use = { feature_id: ids.tokens, quantity: '11', record: true, event_id: 'e-1' };
  const { length } = world.store.log;
  assert.is((await check(use)).allowed, false);
  assert.is(world.store.log.length, length);
  given.grants = () => [ofPlan({ feature_id: ids.tokens ?? '', usage_limit: 20 })];
  assert.is((await check(use)).allowed, true);
});

test('an id that other usage has is a conflict', async () => {
  const { ids, tables, check, world } = await limited('tokens', 10);
  tables.known = { content: 'other', at: world.now, reservation: null };
  const use = { feature_id: ids.tokens, record: true, event_id: 'e-1' };
  assert.is((await rejection(check(use))).code, 'idempotency_conflict');
});

test('use beyond no hard limit is recorded as all usage is', async () => {
  const { ids, tables, check } = await limited('tokens', 10, { is_soft_limit: true });
  tables.plain = 10;
  const answer = await check({ feature_id: ids.tokens, record: true, event_id: 'e-1' });
  assert.equal(
    [answer.allowed, answer.reason, answer.event_id],
    [true, 'soft_limit_exceeded', 'e-1'],
  );
  assert.is(tables.recorded.length, 1);
});

test('a limit that others inherit is used up by all together, and never passed', async () => {
  const { world, ids, given, tables, check, customer_id, another } = await limited('tokens', 10);
  const other = await another('ben');
  const users = [customer_id, other].map((id, index) => ({
    ...{ customer_id: id, until: null, since: index === 0 ? null : rhythm.start },
  }));
  const shared = { subscription_id: 'subs_1', users };
  const feature_id = ids.tokens ?? '';
  given.grants = () => [ofPlan({ feature_id, usage_limit: 10, shared })];
  tables.plain = 3;
  const use = (customer: string, quantity: string) =>
    check({ customer_id: customer, feature_id, quantity, record: true, event_id: quantity });
  assert.equal((await use(customer_id, '4')).remaining, '3');
  const refused = await use(other, '3.5');
  assert.equal([refused.allowed, refused.used], [false, '7']);
  assert.equal((await use(other, '3')).remaining, '0');
  assert.is((await use(customer_id, '0.5')).reason, 'limit_reached');
  const streams = new Set(world.store.log.map(({ stream }) => stream));
  const reservations = [...streams].filter((stream) => stream.startsWith('usage_reservation'));
  assert.is(reservations.length, 1);
});

test('what a customer is granted of its own comes on top of a limit that is shared', async () => {
  const { ids, given, tables, check, customer_id } = await limited('tokens', 10);
  const users = [
    { customer_id: 'cust_ada', since: null, until: null },
    { customer_id, since: rhythm.start, until: null },
  ];
  const shared = { subscription_id: 'subs_1', users };
  const feature_id = ids.tokens ?? '';
  const other = { subscription_id: 'subs_9', users };
  given.grants = () => [
    ofPlan({ feature_id, usage_limit: 10, shared, is_inherited: true }),
    ofPlan({ feature_id, usage_limit: 5, subscription_id: 'subs_2', entitlement_id: 'ent_2' }),
    // A second one that is shared does not count, so that neither is passed.
    ofPlan({
      ...{ feature_id, usage_limit: 50, shared: other, is_inherited: true },
      ...{ subscription_id: 'subs_3', entitlement_id: 'ent_3' },
    }),
  ];
  tables.plain = 12;
  const answer = await check({ feature_id, quantity: '3' });
  assert.equal([answer.allowed, answer.limit, answer.remaining], [true, '15', '3']);
});

test('what no limit can reserve, or no event can be, is refused', async () => {
  const { ids, given, check } = await limited('seats', 10);
  const use = { record: true };
  assert.is((await rejection(check({ ...use, feature_id: ids.seats }))).code, 'validation_error');
  given.grants = () => [ofPlan({ feature_id: ids.calls ?? '', usage_limit: 5 })];
  const problem = await rejection(check({ ...use, feature_id: ids.calls, quantity: '2' }));
  assert.is(problem.errors?.[0]?.pointer, '/quantity');
});

test('the credits of a wallet are those that can be spent now', async () => {
  const { check, wallet_id, customer_id } = await worldWith(() => []);
  const enough = await check({ wallet_id, credits: '10' });
  assert.equal([enough.allowed, enough.reason, enough.remaining], [true, 'enough_credits', '10']);
  assert.ok(enough.position);
  const short = await check({ wallet_id, credits: '10.000000001' });
  assert.equal([short.allowed, short.reason], [false, 'insufficient_credits']);
  const other = check({ customer_id: `${customer_id}x`, wallet_id, credits: '1' });
  assert.is((await rejection(other)).code, 'not_found');
});

test('unknown customers and features are not found', async () => {
  const { check } = await worldWith(() => []);
  for (const body of [
    { feature_id: 'feat_x' },
    { feature_lookup_key: 'x' },
    { customer_id: 'cust_x', feature_id: 'feat_x' },
  ]) {
    assert.is((await rejection(check(body))).code, 'not_found');
  }
});

test('whoever may only read records nothing', async () => {
  const { ids, allowed, check } = await limited('tokens', 10);
  Object.assign(allowed, { allows: (permission: string) => permission.endsWith(':read') });
  assert.is((await check({ feature_id: ids.tokens })).allowed, true);
  const problem = await rejection(check({ feature_id: ids.tokens, record: true }));
  assert.is(problem.code, 'permission_denied');
});

test('several questions are answered in their order', async () => {
  const { ids, bulk } = await limited('tokens', 10);
  const { items } = await bulk([
    { feature_id: ids.archive },
    { feature_id: ids.tokens, quantity: '4' },
  ]);
  assert.equal(
    items.map(({ reason }) => reason),
    ['not_granted', 'within_limit'],
  );
});

test.run();
