import { rebuild, verify } from '@counterfoil/cli/verify';
import { askParts, createLog, type PartWish, shownParts, startFillings } from '@counterfoil/engine';
import type { Instant } from '@counterfoil/kernel';
import { modules } from '@counterfoil/modules';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import type { Answer } from '../caller.ts';
import { eventually } from '../eventually.ts';
import { type Stack, startStack, type TestTenant } from '../stack.ts';
import { untilUsageIsShown } from './usage-shown.ts';

const test = suite('months of usage that are dropped and filled again');

let stack: Stack;
let tenant: TestTenant;
let other: TestTenant;
let meterId: string;

test.before(async () => {
  stack = await startStack();
  [tenant, other] = [await stack.tenant('months'), await stack.tenant('others')];
  for (const each of [tenant, other]) {
    await untilUsageIsShown(each);
    await each.ok('POST', '/customers', { external_id: 'acme', name: 'Acme' });
  }
  meterId = (await tenant.ok('POST', '/meters', sumOf('Tokens'))).id;
});
test.after(() => stack.stop());

const sumOf = (name: string) => ({
  ...{ name, event_name: 'tokens' },
  aggregation: { type: 'SUM', field: 'count' },
});

type Header = Readonly<Record<string, string>>;

const usage = (event_id: string, timestamp: string, count: number) => ({
  ...{ event_id, timestamp, event_name: 'tokens', external_customer_id: 'acme' },
  properties: { count },
});

/** Records events of a tenant, and gives the header by which a read waits until they are counted. */
async function record(to: TestTenant, events: readonly object[]): Promise<Header> {
  const sent = await to.call('POST', '/events/bulk', { events });
  assert.is(sent.status, 202, sent.text);
  return { 'counterfoil-min-position': sent.headers.get('counterfoil-position') ?? '0' };
}

/** The answer once the tables show what it insists on. */
const ask = (
  from: TestTenant,
  method: 'GET' | 'POST',
  path: string,
  body?: object,
  after?: Header,
) =>
  eventually(async () => {
    const answer = await from.call(method, path, body, after);
    return answer.status !== 503 && answer;
  });

/** March of 2026, or a part of it, by a meter. */
const march = (meter_id = meterId, start_time = '2026-03-01T00:00:00Z') => ({
  ...{ meter_id, external_customer_id: 'acme' },
  ...{ start_time, end_time: '2026-04-01T00:00:00Z' },
});

const sumOfMarch = async (meter?: string, after?: Header): Promise<Answer> =>
  ask(tenant, 'POST', '/events/usage/meter', march(meter), after);

const log = createLog({ level: 'silent', name: 'test' });

function tablesOfUsage() {
  const [tables] = modules({ secrets: null }).flatMap(({ facts }) => facts ?? []);
  assert.ok(tables);
  return tables;
}

const change = (names: readonly string[], wish: PartWish): Promise<void> => {
  const place = { store: stack.store, database: stack.databaseUrl, tables: tablesOfUsage(), log };
  return askParts({ ...place, names, wish, onProblem: () => undefined });
};

async function droppedMonths(): Promise<readonly string[]> {
  const parts = (await shownParts(stack.databaseUrl, tablesOfUsage())) ?? [];
  return parts.flatMap(({ name, isDropped }) => (isDropped ? name : []));
}

async function assertVerified(): Promise<readonly string[]> {
  const lines: string[] = [];
  assert.ok(await verify(stack, (line) => lines.push(line)), lines.join('\n'));
  return lines;
}

const assertDropped = ({ status, body, text }: Answer): void => {
  assert.is(status, 400, text);
  assert.is(body.details?.reason, 'no_longer_kept', text);
  assert.equal(body.details.months, ['2026-03'], text);
};

