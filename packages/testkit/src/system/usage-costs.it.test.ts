import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { eventually } from '../eventually.ts';
import { type SharedStack, sharedStack, type TestTenant } from '../stack.ts';
import { onTestClock } from './on-test-clock.ts';
import { untilUsageIsShown } from './usage-shown.ts';

const test = suite('costs of usage over HTTP');

let stack: SharedStack;
test.before(async () => {
  stack = await sharedStack();
});

const newYear = '2027-01-01T00:00:00.000Z';
const january = { start_time: newYear, end_time: '2027-02-01T00:00:00Z' };
const february = { start_time: january.end_time, end_time: '2027-03-01T00:00:00Z' };
const both = { start_time: newYear, end_time: february.end_time };

interface Sale {
  readonly trialDays?: number;
  /** The price of a call of the kind that is not priced otherwise. */
  readonly otherCall?: string;
  /** Further members of the subscription, by the id of the price of calls. */
  readonly more?: (priceId: string) => object;
}

/** A customer who pays for calls in two tiers, beyond 100 that are free in a month, after so many days of trial. */
async function selling(tenant: TestTenant, { trialDays = 0, otherCall, more }: Sale = {}) {
  const metering = async (name: string) => {
    const meter = await tenant.ok('POST', '/meters', {
      ...{ name, event_name: 'call', aggregation: { type: 'SUM', field: 'n' } },
      filters: [{ key: 'kind', values: [name] }],
    });
    const feature = { name, type: 'metered', meter_id: meter.id };
    return { meter, feature: await tenant.ok('POST', '/features', feature) };
  };
  const priced = await metering('priced');
  const unpriced = await metering('unpriced');
  const plan = await tenant.ok('POST', '/plans', { name: 'Pro' });
  const price = {
    ...{ entity_type: 'PLAN', entity_id: plan.id, currency: 'usd', billing_period: 'MONTHLY' },
    price_unit_type: 'FIAT',
  };
  await tenant.ok('POST', '/prices', {
    ...{ ...price, type: 'FIXED', billing_model: 'FLAT_FEE', amount: '100' },
    ...{ invoice_cadence: 'ADVANCE', ...(trialDays > 0 && { trial_period_days: trialDays }) },
  });
  const ofUsage = { ...price, type: 'USAGE', invoice_cadence: 'ARREAR' };
  const { id: priceId } = await tenant.ok('POST', '/prices', {
    ...{ ...ofUsage, billing_model: 'TIERED', tier_mode: 'SLAB', meter_id: priced.meter.id },
    tiers: [{ up_to: 1000, unit_amount: '0.02' }, { unit_amount: '0.01' }],
  });
  if (otherCall !== undefined) {
    const flat = { billing_model: 'FLAT_FEE', amount: otherCall, meter_id: unpriced.meter.id };
    await tenant.ok('POST', '/prices', { ...ofUsage, ...flat });
  }
  await tenant.ok('POST', '/entitlements', {
    ...{ plan_id: plan.id, feature_id: priced.feature.id, feature_type: 'metered' },
    ...{ usage_limit: 100, usage_reset_period: 'MONTHLY' },
  });
  await tenant.ok('POST', '/customers', { external_id: 'acme', name: 'Acme' });
  const subscription = await tenant.ok('POST', '/subscriptions', {
    ...{ external_customer_id: 'acme', plan_id: plan.id, currency: 'usd' },
    ...{ billing_period: 'MONTHLY', ...more?.(priceId) },
  });
  return { id: subscription.id as string, priced, unpriced };
}

const called = (day: string, n: number, more: object = {}) => ({
  ...{ event_name: 'call', external_customer_id: 'acme', timestamp: `2027-${day}T12:00:00Z` },
  properties: { kind: 'priced', n, ...more },
});

async function record(tenant: TestTenant, events: readonly object[]): Promise<void> {
  const shown = async () => (await tenant.call('GET', '/events')).body.events?.length ?? 0;
  const wanted = (await shown()) + events.length;
  const { status, text } = await tenant.call('POST', '/events/bulk', { events });
  assert.is(status, 202, text);
  await eventually(
    async () => (await shown()) === wanted,
    () => 'the usage was never shown',
  );
}

