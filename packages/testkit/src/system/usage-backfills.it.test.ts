import { verify } from '@counterfoil/cli/verify';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { eventually } from '../eventually.ts';
import { type SharedStack, sharedStack, type TestTenant } from '../stack.ts';
import { untilUsageIsShown } from './usage-shown.ts';

const test = suite('backfills');

let stack: SharedStack;
let tenant: TestTenant;

test.before(async () => {
  stack = await sharedStack();
  tenant = await stack.tenant('backfills');
  await untilUsageIsShown(tenant);
});

const span = { start_time: '2026-03-01T00:00:00.000Z', end_time: '2026-04-01T00:00:00.000Z' };

const open = (source: string) =>
  tenant.ok('POST', '/events/backfills', { source, description: `What ${source} lost`, ...span });

interface Given {
  readonly event_name: string;
  readonly event_id: string;
  readonly customer?: string;
  readonly day?: number;
  readonly count: number | string;
  readonly source?: string;
}

const eventOf = ({ event_name, event_id, customer = 'none', day = 1, count, source }: Given) => ({
  event_name,
  event_id,
  external_customer_id: customer,
  timestamp: `2026-03-${String(day).padStart(2, '0')}T10:30:00.000Z`,
  properties: { count },
  ...(source ? { source } : {}),
});

const fill = (id: string, given: readonly Given[]) =>
  tenant.call('POST', `/events/backfills/${id}/events`, { events: given.map(eventOf) });

/** Reads at a position, however slow the machine is. */
async function from(position: string | null, method: string, path: string, body?: unknown) {
  const headers = { 'counterfoil-min-position': position ?? '0' };
  return await eventually(
    async () => {
      const answer = await tenant.call(method, path, body, headers);
      return answer.status === 503 ? false : answer.body;
    },
    () => `${method} ${path} never came to ${position}`,
  );
}

const usageAt = async (position: string | null, event_name: string) => {
  const question = { event_name, aggregation_type: 'SUM', property_name: 'count', ...span };
  return (await from(position, 'POST', '/events/usage', question)).total_value;
};

const end = async (id: string, act: 'close' | 'revert') => {
  const ended = await tenant.call('POST', `/events/backfills/${id}/${act}`);
  assert.is(ended.status, 200, ended.text);
  return ended.headers.get('counterfoil-position');
};

