import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { eventually } from '../eventually.ts';
import { type SharedStack, sharedStack, type TestTenant } from '../stack.ts';
import { untilUsageIsShown } from './usage-shown.ts';

const test = suite('what became of usage');

let stack: SharedStack;
let tenant: TestTenant;

test.before(async () => {
  stack = await sharedStack();
  tenant = await stack.tenant('usage-answers');
  await untilUsageIsShown(tenant);
});

test('one event tells which meters take what of it, and why others take nothing', async () => {
  const event_id = 'traced / 1';
  const traced = { event_name: 'traced', external_customer_id: 'traced' };
  await tenant.ok('POST', '/events', {
    ...traced,
    event_id,
    properties: { model: 'large', count: '1.50' },
  });
  const look = () => tenant.ok('GET', `/events/lookup?id=${encodeURIComponent(event_id)}`);
  const unknown = await look();
  assert.equal([unknown.status, unknown.meters, unknown.event.id], ['processing', [], event_id]);
  assert.equal(unknown.reasons, [
    'No customer has the external id traced.',
    'No meter counts events of the name traced.',
  ]);
  const aggregation = { type: 'SUM', field: 'count' };
  const filters = [{ key: 'model', values: ['small'] }];
  const meter = { event_name: 'traced', aggregation };
  const { id: sum } = await tenant.ok('POST', '/meters', { ...meter, name: 'Sum' });
  const { id: small } = await tenant.ok('POST', '/meters', { ...meter, name: 'Small', filters });
  const feature = { name: 'Traced', type: 'metered', meter_id: sum, lookup_key: 'traced' };
  const { id: featureId } = await tenant.ok('POST', '/features', feature);
  await tenant.ok('POST', '/customers', { external_id: 'traced', name: 'Traced' });
  let known = unknown;
  await eventually(
    async () => {
      known = await look();
      return known.event.customer_id !== null && known.meters[0]?.feature_ids !== undefined;
    },
    () => JSON.stringify(known),
  );
  const byId = new Map(known.meters.map((each: { meter_id: string }) => [each.meter_id, each]));
  assert.equal([known.status, known.reasons], ['processed', []]);
  assert.equal(known.processed_events, [
    {
      customer_id: known.event.customer_id,
      meter_id: sum,
      feature_id: featureId,
      qty_total: '1.5',
    },
  ]);
  const of = (externalId: string) =>
    tenant.call(
      'GET',
      `/events/lookup?id=${encodeURIComponent(event_id)}&external_customer_id=${externalId}`,
    );
  assert.is((await of('traced')).status, 200);
  assert.is((await of('another')).status, 404);
  assert.equal(byId.get(sum), {
    meter_id: sum,
    meter_name: 'Sum',
    counted: true,
    value: '1.5',
    feature_ids: [featureId],
  });
  assert.equal(byId.get(small), {
    meter_id: small,
    meter_name: 'Small',
    counted: false,
    value: null,
    reason: 'model is none that the meter counts',
    feature_ids: [],
  });
  assert.is((await tenant.call('GET', '/events/lookup?id=nobody')).status, 404);
});