test('usage costs what its billing periods come to, and its groups and windows add up to that', async () => {
  const tenant = await onTestClock(stack, 'costs of usage', newYear);
  await untilUsageIsShown(tenant);
  const { id, priced, unpriced } = await selling(tenant);
  await tenant.moveTo('2027-02-10T00:00:00.000Z');
  await record(tenant, [
    called('01-10', 500, { model: 'a' }),
    called('01-20', 800, { model: 'b' }),
    called('02-05', 300, { model: 'a' }),
    called('02-05', 7, { kind: 'unpriced' }),
  ]);
  const ask = (more: object) =>
    tenant.ok('POST', '/events/analytics', { external_customer_id: 'acme', ...more });
  const costs = async (more: object) => {
    const { items, total_cost, currency } = await ask({
      feature_ids: [priced.feature.id],
      ...more,
    });
    const shown = items.map((item: { properties?: { model: string }; total_cost?: string }) => [
      item.properties?.model ?? '',
      item.total_cost,
    ]);
    return [currency, total_cost, ...shown];
  };
  // 1,200 beyond the allowance in January: 20 + 2; 200 in February: 4.
  assert.equal(await costs(january), ['usd', '22', ['', '22']]);
  assert.equal(await costs(both), ['usd', '26', ['', '26']]);
  const groups = { group_by: ['properties.model'] };
  assert.equal(await costs({ ...january, ...groups }), [
    'usd',
    '22',
    ['a', '8.46'],
    ['b', '13.54'],
  ]);
  assert.equal(await costs({ ...both, ...groups }), ['usd', '26', ['a', '12.46'], ['b', '13.54']]);
  // A part of a period costs what it adds: tiers and allowance go on.
  const middle = '2027-01-15T00:00:00Z';
  assert.equal(await costs({ ...january, end_time: middle }), ['usd', '8', ['', '8']]);
  assert.equal(await costs({ ...january, start_time: middle }), ['usd', '14', ['', '14']]);
  const onlyA = { property_filters: { model: ['a'] } };
  assert.equal(await costs({ ...both, ...onlyA }), ['usd', '12.46', ['', '12.46']]);
  const { items: windowed } = await ask({
    ...{ ...both, feature_ids: [priced.feature.id], window_size: 'MONTH' },
  });
  assert.equal(
    windowed[0].points.map(({ cost }: { cost: string }) => cost),
    ['22', '4'],
  );
  const charged = await tenant.ok('POST', '/subscriptions/usage', { subscription_id: id });
  assert.is(charged.net_amount, '4');
  const whole = await ask(both);
  const free = whole.items.find(
    ({ feature_id }: { feature_id: string }) => feature_id === unpriced.feature.id,
  );
  assert.is(whole.total_cost, '26');
  assert.not('total_cost' in free);
  const expanded = await ask({ ...both, expand: ['price', 'plan'] });
  const named = expanded.items.map(
    ({ name, price_id, price, plan }: Record<string, { id?: string; name?: string }>) => [
      ...[name, price?.id === price_id, plan?.name],
    ],
  );
  assert.equal(named, [
    ['priced', true, 'Pro'],
    ['unpriced', true, undefined],
  ]);
  const everybody = await tenant.ok('POST', '/events/analytics', both);
  assert.not('total_cost' in everybody);
  const detailed = await tenant.ok('POST', '/meter-usage/detailed-analytics', {
    ...{ external_customer_id: 'acme', meter_ids: [priced.meter.id], ...both, ...groups },
    window_size: 'MONTH',
  });
  assert.equal(
    detailed.items.map(({ total_cost, points }: { total_cost: string; points: object[] }) => [
      total_cost,
      points.map((point) => (point as { cost: string }).cost),
    ]),
    [
      ['12.46', ['8.46', '4']],
      ['13.54', ['13.54']],
    ],
  );
  assert.equal([detailed.total_cost, detailed.currency], ['26', 'usd']);
  const long = { start_time: '2027-01-01T00:00:00Z', end_time: '2127-01-01T00:00:00Z' };
  const refused = await tenant.call('POST', '/events/analytics', {
    ...{ external_customer_id: 'acme', ...long },
  });
  assert.equal([refused.status, refused.body.errors[0].pointer], [400, '/start_time']);
});

test('in a trial usage costs nothing yet, and afterwards only what came after it', async () => {
  const tenant = await onTestClock(stack, 'costs in a trial', newYear);
  await untilUsageIsShown(tenant);
  await selling(tenant, { trialDays: 10 });
  await tenant.moveTo('2027-01-05T00:00:00.000Z');
  await record(tenant, [called('01-02', 150)]);
  const ask = (more: object) =>
    tenant.ok('POST', '/events/analytics', { external_customer_id: 'acme', ...more });
  assert.not('total_cost' in (await ask({ start_time: newYear })));
  await tenant.moveTo('2027-01-20T00:00:00.000Z');
  await record(tenant, [called('01-02', 150), called('01-15', 150)]);
  const shown = await ask(january);
  assert.is(shown.total_cost, '1');
  assert.is(shown.items[0].total_usage, '450');
});