test('a dropped month goes on being told by whole hours, and whatever needs its events says so', async () => {
  const events = [
    usage('m-1', '2026-03-10T10:15:00Z', 5),
    usage('m-2', '2026-03-10T10:45:00Z', 7),
    usage('m-3', '2026-03-31T23:59:59.999Z', 11),
    usage('a-1', '2026-04-01T00:00:00Z', 100),
  ];
  const after = await record(tenant, events);
  await record(other, [usage('o-1', '2026-04-05T00:00:00Z', 1)]);
  assert.is((await sumOfMarch(meterId, after)).body.total_value, '23');

  await change(['2026-03'], 'dropped');
  assert.equal(await droppedMonths(), ['2026-03']);

  assert.is((await sumOfMarch()).body.total_value, '23');
  const part = march(meterId, '2026-03-10T10:30:00Z');
  assertDropped(await ask(tenant, 'POST', '/events/usage/meter', part));
  const { meter_id: _, ...span } = march();
  const bySource = { ...span, meter_ids: [meterId], group_by: ['source'] };
  assertDropped(await ask(tenant, 'POST', '/events/analytics', bySource));
  const { external_customer_id: __, ...ofAll } = span;
  const lag = `/events/monitoring?${new URLSearchParams(ofAll as Record<string, string>)}`;
  assertDropped(await ask(tenant, 'GET', lag));
  assertDropped(await ask(tenant, 'GET', '/events/m-1'));
  assertDropped(await ask(tenant, 'POST', '/events/m-1/void', {}));
  const { body: list } = await ask(tenant, 'GET', '/events');
  assert.equal(
    list.events.map((event: { id: string }) => event.id),
    ['a-1'],
  );
  assert.equal(list.dropped_months, ['2026-03']);

  // Another tenant had nothing in that month, so nothing of it is lacking.
  const { status, body } = await ask(other, 'POST', '/events/usage', {
    ...{ event_name: 'tokens', external_customer_id: 'acme' },
    ...{ aggregation_type: 'SUM', property_name: 'count' },
    ...{ start_time: '2026-03-10T10:30:00Z', end_time: '2026-05-01T00:00:00Z' },
  });
  assert.is(status, 200, JSON.stringify(body));
  assert.is(body.total_value, '1');
  assert.is((await ask(other, 'GET', '/events')).body.dropped_months, undefined);
});

test('late usage of a dropped month counts, once, and a meter that comes later says what it lacks', async () => {
  const late = [usage('m-4', '2026-03-10T10:59:00Z', 2), usage('m-1', '2026-03-10T10:15:00Z', 5)];
  const after = await record(tenant, late);
  assert.is((await sumOfMarch(meterId, after)).body.total_value, '25');
  const twice = await tenant.call('POST', '/events', usage('m-2', '2026-03-10T10:45:00Z', 8));
  assert.is(twice.status, 409, twice.text);
  const meter = { ...sumOf('Later'), filters: [{ key: 'model', values: ['large'] }] };
  const { id } = await tenant.ok('POST', '/meters', meter);
  await eventually(async () => {
    const answer = await sumOfMarch(id);
    return answer.status === 400 && answer;
  });
  assertDropped(await sumOfMarch(id));
  const lines = await assertVerified();
  assert.ok(
    lines.includes('usage event_2026_03: not compared, its facts are dropped'),
    lines.join('\n'),
  );

  await rebuild(stack, ['usage']);
  await eventually(async () => (await droppedMonths()).length === 1);
  // The rebuild had the events, so the later meter has its figures.
  assert.is((await sumOfMarch(id)).body.total_value, '0');
  assert.is((await sumOfMarch()).body.total_value, '25');
});

test('a month that is filled again is as it was, whoever fills it, with all that came meanwhile', async () => {
  const filled = change(['2026-03'], 'kept');
  // The command goes on without a projector, and begins anew what that had begun.
  await stack.parts.projector.stop();
  await filled;
  await stack.parts.projector.start();
  assert.equal(await droppedMonths(), []);
  await assertVerified();
  // For a while readers who have read before are told that it was not there.
  const { body } = await ask(tenant, 'GET', '/events');
  assert.equal(
    body.events.map((event: { id: string }) => event.id),
    ['a-1', 'm-3', 'm-4', 'm-2', 'm-1'],
  );
  assert.is((await sumOfMarch()).body.total_value, '25');
});

test('months are dropped by their age, but for those that were brought back', async () => {
  await record(tenant, [usage('f-1', '2026-02-10T10:00:00Z', 1)]);
  await stack.parts.projector.stop();
  const retention = { months: 1, now: () => '2026-05-15T12:00:00.000Z' as Instant };
  const tables = [tablesOfUsage()];
  const place = { store: stack.store, database: stack.databaseUrl, tables, log };
  const fillings = startFillings({ ...place, retention });
  try {
    await eventually(async () => (await droppedMonths()).join() === '2026-02');
  } finally {
    await fillings.stop();
    await stack.parts.projector.start();
  }
});

test.run();
