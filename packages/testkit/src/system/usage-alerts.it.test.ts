import { rebuild, verify } from '@counterfoil/cli/verify';
import { categoryPrefix } from '@counterfoil/engine';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { eventually } from '../eventually.ts';
import { type Sink, startSink } from '../sink.ts';
import { type SharedStack, sharedStack, type TestTenant } from '../stack.ts';
import { type ClockedTenant, onTestClock } from './on-test-clock.ts';
import { untilUsageIsShown } from './usage-shown.ts';

const test = suite('usage alerts');

const start = '2027-01-10T00:00:00.000Z';

let stack: SharedStack;
test.before(async () => {
  stack = await sharedStack();
  await untilUsageIsShown(await stack.tenant('alerts'));
});

/** A customer with a metered feature of a tenant whose clock stands. */
interface World {
  readonly tenant: ClockedTenant;
  readonly customerId: string;
  readonly featureId: string;
  use(count: number, properties?: object): Promise<string>;
  alert(thresholds: readonly object[], more?: object): Promise<string>;
}

async function worldOf(seed: string, zone = 'UTC'): Promise<World> {
  const tenant = await onTestClock(stack, seed, start);
  const person = { external_id: seed, name: seed, timezone: zone };
  const { id: customerId } = await tenant.ok('POST', '/customers', person);
  const meter = {
    ...{ name: 'Tokens', event_name: 'tokens' },
    aggregation: { type: 'SUM', field: 'count' },
  };
  const feature = { name: 'Tokens', type: 'metered', meter };
  const { id: featureId } = await tenant.ok('POST', '/features', feature);
  let events = 0;
  return {
    ...{ tenant, customerId, featureId },
    async use(count, properties = {}) {
      events += 1;
      const event_id = `${seed}-${events}`;
      const event = { event_id, event_name: 'tokens', external_customer_id: seed };
      await tenant.ok('POST', '/events', { ...event, properties: { count, ...properties } });
      return event_id;
    },
    async alert(thresholds, more = {}) {
      const body = { customer_id: customerId, feature_id: featureId, thresholds, ...more };
      return (await tenant.ok('POST', '/usage/alerts', body)).id;
    },
  };
}

const absolute = (value: string) => ({ type: 'absolute', value });
const percent = (value: string) => ({ type: 'percent', value });
const given = (usage_limit: string) => ({ usage_limit });

/** The levels that were crossed by the log, with the usage, in its order. */
async function crossedOf({ tenantId }: TestTenant): Promise<readonly string[]> {
  const found: string[] = [];
  const upTo = await stack.store.head();
  const range = { prefixes: [categoryPrefix('usage_alert')], after: 0n, upTo };
  for await (const { type, data, metadata } of stack.store.readLog(range)) {
    if (type !== 'UsageThresholdCrossed' || metadata.tenant_id !== tenantId) continue;
    const { level, usage } = data as { level: string; usage: string };
    found.push(`${level} at ${usage}`);
  }
  return found;
}

/** Waits until just these were crossed. Whoever waits for the last one sees that none before it came twice. */
async function untilCrossed(tenant: TestTenant, expected: readonly string[]): Promise<void> {
  let crossed: readonly string[] = [];
  await eventually(
    async () => {
      crossed = await crossedOf(tenant);
      return crossed.length >= expected.length;
    },
    () => `crossed was ${crossed.join(', ')}, and not ${expected.join(', ')}`,
  );
  assert.equal(crossed, expected);
}

const messagesIn = (sink: Sink) =>
  sink.deliveries
    .map(({ body }) => JSON.parse(body))
    .filter(({ event_type }) => event_type === 'usage_alert.threshold_crossed');