test('who inherits a subscription has a share of what all who use it cost together', async () => {
  const tenant = await onTestClock(stack, 'costs of a family', newYear);
  await untilUsageIsShown(tenant);
  await tenant.ok('POST', '/customers', { external_id: 'heir', name: 'Heir' });
  const inheritance = { external_customer_ids_to_inherit_subscription: ['heir'] };
  await selling(tenant, { more: () => ({ inheritance }) });
  await tenant.moveTo('2027-01-20T00:00:00.000Z');
  const byHeir = { ...called('01-12', 800), external_customer_id: 'heir' };
  await record(tenant, [called('01-10', 500), byHeir]);
  const costOf = async (external_customer_id: string) =>
    (await tenant.ok('POST', '/events/analytics', { external_customer_id, ...january })).total_cost;
  await eventually(
    async () => (await costOf('heir')) === '13.54',
    () => 'the heir never had a share',
  );
  assert.is(await costOf('acme'), '8.46');
});

/** The costs of a customer's calls in a span: of all features, then of each with the value of the group. */
const costsIn = async (tenant: TestTenant, span: object, more: object = {}) => {
  const { items, total_cost } = await tenant.ok('POST', '/events/analytics', {
    ...{ external_customer_id: 'acme', ...span, ...more },
  });
  type Item = { name: string; properties?: { model: string }; total_cost?: string };
  const named = ({ name, properties }: Item) =>
    [name, properties?.model].filter((part) => part !== undefined).join(' ');
  return [total_cost, ...items.map((item: Item) => `${named(item)} ${item.total_cost}`)];
};

test('what exceeds a commitment of all usage costs its factor, in shares of the lines', async () => {
  const tenant = await onTestClock(stack, 'costs above a commitment', newYear);
  await untilUsageIsShown(tenant);
  const more = () => ({ commitment_amount: '10', overage_factor: '2' });
  const { id } = await selling(tenant, { otherCall: '1', more });
  await tenant.moveTo('2027-02-10T00:00:00.000Z');
  await record(tenant, [
    called('01-10', 500, { model: 'a' }),
    called('01-20', 800, { model: 'b' }),
    called('02-05', 300),
    called('02-05', 7, { kind: 'unpriced' }),
  ]);
  // January is over and comes to 22, of which 12 are above; February to 4 and 7, of which 1 is.
  assert.equal(await costsIn(tenant, january), ['34', 'priced 34']);
  assert.equal(await costsIn(tenant, february), ['12', 'priced 4.36', 'unpriced 7.64']);
  assert.equal(await costsIn(tenant, both), ['46', 'priced 38.36', 'unpriced 7.64']);
  assert.equal(await costsIn(tenant, january, { group_by: ['properties.model'] }), [
    ...['34', 'priced a 13.08', 'priced b 20.92'],
  ]);
  const middle = '2027-01-15T00:00:00Z';
  assert.equal(await costsIn(tenant, { ...january, end_time: middle }), ['8', 'priced 8']);
  assert.equal(await costsIn(tenant, { ...january, start_time: middle }), ['26', 'priced 26']);
  const charged = await tenant.ok('POST', '/subscriptions/usage', { subscription_id: id });
  assert.is(charged.net_amount, '12');
});

test('a commitment of a line goes on over its periods, and what it billed stays its cost when it has ended', async () => {
  const tenant = await onTestClock(stack, 'costs of a line that has ended', newYear);
  await untilUsageIsShown(tenant);
  const commitment = { commitment_amount: '23', commitment_duration: 'ANNUAL' };
  const { id } = await selling(tenant, {
    more: (priceId) => ({
      line_item_commitments: { [priceId]: { ...commitment, overage_factor: '2' } },
    }),
  });
  await tenant.moveTo('2027-02-10T00:00:00.000Z');
  await record(tenant, [called('01-10', 1300), called('02-05', 300)]);
  const told = async () => [
    ...(await costsIn(tenant, january)),
    ...(await costsIn(tenant, february)),
    ...(await costsIn(tenant, both)),
  ];
  // 22 of 23 in January; of 4 in February 3 are above.
  assert.equal(await told(), ['22', 'priced 22', '7', 'priced 7', '29', 'priced 29']);
  const { net_amount } = await tenant.ok('POST', '/subscriptions/usage', { subscription_id: id });
  assert.is(net_amount, '7');
  const { line_items } = await tenant.ok('GET', `/subscriptions/${id}`);
  const line = line_items.find(({ price_type }: { price_type: string }) => price_type === 'USAGE');
  await tenant.ok('DELETE', `/subscriptions/lineitems/${line.id}`, {});
  await tenant.moveTo('2027-03-02T00:00:00.000Z');
  // The end has broken the term off: the part of the year that there was of it comes to less than 22.
  assert.equal(await told(), ['22', 'priced 22', '8', 'priced 8', '30', 'priced 30']);
});

test.run();
