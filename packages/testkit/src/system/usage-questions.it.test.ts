import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import type { Answer } from '../caller.ts';
import { eventually } from '../eventually.ts';
import { type Stack, startStack, type TestTenant } from '../stack.ts';
import { untilUsageIsShown } from './usage-shown.ts';

const test = suite('questions about usage');

let stack: Stack;
let tenant: TestTenant;

test.before(async () => {
  stack = await startStack();
  tenant = await stack.tenant('usage');
  await untilUsageIsShown(tenant);
});
test.after(() => stack.stop());

/** A metered feature of the events of a name, when reads show it with its meter. */
async function featureOf(name: string, aggregation: object, more: object = {}) {
  const { id } = await tenant.ok('POST', '/features', {
    ...{ name, type: 'metered', lookup_key: name },
    meter: { name, event_name: name, aggregation, ...more },
  });
  return await eventually(async () => {
    const found = await tenant.ok('GET', `/features/${id}`);
    return found.meter ? found : false;
  });
}

const customerNamed = (external_id: string, more: object = {}) =>
  tenant.ok('POST', '/customers', { external_id, name: external_id, ...more });

/** Records events, and gives the header by which a read waits until they are counted. */
async function record(events: readonly object[]): Promise<{ 'counterfoil-min-position': string }> {
  const sent = await tenant.call('POST', '/events/bulk', { events });
  assert.is(sent.status, 202, sent.text);
  return { 'counterfoil-min-position': sent.headers.get('counterfoil-position') ?? '0' };
}

/** Asks, and asks again while the tables are not there yet. */
const ask = (
  method: string,
  path: string,
  body?: unknown,
  after: Readonly<Record<string, string>> = {},
): Promise<Answer> =>
  eventually(
    async () => {
      const answer = await tenant.call(method, path, body, after);
      return answer.status !== 503 && answer;
    },
    () => `${method} ${path} never showed what was recorded`,
  );

test('the summary has every metered feature, with what was used of it in the period that runs', async () => {
  const zone = { timezone: 'Asia/Kolkata' };
  const { id: customer_id } = await customerNamed('summed', zone);
  const sum = await featureOf('summed-tokens', { type: 'SUM', field: 'count' });
  const unique = await featureOf(
    'summed-users',
    { type: 'COUNT_UNIQUE', field: 'user' },
    { reset_usage: 'NEVER' },
  );
  const event = { external_customer_id: 'summed' };
  const old = { timestamp: '2020-02-29T12:00:00Z' };
  const after = await record([
    { ...event, event_name: 'summed-tokens', properties: { count: '0.1' } },
    { ...event, event_name: 'summed-tokens', properties: { count: 0.2 } },
    { ...event, event_name: 'summed-tokens', properties: { count: 1000 }, ...old },
    { ...event, event_name: 'summed-users', properties: { user: 'ada' } },
    { ...event, event_name: 'summed-users', properties: { user: 'eve' }, ...old },
  ]);
  const summed = (query: string) => ask('GET', `/customers/usage?${query}`, undefined, after);
  const keys = 'feature_lookup_keys=summed-tokens,summed-users';
  const { body } = await summed(`customer_lookup_key=summed&${keys}`);
  assert.equal(body.pagination, { limit: 50, offset: 0, total: 2 });
  assert.is(body.customer_id, customer_id);
  assert.is(body.period.period, 'MONTHLY');
  assert.match(body.period.start_time, /T18:30:00\.000Z$/);
  const nothing = {
    ...{ is_enabled: false, is_soft_limit: false, is_unlimited: false },
    ...{ total_limit: null, sources: [] },
  };
  assert.equal(body.features, [
    {
      ...nothing,
      feature: await tenant.ok('GET', `/features/${sum.id}`),
      current_usage: '0.3',
      usage_reset_period: 'MONTHLY',
      next_usage_reset_at: body.period.end_time,
    },
    {
      ...nothing,
      feature: await tenant.ok('GET', `/features/${unique.id}`),
      current_usage: '2',
      usage_reset_period: 'NEVER',
      next_usage_reset_at: null,
    },
  ]);
  assert.ok(BigInt(body.position) >= BigInt(after['counterfoil-min-position']));
  const byId = await tenant.ok('GET', `/customers/${customer_id}/usage?${keys}&limit=1&offset=1`);
  assert.equal(byId.features, [body.features[1]]);
  assert.equal(byId.pagination, { limit: 1, offset: 1, total: 2 });
  for (const [query, status] of [
    ['', 400],
    [`customer_id=${customer_id}&customer_lookup_key=summed-else`, 404],
    ['customer_id=cust_none', 404],
    [`customer_id=${customer_id}&limit=1001`, 400],
    [`customer_id=${customer_id}&period=MONTHLY`, 400],
  ] as const) {
    assert.is((await summed(query)).status, status, query);
  }
});

test('usage stays with the customer whose external id changes, and begins anew for who takes it over', async () => {
  const { id } = await customerNamed('moved-before');
  const feature = await featureOf('moved', { type: 'SUM', field: 'count' });
  const used = (external_customer_id: string, count: number) => ({
    ...{ event_name: 'moved', external_customer_id, properties: { count } },
  });
  await record([used('moved-before', 5)]);
  await tenant.ok('PUT', `/customers?id=${id}`, { external_id: 'moved-after' });
  const heir = await customerNamed('moved-before');
  const summaryOf = async (customer_id: string, after: Readonly<Record<string, string>>) => {
    const query = `customer_id=${customer_id}&feature_ids=${feature.id}`;
    const { body } = await ask('GET', `/customers/usage?${query}`, undefined, after);
    return body.features[0].current_usage;
  };
  const after = await record([used('moved-after', 2), used('moved-before', 100)]);
  assert.equal([await summaryOf(id, after), await summaryOf(heir.id, after)], ['7', '100']);
  const question = { ...{ event_name: 'moved', aggregation_type: 'SUM', property_name: 'count' } };
  for (const [customer, total] of [
    [{ customer_id: id }, '7'],
    [{ external_customer_id: 'moved-after' }, '7'],
    [{ external_customer_id: 'moved-before' }, '100'],
    [{}, '107'],
  ] as const) {
    const { body } = await ask('POST', '/events/usage', { ...question, ...customer }, after);
    assert.is(body.total_value, total, JSON.stringify(customer));
  }
});

test.run();
