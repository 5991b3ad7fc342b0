import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import type { Answer } from '../caller.ts';
import { eventually } from '../eventually.ts';
import { type SharedStack, sharedStack, type TestTenant } from '../stack.ts';
import { untilUsageIsShown } from './usage-shown.ts';

const test = suite('questions about usage');

let stack: SharedStack;
let tenant: TestTenant;

test.before(async () => {
  stack = await sharedStack();
  tenant = await stack.tenant('usage-questions');
  await untilUsageIsShown(tenant);
});

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

interface Item {
  readonly feature_id: string;
  readonly source?: string;
  readonly properties?: Readonly<Record<string, string>>;
  readonly total_usage: string;
  readonly event_count: number;
  readonly points?: readonly object[];
  readonly sources?: readonly string[];
  readonly feature?: Named;
  readonly meter?: Named;
  readonly group?: Named;
}

interface Named {
  readonly id: string;
}

test('usage is broken down by feature, source and properties, exactly, and by windows', async () => {
  const { id: customer_id } = await customerNamed('analysed');
  const sum = await featureOf('analysed-tokens', { type: 'SUM', field: 'count' });
  const most = await featureOf('analysed-seats', { type: 'MAX', field: 'count' });
  const half = await featureOf('analysed-halves', { type: 'SUM', expression: 'count / 2' });
  const at = (hour: number) => ({ timestamp: `2026-01-02T${hour}:30:00Z` });
  const event = (name: string, properties: object, more: object = {}) => ({
    ...{ event_name: `analysed-${name}`, external_customer_id: 'analysed', properties },
    ...more,
  });
  const after = await record([
    event('tokens', { count: 0.1, model: 'large' }, { ...at(10), source: 'web' }),
    event('tokens', { count: '0.2', model: 'large' }, { ...at(10), source: 'app' }),
    event('tokens', { count: 1e-7, model: 'small' }, { ...at(12), source: 'web' }),
    event('tokens', { count: 5 }, at(13)),
    event('tokens', { count: 'many', model: 'huge' }, at(13)),
    event('tokens', { count: 1000, model: 'large' }, { timestamp: '2025-12-31T23:59:59Z' }),
    event('seats', { count: 7, model: 'large' }, at(10)),
    event('seats', { count: 3, model: 'large' }, at(11)),
    event('halves', { count: 3, model: 'large' }, at(11)),
  ]);
  const question = {
    ...{ external_customer_id: 'analysed', feature_ids: [sum.id, most.id, half.id] },
    ...{ start_time: '2026-01-01T00:00:00Z', end_time: '2026-02-01T00:00:00Z' },
  };
  const items = async (more: object): Promise<readonly Item[]> => {
    const { status, body, text } = await ask(
      'POST',
      '/events/analytics',
      { ...question, ...more },
      after,
    );
    assert.is(status, 200, text);
    assert.ok(BigInt(body.position) >= BigInt(after['counterfoil-min-position']));
    return body.items;
  };
  const figures = async (more: object) =>
    (await items(more)).map(({ feature_id, source, properties, total_usage, event_count }) => [
      [sum.id, most.id, half.id].indexOf(feature_id),
      source ?? Object.values(properties ?? {}).join('/'),
      total_usage,
      event_count,
    ]);
  assert.equal((await figures({})).toSorted(), [
    [0, '', '5.3000001', 4],
    [1, '', '7', 2],
    [2, '', '1.5', 1],
  ]);
  assert.equal((await figures({ group_by: ['feature_id', 'properties.model'] })).toSorted(), [
    [0, '', '5', 1],
    [0, 'large', '0.3', 2],
    [0, 'small', '0.0000001', 1],
    [1, 'large', '7', 2],
    [2, 'large', '1.5', 1],
  ]);
  const tokens = { feature_ids: [sum.id] };
  assert.equal(await figures({ ...tokens, group_by: ['source'] }), [
    [0, '', '5', 1],
    [0, 'app', '0.2', 1],
    [0, 'web', '0.1000001', 2],
  ]);
  assert.equal(
    await figures({ ...tokens, sources: ['web'], property_filters: { model: ['large'] } }),
    [[0, '', '0.1', 1]],
  );
  assert.equal(await figures({ feature_ids: undefined, meter_ids: [sum.meter_id] }), [
    [-1, '', '5.3000001', 4],
  ]);
  const [windowed] = await items({ ...tokens, window_size: 'HOUR' });
  const hour = (start: number, usage: string, event_count: number) => ({
    ...{ timestamp: `2026-01-02T${start}:00:00.000Z`, usage, event_count },
  });
  const points = [hour(10, '0.3', 2), hour(12, '0.0000001', 1), hour(13, '5', 1)];
  assert.equal(windowed?.points, points);
  const [large] = await items({
    ...tokens,
    ...{
      window_size: 'HOUR',
      group_by: ['properties.model'],
      property_filters: { model: ['large'] },
    },
  });
  assert.equal([large?.properties, large?.points], [{ model: 'large' }, [hour(10, '0.3', 2)]]);
  const expand = ['sources', 'meter', 'feature', 'price'];
  const named = { name: 'Analysed', lookup_key: 'analysed', entity_type: 'feature' };
  const group = await tenant.ok('POST', '/groups', named);
  await tenant.ok('PUT', `/features/${sum.id}`, { group_id: group.id });
  const [whole] = await items({ ...tokens, expand });
  assert.equal(
    [whole?.sources, whole?.meter?.id, whole?.feature?.id, whole?.group?.id],
    [['app', 'web'], sum.meter_id, sum.id, group.id],
  );
  const byModel = { expand: ['sources'], group_by: ['properties.model'] };
  assert.equal(
    (await items({ ...tokens, ...byModel })).map(({ sources, feature }) => [sources, feature]),
    [
      [[], undefined],
      [['app', 'web'], undefined],
      [['web'], undefined],
    ],
  );
  const refused = async (more: object) => {
    const { status, body } = await ask('POST', '/events/analytics', { customer_id, ...more });
    return [status, body.errors?.[0]?.pointer];
  };
  const year = { start_time: '2025-01-01T00:00:00Z', end_time: '2026-01-01T00:00:00Z' };
  assert.equal(await refused({ ...year, window_size: 'MINUTE' }), [400, '/window_size']);
  assert.equal(await refused({ group_by: ['model'] }), [400, '/group_by/0']);
  assert.equal(await refused({ expand: ['events'] }), [400, '/expand/0']);
  assert.equal(await refused({ start_time: '2999-01-01T00:00:00Z' }), [400, '/end_time']);
});

