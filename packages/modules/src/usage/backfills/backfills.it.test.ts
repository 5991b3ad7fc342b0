import type { RecordChange, RecordedFacts } from '@counterfoil/engine/define';
import type { Instant } from '@counterfoil/kernel';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { type Aggregation, aggregationSchema } from '../../meters/index.ts';
import { placedIn } from '../placed-usage.ts';
import { RollUps } from '../roll-ups/roll-ups.ts';
import { startTestDatabase, type TestDatabase, type TestTables } from '../roll-ups/test-tables.ts';
import type { UsageEvent } from '../usage-event.ts';
import { UsageFiller } from '../usage-filler.ts';
import { usageOf } from '../usage-query.ts';
import { fillWaiting } from './fill-waiting.ts';
import { valueAfter } from './preview.ts';

const test = suite('backfills in their tables');

let database: TestDatabase;
test.before(async () => {
  database = await startTestDatabase();
});
test.after(() => database.close());

type Item = RecordedFacts<UsageEvent> | RecordChange;

const place = { tenantId: 'tenant_1', environmentId: 'env_1' };
const stamp = { occurred_at: '2026-11-01T00:00:00.000Z' };

/** A log whose items stand at 10, 20, 30 and so on. */
const logOf = (items: readonly object[]): readonly Item[] =>
  items.map((item, index) => {
    const position = String((index + 1) * 10);
    if ('facts' in item) {
      return { kind: 'facts', ...place, position, recordedAt: stamp.occurred_at, ...item } as Item;
    }
    return { kind: 'record', ...place, event: { ...item, position, stamp } } as unknown as Item;
  });

const span = { start: '2026-05-01T10:15:00.000Z', end: '2026-05-01T14:45:00.000Z' } as {
  start: Instant;
  end: Instant;
};

const usage = (number: number, minute: string, v: number, backfill_id?: string): UsageEvent => ({
  event_id: `event-${number}`,
  event_name: 'calls',
  external_customer_id: 'acme',
  timestamp: `2026-05-01T${minute}:00.000Z` as Instant,
  properties: { v, g: v % 2 },
  ...(backfill_id ? { backfill_id } : {}),
});

const backfillEvent = (type: string, data: object = {}) => ({
  type,
  data,
  aggregate: 'usage_backfill',
  aggregate_id: 'backfill_1',
});
const opened = backfillEvent('BackfillOpened', {
  ...{ source: 'late', start_time: span.start, end_time: span.end },
  description: null,
});
const closed = backfillEvent('BackfillClosed');

const meterOf = (aggregation: Aggregation) => ({
  type: 'MeterCreated',
  data: { event_name: 'calls', aggregation, filters: [] },
  aggregate: 'meter',
  aggregate_id: 'meter_1',
});

/** Live usage at the edges of the span, in whole hours and outside of it. */
const live = {
  facts: [
    usage(1, '10:20', 5),
    usage(2, '11:30', 9),
    usage(3, '12:00', 4),
    usage(4, '14:10', 7),
    usage(5, '09:00', 100),
  ],
};
const waiting = {
  facts: [
    usage(11, '14:20', 3, 'backfill_1'),
    usage(12, '10:40', 6, 'backfill_1'),
    usage(13, '14:10', 8, 'backfill_1'),
    usage(14, '11:30', 12, 'backfill_1'),
  ],
};

async function valueIn(tables: TestTables, aggregation: Aggregation) {
  const context = tables.context(place.environmentId);
  const question = { aggregation, filters: [], span, zone: 'UTC', windows: null, fills: false };
  const of = { eventName: 'calls', customer: { kind: 'external' as const, id: 'acme' } };
  const asked = { ...question, of };
  const group = { external_id: 'acme', event_name: 'calls' };
  return {
    now: (await usageOf(context, asked)).value,
    after: () => valueAfter(context, 'backfill_1', group, asked),
  };
}

const table: readonly (readonly [object, before: string | null, after: string | null])[] = [
  [{ type: 'COUNT' }, '4', '8'],
  [{ type: 'SUM', field: 'v' }, '25', '54'],
  [{ type: 'AVG', field: 'v' }, '6.25', '6.75'],
  [{ type: 'MAX', field: 'v' }, '9', '12'],
  [{ type: 'MAX', field: 'v', bucket_size: 'HOUR' }, '25', '30'],
  [{ type: 'MAX', field: 'v', bucket_size: 'HOUR', group_by: 'g' }, '25', '51'],
  [{ type: 'LATEST', field: 'v' }, '7', '3'],
  [{ type: 'COUNT_UNIQUE', field: 'v' }, '4', '8'],
  [{ type: 'WEIGHTED_SUM', field: 'v' }, null, null],
];

for (const [given, before, after] of table) {
  const aggregation = aggregationSchema.parse(given);
  for (const [order, items] of [
    ['before', [meterOf(aggregation), live, opened, waiting]],
    ['while the backfill is filled', [live, opened, waiting, meterOf(aggregation)]],
    ['between', [live, opened, meterOf(aggregation), waiting]],
  ] as const) {
    test(`${JSON.stringify(given)}: a preview is what the closing changes, with a meter from ${order}`, async () => {
      const tables = await database.tables('previewed');
      try {
        const rollUps = new RollUps(tables.session, { events: 2, accounts: 2 });
        const filler = new UsageFiller(tables.session, rollUps);
        const log = logOf([...items, closed]);
        await filler.take(log.slice(0, -1));
        // What was there before the meter is counted in part.
        await filler.tend();
        const open = await valueIn(tables, aggregation);
        const preview = await open.after();
        await filler.take(log.slice(-1));
        assert.is((await valueIn(tables, aggregation)).now, preview, 'right after the closing');
        while (filler.hasMore) await filler.tend();
        assert.is((await valueIn(tables, aggregation)).now, preview, 'from sums of hours');
        if (given && 'type' in given && given.type === 'WEIGHTED_SUM') return;
        assert.equal([open.now, preview], [before, after]);
      } finally {
        await tables.drop();
      }
    });
  }
}

test('no more wait than may: the rest is refused, however the log is cut', async () => {
  const most = 3;
  const numbers = [1, 2, 1, 3, 4, 2, 5, 4];
  for (const cut of [1, 2, 3, numbers.length]) {
    const tables = await database.tables('limited');
    try {
      const { session } = tables;
      const filler = new UsageFiller(session);
      await filler.take(logOf([opened, live]));
      const events = numbers.map((number) => usage(number, '11:00', 1, 'backfill_1'));
      for (let from = 0; from < events.length; from += cut) {
        const facts = events.slice(from, from + cut);
        const recorded = { ...place, kind: 'facts', recordedAt: '', position: `${100 + from}` };
        const placed = placedIn({ ...recorded, facts } as unknown as RecordedFacts<UsageEvent>);
        await fillWaiting(session, 1, placed, most);
      }
      const { rows } = await session.query(
        `select waiting, repeated, refused,
                (select string_agg(event_id, ' ' order by event_id) from limited.waiting_event) as those,
                (select string_agg(event_id || ' ' || reason, ', ' order by position, number)
                   from limited.refused_event) as others
           from limited.backfill`,
      );
      assert.equal(rows, [
        {
          ...{ waiting: 3, repeated: 2, refused: 3 },
          those: 'event-1 event-2 event-3',
          others: 'event-4 limit_reached, event-5 limit_reached, event-4 limit_reached',
        },
      ]);
    } finally {
      await tables.drop();
    }
  }
});

test.run();
