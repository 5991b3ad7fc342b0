import { verify } from '@counterfoil/cli/verify';
import { connect } from '@counterfoil/engine';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { eventually } from '../eventually.ts';
import { type SharedStack, sharedStack, type TestTenant } from '../stack.ts';
import { untilUsageIsShown } from './usage-shown.ts';

const test = suite('sums that are kept for questions');

let stack: SharedStack;
let tenant: TestTenant;

test.before(async () => {
  stack = await sharedStack();
  tenant = await stack.tenant('groupings');
  await untilUsageIsShown(tenant);
});

const bulk = 1_000;
/** As many as make a question worth it that counts nearly all of them. */
const bulks = 22;
/** More values than sums are kept by. */
const users = 600;
const minuteMilliseconds = 60_000;
const start = Date.parse('2026-05-01T00:00:00Z');

const eventOf = (number: number) => ({
  event_name: 'tokens',
  external_customer_id: 'large',
  event_id: `large-${number}`,
  timestamp: new Date(start + number * minuteMilliseconds).toISOString(),
  properties: {
    ...{ count: '0.5', model: number % bulk === 0 ? 'rare' : 'usual' },
    user: `user-${number % users}`,
  },
});

/** Records events, and gives the header by which a read waits until they are counted. */
async function record(events: readonly object[]): Promise<{ 'counterfoil-min-position': string }> {
  const sent = await tenant.call('POST', '/events/bulk', { events });
  assert.is(sent.status, 202, sent.text);
  return { 'counterfoil-min-position': sent.headers.get('counterfoil-position') ?? '0' };
}

type Header = Readonly<Record<string, string>>;

const ask = (path: string, body: object, after: Header) =>
  eventually(async () => {
    const answer = await tenant.call('POST', path, body, after);
    if (answer.status === 503) return false;
    assert.is(answer.status, 200, answer.text);
    return answer;
  });

const span = { start_time: '2026-05-01T00:00:30Z', end_time: '2026-06-01T00:00:00Z' };

/** The sum of some models, and that of all by model. */
async function answers(after: Header) {
  const about = { external_customer_id: 'large', ...span };
  const question = {
    ...{ ...about, event_name: 'tokens', aggregation_type: 'SUM', property_name: 'count' },
    filters: { model: ['usual'] },
  };
  const { body: usage } = await ask('/events/usage', question, after);
  const grouped = { ...about, group_by: ['properties.model'] };
  const { body: analytics } = await ask('/events/analytics', grouped, after);
  const items: { properties: object; total_usage: string; event_count: number }[] = analytics.items;
  return {
    usual: usage.total_value,
    groups: items.map(({ properties, total_usage, event_count }) => ({
      ...{ properties, total_usage, event_count },
    })),
  };
}

/** The sums by a property that are kept, and of those the ones that are complete. */
async function groupings(): Promise<{ readonly kept: number; readonly complete: number }> {
  const connection = await connect(stack.databaseUrl, { application: 'test' });
  try {
    const { rows: fillings } = await connection.query<{ version: number; generation: number }>(
      `select version, generation from counterfoil.filling where serving and name = 'usage'`,
    );
    const { version, generation } = fillings[0] ?? { version: 0, generation: 0 };
    const schema = `counterfoil_usage_v${version}${generation === 0 ? '' : `_g${generation}`}`;
    const { rows } = await connection.query<{ kept: number; complete: number }>(
      `select count(*)::int as kept, count(*) filter (where is_complete)::int as complete
         from ${schema}.measure join ${schema}.environment on environment.number = measure.environment
        where environment_id = $1 and is_grouping and not is_retired`,
      [tenant.environmentId],
    );
    return rows[0] ?? { kept: 0, complete: 0 };
  } finally {
    await connection.close();
  }
}

test('a question about many events has sums kept for the next, which has the same answer', async () => {
  const meter = {
    name: 'Tokens',
    event_name: 'tokens',
    aggregation: { type: 'SUM', field: 'count' },
  };
  await tenant.ok('POST', '/features', { name: 'Tokens', type: 'metered', lookup_key: 't', meter });
  await tenant.ok('POST', '/customers', { external_id: 'large', name: 'Large' });
  let after: Header = {};
  for (let first = 0; first < bulks * bulk; first += bulk) {
    after = await record(Array.from({ length: bulk }, (_, number) => eventOf(first + number)));
  }
  const usual = bulks * (bulk - 1);
  const groupsOf = (events: number, sum: string, rare: number) => [
    { properties: { model: 'rare' }, total_usage: String(rare * 0.5), event_count: rare },
    { properties: { model: 'usual' }, total_usage: sum, event_count: events },
  ];
  // The first event lies before the span.
  const first = {
    usual: String(usual * 0.5),
    groups: groupsOf(usual, String(usual * 0.5), bulks - 1),
  };
  assert.equal(await answers(after), first);
  await eventually(async () => (await groupings()).complete === 1);
  assert.equal(await answers(after), first);

  const byUser = { external_customer_id: 'large', ...span, group_by: ['properties.user'] };
  const { body: ofUsers } = await ask('/events/analytics', byUser, after);
  assert.is(ofUsers.items.length, users);

  const late = { ...eventOf(1), event_id: 'late', timestamp: '2026-05-02T10:30:00Z' };
  after = await record([{ ...late, properties: { count: 1000, model: 'usual' } }, eventOf(5)]);
  const more = String(usual * 0.5 + 1000);
  assert.equal(await answers(after), { usual: more, groups: groupsOf(usual + 1, more, bulks - 1) });

  assert.equal(
    await groupings(),
    { kept: 1, complete: 1 },
    'one for both, and none of many values',
  );

  const voided = await tenant.call('POST', '/events/large-1001/void', {});
  after = { 'counterfoil-min-position': voided.headers.get('counterfoil-position') ?? '0' };
  const less = String(usual * 0.5 + 999.5);
  assert.equal(await answers(after), { usual: less, groups: groupsOf(usual, less, bulks - 1) });

  const lines: string[] = [];
  assert.ok(await verify(stack, (line) => lines.push(line)), lines.join('\n'));
});

test.run();