test('meters tell what they count, one or several, in the form of the contract', async () => {
  await customerNamed('metered');
  const make = async (name: string, aggregation: object) =>
    (await tenant.ok('POST', '/meters', { name, event_name: name, aggregation })).id;
  const [sum, mean] = [
    await make('metered-sum', { type: 'SUM', field: 'count' }),
    await make('metered-mean', { type: 'AVG', field: 'count' }),
  ];
  const other = await make('metered-other', { type: 'SUM', field: 'count' });
  const used = (count: number, hour: number) => ({
    ...{ event_name: 'metered-sum', external_customer_id: 'metered', properties: { count } },
    timestamp: `2026-01-02T${hour}:30:00Z`,
  });
  const after = await record([used(0.1, 10), used(0.2, 10), used(7, 12)]);
  const question = {
    ...{ external_customer_id: 'metered', aggregation_type: 'SUM', window_size: 'HOUR' },
    ...{ start_time: '2026-01-01T00:00:00Z', end_time: '2026-02-01T00:00:00Z' },
  };
  const { body } = await ask('POST', '/meter-usage/query', { ...question, meter_id: sum }, after);
  const expected = {
    ...{ meter_id: sum, aggregation_type: 'SUM', total_value: '7.3', event_count: 3 },
    points: [
      { timestamp: '2026-01-02T10:00:00.000Z', value: '0.3', event_count: 2 },
      { timestamp: '2026-01-02T12:00:00.000Z', value: '7', event_count: 1 },
    ],
  };
  assert.equal(body, expected);
  const several = { ...question, meter_ids: [other, sum] };
  const nothing = { meter_id: other, aggregation_type: 'SUM', total_value: '0', event_count: 0 };
  assert.equal((await ask('POST', '/meter-usage/analytics', several, after)).body.items, [
    { ...nothing, points: [] },
    expected,
  ]);
  const means = { ...question, aggregation_type: 'AVG', meter_id: mean, window_size: undefined };
  assert.equal((await ask('POST', '/meter-usage/query', means, after)).body, {
    ...{ meter_id: mean, aggregation_type: 'AVG', total_value: null, event_count: 0 },
  });
  const wrong = { ...question, meter_id: mean };
  const refusal = await ask('POST', '/meter-usage/query', wrong, after);
  assert.equal([refusal.status, refusal.body.errors?.[0]?.pointer], [400, '/aggregation_type']);
  const unknown = { ...question, meter_id: 'meter_none' };
  assert.is((await ask('POST', '/meter-usage/query', unknown)).status, 404);
});