test('monitoring counts what came, and says when all of it can be read', async () => {
  const at = (day: number) => `2021-03-0${day}T12:00:00.000Z`;
  const events = [1, 1, 3].map((day, index) => ({
    event_name: 'monitored',
    external_customer_id: 'monitored',
    event_id: `monitored-${index}`,
    timestamp: at(day),
  }));
  const sent = await tenant.call('POST', '/events/bulk', { events });
  const sentAt = BigInt(sent.headers.get('Counterfoil-Position') ?? '');
  const span = `start_time=${at(1)}&end_time=2021-03-04T00:00:00Z`;
  let shown = await tenant.ok('GET', `/events/monitoring?${span}&window_size=DAY`);
  await eventually(
    async () => {
      shown = await tenant.ok('GET', `/events/monitoring?${span}&window_size=DAY`);
      return shown.consumption_lag === 0 && BigInt(shown.position) >= sentAt;
    },
    () => JSON.stringify(shown),
  );
  const { position, log_position, ...counts } = shown;
  assert.is(position, log_position);
  assert.equal(counts, {
    total_count: 3,
    points: [
      { timestamp: '2021-03-01T00:00:00.000Z', event_count: 2 },
      { timestamp: '2021-03-03T00:00:00.000Z', event_count: 1 },
    ],
    consumption_lag: 0,
    post_processing_lag: 0,
  });
  const later = `start_time=2021-03-01T12:00:00.001Z&end_time=2021-03-04T00:00:00Z`;
  const { total_count, points } = await tenant.ok('GET', `/events/monitoring?${later}`);
  assert.equal([total_count, points], [1, undefined]);
  const none = await tenant.call('GET', `/events/monitoring?start_time=${at(3)}&end_time=${at(3)}`);
  assert.is(none.status, 400);
});

test('usage so far is that of the running period, for one and for many, with the position it stands on', async () => {
  const { id: customer_id } = await tenant.ok('POST', '/customers', {
    external_id: 'so-far',
    name: 'So far',
    timezone: 'Asia/Kolkata',
  });
  const feature = await tenant.ok('POST', '/features', {
    name: 'Calls so far',
    type: 'metered',
    meter: { name: 'Calls', event_name: 'so-far', aggregation: { type: 'SUM', field: 'count' } },
  });
  const { meter_id } = await eventually(async () => {
    const found = await tenant.ok('GET', `/features/${feature.id}`);
    return found.meter_id ? found : false;
  });
  const events = [undefined, '2020-02-29T12:00:00Z'].map((timestamp, index) => ({
    event_name: 'so-far',
    external_customer_id: 'so-far',
    event_id: `so-far-${index}`,
    ...(timestamp ? { timestamp } : {}),
    properties: { count: index + 0.5 },
  }));
  const sent = await tenant.call('POST', '/events/bulk', { events });
  assert.is(sent.status, 202);
  const question = { external_customer_id: 'so-far', feature_id: feature.id };
  const current = await tenant.ok('POST', '/usage/current', question);
  assert.equal(
    [current.customer_id, current.feature_id, current.meter_id, current.type, current.event_name],
    [customer_id, feature.id, meter_id, 'SUM', 'so-far'],
  );
  assert.equal([current.total_value, current.value, current.reset_period], ['0.5', 0.5, 'MONTHLY']);
  assert.match(current.period_start, /T18:30:00\.000Z$/);
  assert.match(current.period_end, /T18:30:00\.000Z$/);
  assert.ok(BigInt(current.position) >= BigInt(sent.headers.get('Counterfoil-Position') ?? ''));
  const { items } = await tenant.ok('POST', '/usage/current/bulk', {
    items: [{ customer_id, meter_id, reset_period: 'NEVER' }, question],
  });
  assert.equal(
    items.map((one: typeof current) => [one.total_value, one.feature_id, one.period_end]),
    [
      ['2', null, null],
      ['0.5', feature.id, current.period_end],
    ],
  );
  for (const [body, status] of [
    [{ customer_id }, 400],
    [{ meter_id }, 400],
    [{ customer_id, meter_id, feature_id: feature.id }, 400],
    [{ external_customer_id: 'nobody at all', meter_id }, 404],
    [{ customer_id, meter_id: 'meter_none' }, 404],
  ] as const) {
    assert.is((await tenant.call('POST', '/usage/current', body)).status, status);
  }
});