test('a backfill counts nowhere while it is open, and at once when it is closed: what its preview has said', async () => {
  const event_name = 'lost';
  const meters: string[] = [];
  for (const aggregation of [
    { type: 'COUNT' },
    { type: 'SUM', field: 'count' },
    { type: 'AVG', field: 'count' },
    { type: 'MAX', field: 'count' },
    { type: 'MAX', field: 'count', bucket_size: 'DAY' },
    { type: 'LATEST', field: 'count' },
    { type: 'COUNT_UNIQUE', field: 'count' },
    { type: 'WEIGHTED_SUM', field: 'count' },
  ]) {
    const meter = { name: JSON.stringify(aggregation), event_name, aggregation };
    meters.push((await tenant.ok('POST', '/meters', meter)).id);
  }
  const { id: customer_id } = await tenant.ok('POST', '/customers', {
    external_id: 'loser',
    name: 'Loser',
    timezone: 'Europe/Berlin',
  });
  const own = { event_name, customer: 'loser' };
  const live: Given[] = [
    { ...own, event_id: 'live-1', day: 5, count: 10 },
    { ...own, event_id: 'live-2', day: 20, count: 7 },
    { ...own, event_id: 'twin', day: 6, count: 3, source: 'lossy' },
    { ...own, event_id: 'other', day: 6, count: 4, source: 'lossy' },
  ];
  await tenant.ok('POST', '/events/bulk', { events: live.map(eventOf) });
  const { id } = await open('lossy');
  // From its end to its begin, some of it twice.
  const last = await fill(id, [
    { ...own, event_id: 'b-3', day: 30, count: 0.5 },
    { ...own, event_id: 'b-2', day: 20, count: 7 },
    { event_name, event_id: 'b-4', customer: 'nobody', count: 2 },
  ]);
  assert.equal([last.status, last.body.accepted], [202, 3]);
  const second = await fill(id, [
    { ...own, event_id: 'b-1', day: 5, count: '40' },
    { ...own, event_id: 'twin', day: 6, count: 3, source: 'lossy' },
    { ...own, event_id: 'other', day: 6, count: 5 },
    { ...own, event_id: 'b-3', day: 30, count: 0.5 },
    { ...own, event_id: 'bad', day: 7, count: 'many' },
  ]);
  const first = await tenant.call('POST', '/events', {
    ...eventOf({ event_name, event_id: 'beside', customer: 'loser', day: 8, count: 1 }),
  });
  const position = first.headers.get('counterfoil-position');
  assert.is(await usageAt(position, event_name), '25');
  assert.is((await from(position, 'GET', `/events?event_name=${event_name}`)).events.length, 5);
  assert.is((await tenant.call('GET', '/events/b-1')).status, 404);
  const opened = await from(position, 'GET', `/events/backfills/${id}`);
  assert.equal(
    [opened.backfill_status, opened.source, opened.waiting, opened.counted, opened.refused],
    ['open', 'lossy', 7, null, 0],
  );
  const waiting = await from(position, 'GET', `/events/backfills/${id}/events?page_size=5`);
  assert.equal([waiting.events.length, waiting.has_more], [5, true]);
  const rest = await tenant.ok(
    'GET',
    `/events/backfills/${id}/events?iter_last_key=${waiting.iter_last_key}`,
  );
  assert.equal(
    [...waiting.events, ...rest.events].map((event: { event_id: string }) => event.event_id),
    ['b-3', 'b-2', 'b-4', 'b-1', 'twin', 'other', 'bad'],
  );

  const preview = await from(position, 'GET', `/events/backfills/${id}/preview`);
  assert.equal(
    [preview.counted, preview.repeated, preview.conflicts, preview.pagination.total],
    [5, 1, 1, 2],
  );
  const [ofLoser, ofNobody] = preview.items;
  assert.equal(
    [ofLoser.external_customer_id, ofLoser.customer_id, ofLoser.events],
    ['loser', customer_id, 4],
  );
  assert.equal(
    [ofNobody.external_customer_id, ofNobody.customer_id, ofNobody.events],
    ['nobody', null, 1],
  );
  const figures = async (at: string | null) => {
    const values = [];
    for (const meter_id of meters) {
      const question = { meter_id, customer_id, ...span };
      values.push((await from(at, 'POST', '/events/usage/meter', question)).total_value);
    }
    return values;
  };
  const told = (member: 'before' | 'after') =>
    meters.map(
      (id) => ofLoser.figures.find((one: { meter_id: string }) => one.meter_id === id)[member],
    );
  assert.equal(told('before'), await figures(position));
  const closing = await end(id, 'close');
  assert.equal(told('after'), await figures(closing));
  assert.is(await usageAt(closing, event_name), '74.5');
  const closed = await from(closing, 'GET', `/events/backfills/${id}`);
  // What was sent twice is told at once where it is shown by then.
  const repeated = closed.repeated + second.body.repeated;
  assert.equal(
    [closed.backfill_status, closed.waiting, closed.counted, repeated, closed.refused],
    ['closed', 0, 5, 2, 1],
  );
  const refused = await tenant.ok('GET', `/events/backfills/${id}/events?state=refused`);
  assert.equal(
    refused.events.map((event: { event_id: string; reason: string }) => [
      event.event_id,
      event.reason,
    ]),
    [['other', 'conflict']],
  );
  const traced = await tenant.ok('GET', '/events/b-1');
  assert.equal([traced.event.source, traced.position], ['lossy', closing]);

  // An id is taken from now on, and the end is the end.
  const again = await tenant.call('POST', '/events', {
    ...eventOf({ ...own, event_id: 'b-1', day: 5, count: 41 }),
  });
  assert.is(again.status, 409);
  assert.is((await fill(id, [{ ...own, event_id: 'late', count: 1 }])).status, 400);
  assert.is((await tenant.call('POST', `/events/backfills/${id}/revert`)).status, 400);
  assert.is((await tenant.call('POST', `/events/backfills/${id}/close`)).status, 200);
  const voided = await tenant.call('POST', '/events/b-1/void');
  assert.is(await usageAt(voided.headers.get('counterfoil-position'), event_name), '34.5');
});