test('details of meters tell the greatest, the latest and the number of different values beside what is counted', async () => {
  const make = async (name: string, aggregation: object) =>
    (await tenant.ok('POST', '/meters', { name, event_name: 'detailed', aggregation })).id;
  const [sum, count, texts, product] = await Promise.all([
    make('Sum', { type: 'SUM', field: 'count' }),
    make('Count', { type: 'COUNT' }),
    make('Texts', { type: 'COUNT_UNIQUE', field: 'model' }),
    make('Product', { type: 'SUM', expression: 'count * 2' }),
  ]);
  const used = (hour: number, source: string | undefined, count: unknown, model: string) => ({
    ...{ event_name: 'detailed', external_customer_id: 'detailed', properties: { count, model } },
    ...(source === undefined ? {} : { source }),
    timestamp: `2026-01-02T${hour}:30:00Z`,
  });
  const after = await record([
    used(10, 'web', 3, 'a'),
    used(11, 'web', 0.5, 'b'),
    used(11, undefined, 3, 'b'),
    used(12, 'web', 'none', 'c'),
  ]);
  const details = async (meter_id: string, more: object = {}) => {
    const question = {
      ...{ external_customer_id: 'detailed', meter_ids: [meter_id] },
      ...{ start_time: '2026-01-01T00:00:00Z', end_time: '2026-02-01T00:00:00Z', ...more },
    };
    const { status, body } = await ask('POST', '/meter-usage/detailed-analytics', question, after);
    assert.is(status, 200, JSON.stringify(body));
    assert.match(body.position, /^[0-9]+$/);
    return body.items;
  };
  const figures = (
    total_usage: string,
    max_usage: string | null,
    latest_usage: string | null,
    count_unique_usage: number,
    event_count: number,
  ) => ({ total_usage, max_usage, latest_usage, count_unique_usage, event_count });
  assert.equal(await details(sum, { group_by: ['source', 'meter_id'], window_size: 'HOUR' }), [
    {
      ...{ meter_id: sum, source: '', ...figures('3', '3', '3', 1, 1) },
      points: [{ timestamp: '2026-01-02T11:00:00.000Z', ...figures('3', '3', '3', 1, 1) }],
    },
    {
      // That none is no number counts in no sum, and is a value of its own as a text.
      ...{ meter_id: sum, source: 'web', ...figures('3.5', '3', '0.5', 3, 2) },
      points: [
        { timestamp: '2026-01-02T10:00:00.000Z', ...figures('3', '3', '3', 1, 1) },
        { timestamp: '2026-01-02T11:00:00.000Z', ...figures('0.5', '0.5', '0.5', 1, 1) },
      ],
    },
  ]);
  assert.equal(await details(count), [{ meter_id: count, ...figures('4', null, null, 0, 4) }]);
  assert.equal(await details(texts), [{ meter_id: texts, ...figures('3', null, null, 3, 4) }]);
  assert.equal(await details(product), [{ meter_id: product, ...figures('13', '6', '6', 0, 3) }]);
  assert.equal(await details(sum, { sources: ['app'] }), []);
  assert.equal(
    await details(count, { property_filters: { model: ['b'] }, group_by: ['properties.model'] }),
    [{ meter_id: count, properties: { model: 'b' }, ...figures('2', null, null, 0, 2) }],
  );
});