test('what is voided counts no more, and its id stays taken', async () => {
  const meter = { event_name: 'voids', aggregation: { type: 'MAX', field: 'count' } };
  const { id: meter_id } = await tenant.ok('POST', '/meters', { ...meter, name: 'Voids' });
  const timestamp = new Date(Date.now() - 3_600_000).toISOString();
  const event = { event_name: 'voids', external_customer_id: 'voids', timestamp };
  const big = { ...event, event_id: 'void-big', properties: { count: 100 } };
  const small = { ...event, event_id: 'void-small', properties: { count: 7 } };
  await tenant.ok('POST', '/events/bulk', { events: [big, small] });
  const voiding = await tenant.call('POST', '/events/void-big/void', { reason: 'a test' });
  assert.equal([voiding.status, voiding.body.event_id], [200, 'void-big'], voiding.text);
  const again = await tenant.ok('POST', '/events/void-big/void', { reason: 'again' });
  assert.equal(again, voiding.body);
  const shown = { 'counterfoil-min-position': voiding.headers.get('counterfoil-position') ?? '' };
  const ask = (method: string, path: string, body?: unknown) =>
    tenant.call(method, path, body, shown);
  const used = await ask('POST', '/events/usage/meter', { meter_id });
  assert.is(used.body.total_value, '7', used.text);
  const traced = await ask('GET', '/events/void-big');
  assert.equal(
    [traced.body.status, traced.body.event.properties, traced.body.reasons],
    ['voided', { count: 100 }, [`It was voided at ${voiding.body.voided_at}: a test`]],
  );
  const { events } = (await ask('GET', '/events?external_customer_id=voids')).body;
  assert.equal(
    events.map(({ id }: { id: string }) => id),
    ['void-small'],
  );
  const repeated = await tenant.ok('POST', '/events/bulk', { events: [big] });
  assert.equal([repeated.accepted, repeated.repeated], [0, 1]);
  const missing = await tenant.call('POST', '/events/void-none/void', {});
  assert.equal([missing.status, missing.body.code], [404, 'not_found']);
});

test('usage that is not counted is listed with its reasons, until a meter or a customer makes it good', async () => {
  const event = { event_name: 'lost', external_customer_id: 'lost' };
  const properties = [{ count: 1 }, { count: 'many' }, { count: 2 }];
  await tenant.ok('POST', '/events/bulk', {
    events: properties.map((each, index) => ({
      ...event,
      event_id: `lost-${index}`,
      properties: each,
    })),
  });
  const page = '/events/rejected?event_name=lost';
  const reasonsIn = async (query = '') => {
    const { events } = await tenant.ok('GET', `${page}${query}`);
    return events.map((each: Rejected) => each.rejections.map(({ reason }) => reason).join());
  };
  assert.equal(await reasonsIn(), Array(3).fill('unknown_customer,unknown_name'));
  const counts = async () =>
    (await tenant.ok('GET', '/events/rejected/counts?event_name=lost')).items;
  const lost = { event_name: 'lost', event_count: 3 };
  assert.equal(await counts(), [
    { ...lost, reason: 'unknown_customer' },
    { ...lost, reason: 'unknown_name' },
  ]);
  const first = await tenant.ok('GET', `${page}&page_size=2`);
  assert.equal([first.has_more, first.looked_at], [true, 2]);
  const next = await tenant.ok('GET', `${page}&page_size=2&iter_last_key=${first.iter_last_key}`);
  assert.equal([next.events.length, next.has_more], [1, false]);
  const { id: meter_id } = await tenant.ok('POST', '/meters', {
    ...{ name: 'Lost', event_name: 'lost' },
    aggregation: { type: 'SUM', field: 'count' },
  });
  await tenant.ok('POST', '/customers', { external_id: 'lost', name: 'Lost' });
  const left = await eventually(async () => {
    const { events } = await tenant.ok('GET', page);
    return events.length === 1 ? events : false;
  });
  assert.equal(left[0].event.id, 'lost-1');
  assert.equal(left[0].rejections, [
    {
      reason: 'bad_value',
      message: 'The meter Lost cannot count it: count is no number.',
      meter_id,
    },
  ]);
  assert.equal(await reasonsIn('&reason=unknown_name'), []);
  assert.equal(await counts(), [
    { event_name: 'lost', reason: 'bad_value', meter_id, event_count: 1 },
  ]);
});

interface Rejected {
  readonly rejections: readonly { readonly reason: string }[];
}

test.run();