test('a reverted backfill leaves nothing, and its ids are free', async () => {
  const event_name = 'wrong';
  const { id } = await open('wrong');
  await fill(id, [{ event_name, event_id: 'w-1', count: 1000 }]);
  const reverted = await end(id, 'revert');
  assert.is(await usageAt(reverted, event_name), '0');
  const shown = await from(reverted, 'GET', `/events/backfills/${id}`);
  assert.equal([shown.backfill_status, shown.waiting, shown.counted], ['reverted', 0, 0]);
  assert.is((await tenant.call('POST', `/events/backfills/${id}/close`)).status, 400);
  const { id: corrected } = await open('wrong');
  await fill(corrected, [{ event_name, event_id: 'w-1', count: 10 }]);
  assert.is(await usageAt(await end(corrected, 'close'), event_name), '10');
});

test('what a live event says while a backfill is open counts, and not again when it is closed', async () => {
  const event_name = 'both';
  const { id } = await open('both');
  await fill(id, [
    { event_name, event_id: 'both-1', count: 1 },
    { event_name, event_id: 'both-2', count: 2 },
  ]);
  const same = { event_name, event_id: 'both-1', count: 1, source: 'both' };
  const sent = await tenant.call('POST', '/events', eventOf(same));
  assert.is(sent.status, 202);
  assert.is(await usageAt(sent.headers.get('counterfoil-position'), event_name), '1');
  const closing = await end(id, 'close');
  assert.is(await usageAt(closing, event_name), '3');
  const { counted, repeated } = await from(closing, 'GET', `/events/backfills/${id}`);
  assert.equal([counted, repeated], [1, 1]);
});

test('events of another source or time are refused, and so is a backfill of no time', async () => {
  const { id } = await open('strict');
  const event = eventOf({ event_name: 'strict', event_id: 's-1', count: 1 });
  for (const [wrong, pointer] of [
    [{ source: 'other' }, '/events/0/source'],
    [{ timestamp: span.end_time }, '/events/0/timestamp'],
    [{ timestamp: '2026-02-28T23:59:59.999Z' }, '/events/0/timestamp'],
    [{ timestamp: undefined }, '/events/0/timestamp'],
  ] as const) {
    const path = `/events/backfills/${id}/events`;
    const { status, body } = await tenant.call('POST', path, { events: [{ ...event, ...wrong }] });
    assert.equal([status, body.errors[0].pointer], [400, pointer]);
  }
  const empty = { source: 'strict', start_time: span.start_time, end_time: span.start_time };
  assert.is((await tenant.call('POST', '/events/backfills', empty)).status, 400);
  assert.is((await tenant.call('GET', '/events/backfills/backfill_none')).status, 404);
  assert.is((await fill('backfill_none', [])).status, 400);
});

test('backfills are listed, newest first, and so many may be open', async () => {
  const other = await stack.tenant('many-backfills');
  const opened: string[] = [];
  let position: string | null = null;
  const openOne = async () => {
    const answer = await other.call(
      'POST',
      '/events/backfills',
      { source: 'many', ...span },
      { 'counterfoil-min-position': position ?? '0' },
    );
    position = answer.headers.get('counterfoil-position') ?? position;
    return answer;
  };
  const limit = 10;
  for (let count = 0; count < limit; count += 1) {
    await eventually(
      async () => {
        const { status, body, text } = await openOne();
        if (status === 503) return false;
        assert.is(status, 201, text);
        opened.push(body.id);
        return true;
      },
      () => 'it never opened',
    );
  }
  await eventually(
    async () => (await openOne()).body.details?.reason === 'limit_reached',
    () => 'more were opened than may be',
  );
  const { items, pagination } = await other.ok(
    'GET',
    '/events/backfills?backfill_status=open&limit=3',
  );
  assert.equal(
    items.map(({ id }: { id: string }) => id),
    opened.reverse().slice(0, 3),
  );
  assert.is(pagination.total, limit);
});

test('the log gives the same backfills again', async () => {
  const lines: string[] = [];
  assert.ok(await verify(stack, (line) => lines.push(line)), lines.join('\n'));
});

test.run();