test('a question with the children of a customer counts them as one with it', async () => {
  const parent = await tenant.ok('POST', '/customers', { external_id: 'family', name: 'Family' });
  const child = await tenant.ok('POST', '/customers', {
    ...{ external_id: 'family-child', name: 'Child', parent_customer_external_id: 'family' },
  });
  assert.is(child.parent_customer_id, parent.id);
  await tenant.ok('POST', '/customers', { external_id: 'family-friend', name: 'Friend' });
  const meter = async (aggregation: object) =>
    (await tenant.ok('POST', '/meters', { name: 'Family', event_name: 'family', aggregation })).id;
  const [sum, unique] = [
    await meter({ type: 'SUM', field: 'count' }),
    await meter({ type: 'COUNT_UNIQUE', field: 'model' }),
  ];
  const used = (external_customer_id: string, count: number, model: string, hour: number) => ({
    ...{ event_name: 'family', external_customer_id, properties: { count, model } },
    timestamp: `2026-01-02T${hour}:30:00Z`,
  });
  const after = await record([
    used('family', 1, 'a', 10),
    used('family-child', 0.2, 'a', 10),
    used('family-child', 7, 'b', 11),
    used('family-friend', 100, 'c', 11),
  ]);
  const span = { start_time: '2026-01-01T00:00:00Z', end_time: '2026-02-01T00:00:00Z' };
  const whose = { external_customer_id: 'family', ...span };
  const total = async (path: string, question: object) => {
    const { status, body } = await ask('POST', path, { ...whose, ...question }, after);
    assert.is(status, 200, JSON.stringify(body));
    return body;
  };
  const include_children = true;
  for (const [question, alone, together] of [
    [{ meter_id: sum }, '1', '8.2'],
    [{ meter_id: unique }, '1', '2'],
    // Such a filter is counted from events, and the others from whole hours.
    [{ meter_id: sum, filters: { model: ['a'] } }, '1', '1.2'],
  ] as const) {
    const path = '/events/usage/meter';
    assert.is((await total(path, question)).total_value, alone);
    assert.is((await total(path, { ...question, include_children })).total_value, together);
  }
  const counted = { event_name: 'family', aggregation_type: 'COUNT', include_children };
  assert.is((await total('/events/usage', counted)).total_value, '3');
  const { items } = await total('/events/analytics', {
    ...{ meter_ids: [sum], group_by: ['properties.model'], include_children },
  });
  assert.equal(
    items.map((item: { properties: unknown; total_usage: string }) => [
      item.properties,
      item.total_usage,
    ]),
    [
      [{ model: 'a' }, '1.2'],
      [{ model: 'b' }, '7'],
    ],
  );
  const details = { meter_ids: [sum], include_children };
  const { items: detailed } = await total('/meter-usage/detailed-analytics', details);
  assert.equal([detailed[0].total_usage, detailed[0].max_usage], ['8.2', '7']);
  // One that becomes a child later brings all that it has used.
  const moved = await tenant.call('PUT', '/customers?external_customer_id=family-friend', {
    parent_customer_id: parent.id,
  });
  assert.is(moved.status, 200, moved.text);
  await eventually(
    async () =>
      (await total('/events/usage/meter', { meter_id: sum, include_children })).total_value ===
      '108.2',
    () => 'the new child was never counted',
  );
  await tenant.ok('DELETE', `/customers/${child.id}`);
  const ofAll = { meter_id: sum, include_children };
  assert.is((await total('/events/usage/meter', ofAll)).total_value, '108.2');
});

test('an answer with too many groups is refused, and names the way out', async () => {
  const feature = await featureOf('many', { type: 'COUNT' });
  const events = Array.from({ length: 1_000 }, (_, index) => ({
    ...{ event_name: 'many', external_customer_id: 'many', properties: { id: index } },
  }));
  await record(events);
  const after = await record([{ ...events[0], properties: { id: 'one more' } }]);
  const question = { feature_ids: [feature.id], group_by: ['properties.id'] };
  const { status, body } = await ask('POST', '/events/analytics', question, after);
  assert.equal([status, body.errors?.[0]?.pointer], [400, '/group_by']);
  const few = { ...question, property_filters: { id: ['1', '2'] } };
  assert.is((await ask('POST', '/events/analytics', few, after)).body.items.length, 2);
});

test.run();