test('each threshold is crossed once in a period, and told to webhooks', async () => {
  const { tenant, customerId, featureId, use, alert } = await worldOf('once');
  const sink = await startSink();
  try {
    const wanted = { url: sink.url, event_types: ['usage_alert.*'] };
    await tenant.ok('POST', '/webhooks/endpoints', wanted);
    const id = await alert([absolute('150'), percent('80')], given('100'));
    await use(79);
    await use(1);
    await untilCrossed(tenant, ['80 at 80']);
    const taken = await use(10);
    await tenant.ok('POST', `/events/${taken}/void`);
    await use(-40);
    await use(109);
    await use(2);
    await untilCrossed(tenant, ['80 at 80', '150 at 151']);
    const shown = await eventually(async () => {
      const seen = await tenant.ok('GET', `/usage/alerts/${id}`);
      return seen.thresholds.every(({ usage }: Shown) => usage) && seen;
    });
    assert.equal(
      shown.thresholds.map(({ value, level, usage }: Shown) => [value, level, usage]),
      [
        ['150', '150', '151'],
        ['80', '80', '80'],
      ],
    );
    await eventually(
      () => messagesIn(sink).length >= 2,
      () =>
        `${messagesIn(sink).length} messages: ${sink.deliveries.map(({ body }) => body.slice(0, 300))}`,
    );
    const [first, second, ...others] = messagesIn(sink);
    assert.equal(others, []);
    const { position, crossed_at, ...crossing } = first.threshold;
    assert.equal(crossing, { ...percent('80'), level: '80', usage: '80' });
    const { period_start, period_end, usage_limit } = first.usage_alert;
    assert.equal(
      [period_start, period_end, usage_limit],
      ['2027-01-01T00:00:00.000Z', '2027-02-01T00:00:00.000Z', '100'],
    );
    assert.match(position, /^\d+$/);
    assert.is(crossed_at, start);
    assert.equal(
      [first.usage_alert.id, first.customer.id, first.feature.id, first.feature.meter.event_name],
      [id, customerId, featureId, 'tokens'],
    );
    assert.equal([second.threshold.type, second.threshold.level], ['absolute', '150']);
  } finally {
    await sink.close();
  }
});

interface Shown {
  readonly value: string;
  readonly level: string;
  readonly usage?: string;
}

test('usage that is there already counts, and a new limit makes new thresholds', async () => {
  const { tenant, use, alert } = await worldOf('later');
  await use(90);
  const id = await alert([percent('50'), absolute('500')], given('100'));
  await untilCrossed(tenant, ['50 at 90']);
  await tenant.ok('PUT', `/usage/alerts/${id}`, given('160'));
  await untilCrossed(tenant, ['50 at 90', '80 at 90']);
  await tenant.ok('PUT', `/usage/alerts/${id}`, given('100'));
  await use(410);
  await untilCrossed(tenant, ['50 at 90', '80 at 90', '500 at 500']);
});

test('usage of a backfill crosses nothing while that is open, and what it reaches when it is closed', async () => {
  const { tenant, use, alert } = await worldOf('filled');
  await alert([absolute('5'), absolute('12')]);
  const { id } = await tenant.ok('POST', '/events/backfills', {
    ...{ source: 'lossy', start_time: '2027-01-01T00:00:00Z', end_time: start },
  });
  const event = { event_name: 'tokens', external_customer_id: 'filled', event_id: 'late' };
  await tenant.ok('POST', `/events/backfills/${id}/events`, {
    events: [{ ...event, timestamp: '2027-01-05T00:00:00Z', properties: { count: 10 } }],
  });
  await use(5);
  await untilCrossed(tenant, ['5 at 5']);
  await tenant.ok('POST', `/events/backfills/${id}/close`);
  await untilCrossed(tenant, ['5 at 5', '12 at 15']);
});

test('a period begins with nothing crossed, in the zone of the customer, and none is passed over', async () => {
  const { tenant, use, alert } = await worldOf('periods', 'Europe/Berlin');
  const id = await alert([absolute('10')], { reset_period: 'DAILY' });
  await use(10);
  // The clock moves on whether or not somebody has looked at the usage.
  await tenant.moveTo('2027-01-11T22:59:59.000Z');
  await untilCrossed(tenant, ['10 at 10']);
  await use(12);
  await tenant.moveTo('2027-01-13T12:00:00.000Z');
  await untilCrossed(tenant, ['10 at 10', '10 at 12']);
  const shown = await eventually(async () => {
    const seen = await tenant.ok('GET', `/usage/alerts/${id}`);
    return seen.period_start === '2027-01-12T23:00:00.000Z' && seen;
  });
  assert.equal(
    [shown.period_end, shown.thresholds],
    ['2027-01-13T23:00:00.000Z', [{ ...absolute('10'), level: '10' }]],
  );
  await use(11);
  await untilCrossed(tenant, ['10 at 10', '10 at 12', '10 at 11']);
});

test('a meter that counts other events is a reason to look', async () => {
  const { tenant, featureId, use, alert } = await worldOf('meter');
  const only = (model: string) => ({ filters: [{ key: 'model', values: [model] }] });
  await tenant.ok('PUT', `/features/${featureId}`, only('small'));
  await alert([absolute('5')]);
  await use(7, { model: 'large' });
  await use(4, { model: 'small' });
  await tenant.ok('PUT', `/features/${featureId}`, only('large'));
  await untilCrossed(tenant, ['5 at 7']);
});

test('a rebuild and a projector that was away repeat nothing and miss nothing', async () => {
  const { tenant, use, alert } = await worldOf('rebuilt');
  await alert([absolute('10'), absolute('20'), absolute('30')]);
  await use(15);
  await untilCrossed(tenant, ['10 at 15']);
  await stack.parts.projector.stop();
  await use(5);
  await stack.parts.projector.start();
  await untilCrossed(tenant, ['10 at 15', '20 at 20']);
  await rebuild(stack, ['usage']);
  await use(10);
  await untilCrossed(tenant, ['10 at 15', '20 at 20', '30 at 30']);
  const lines: string[] = [];
  assert.ok(await verify(stack, (line) => lines.push(line)), lines.join('\n'));
});

test('what an alert needs stays, until the alert is deleted', async () => {
  const { tenant, customerId, featureId, alert } = await worldOf('needed');
  const id = await alert([absolute('10')]);
  const path = `/usage/alerts/${id}`;
  for (const needed of [`/customers/${customerId}`, `/features/${featureId}`]) {
    assert.is((await tenant.call('DELETE', needed)).status, 400, needed);
  }
  const list = (query: string) => tenant.ok('GET', `/usage/alerts?${query}`);
  const found = await eventually(async () => {
    const { items } = await list(`customer_id=${customerId}`);
    return items.length > 0 && items;
  });
  assert.equal([found.length, found[0].id], [1, id]);
  assert.is((await tenant.call('DELETE', path)).status, 204);
  assert.is((await tenant.call('DELETE', `/customers/${customerId}`)).status < 300, true);
  assert.is((await tenant.call('GET', path)).status, 404);
});

for (const [name, body, pointer] of [
  ['a percentage of nothing', { thresholds: [percent('80')] }, '/usage_limit'],
  [
    'a threshold twice',
    { thresholds: [absolute('1'), absolute('2'), absolute('1.0')] },
    '/thresholds/2',
  ],
  ['no threshold', { thresholds: [] }, '/thresholds'],
  ['a threshold of nothing', { thresholds: [absolute('0')] }, '/thresholds/0/value'],
] as const) {
  test(`refuses ${name}`, async () => {
    const { tenant, customerId, featureId } = await worldOf(`refuses ${name}`);
    const whole = { customer_id: customerId, feature_id: featureId, ...body };
    const answer = await tenant.call('POST', '/usage/alerts', whole);
    assert.is(answer.status, 400, answer.text);
    assert.is(answer.body.errors[0].pointer, pointer);
  });
}

test.run();
