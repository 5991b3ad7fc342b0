import type { RecordChange, RecordedFacts } from '@counterfoil/engine/define';
import { type DecimalText, decimal, type Instant, textOf } from '@counterfoil/kernel';
import fc from 'fast-check';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { type Aggregation, aggregationSchema } from '../../meters/index.ts';
import { startTestDatabase, type TestDatabase } from '../roll-ups/test-tables.ts';
import type { UsageEvent } from '../usage-event.ts';
import { UsageFiller } from '../usage-filler.ts';
import { plainUsage } from './plain-usage.ts';
import { knownByEvent } from './queries.ts';

const test = suite('reservations in the tables of usage');

let database: TestDatabase;
test.before(async () => {
  database = await startTestDatabase();
});
test.after(() => database.close());

type Item = RecordedFacts<UsageEvent> | RecordChange;

const place = { tenantId: 'tenant_1', environmentId: 'env_1' };
const stamp = { occurred_at: '2026-05-01T12:00:00.000Z' };
const period = {
  start: '2026-05-01T00:00:00.000Z' as Instant,
  end: '2026-06-01T00:00:00.000Z' as Instant,
};
const aggregation: Aggregation = aggregationSchema.parse({ type: 'SUM', field: 'v' });

const usageOf = (event_id: string, quantity: number): UsageEvent => ({
  event_id,
  event_name: 'calls',
  external_customer_id: 'acme',
  timestamp: '2026-05-01T11:30:00.000Z' as Instant,
  properties: { v: String(quantity) },
});

type Step =
  | { readonly kind: 'plain' | 'reserved'; readonly id: number; readonly quantity: number }
  | { readonly kind: 'void'; readonly id: number };

/** Ids are few, so that many come twice, by the one way and by the other. */
const id = fc.integer({ min: 0, max: 11 });
const quantity = fc.integer({ min: 1, max: 9 });
const step: fc.Arbitrary<Step> = fc.oneof(
  fc.record({ kind: fc.constantFrom('plain' as const, 'reserved' as const), id, quantity }),
  fc.record({ kind: fc.constant('void' as const), id }),
);

interface Expected {
  /** The usage that counts and came by no reservation. */
  plain: number;
  /** The ids in the order in which they came, with the way. */
  readonly first: Map<string, { readonly isReserved: boolean; readonly quantity: number }>;
}

const customerAndMeter = [
  { type: 'CustomerCreated', aggregate: 'customer', aggregate_id: 'cust_1' },
  { type: 'MeterCreated', aggregate: 'meter', aggregate_id: 'meter_1' },
].map((event, index) => ({
  ...event,
  data: index === 0 ? { external_id: 'acme' } : { event_name: 'calls', aggregation, filters: [] },
}));

/** The log of some steps, and what a plain model makes of it. */
function logOf(steps: readonly Step[]): { readonly log: readonly Item[]; readonly is: Expected } {
  const log: Item[] = [];
  const is: Expected = { plain: 0, first: new Map() };
  const voided = new Set<string>();
  const add = (item: object): void => {
    const position = String((log.length + 1) * 10);
    const own = 'facts' in item ? { kind: 'facts', position, recordedAt: stamp.occurred_at } : {};
    const event = { event: { ...item, position, stamp } };
    log.push({ kind: 'record', ...place, ...('facts' in item ? item : event), ...own } as Item);
  };
  for (const event of customerAndMeter) add(event);
  for (const one of steps) {
    const event_id = `event-${one.id}`;
    const first = is.first.get(event_id);
    if (one.kind === 'void') {
      if (!first || voided.has(event_id)) continue;
      voided.add(event_id);
      if (!first.isReserved) is.plain -= first.quantity;
      const data = { event_id, reason: null };
      add({ type: 'UsageVoided', data, aggregate: 'usage_void', aggregate_id: event_id });
      continue;
    }
    const usage = usageOf(event_id, one.quantity);
    const isReserved = one.kind === 'reserved';
    if (isReserved) {
      const data = { usage, quantity: String(one.quantity) as DecimalText };
      const ids = { aggregate: 'usage_reservation', aggregate_id: 'reservation1' };
      add({ type: 'UsageReserved', data, ...ids });
    } else {
      add({ facts: [usage] });
    }
    if (first) continue;
    is.first.set(event_id, { isReserved, quantity: one.quantity });
    if (!isReserved) is.plain += one.quantity;
  }
  return { log, is };
}

test('plain usage is told apart at every position, whatever repeats, is voided, or comes in one batch', async () => {
  const run = fc.asyncProperty(
    fc.array(step, { maxLength: 40 }),
    fc.integer({ min: 1, max: 9 }),
    async (steps, batch) => {
      const tables = await database.tables('reserved');
      try {
        const filler = new UsageFiller(tables.session);
        const context = tables.context(place.environmentId);
        const customer = { id: 'cust_1', timezone: 'UTC', created_at: period.start };
        const counting = { event_name: 'calls', aggregation, filters: [] };
        const use = { customer, counting, period, now: period.start } as unknown as Parameters<
          typeof plainUsage
        >[1];
        const { log, is } = logOf(steps);
        for (let from = 0; from < log.length; from += batch) {
          await filler.take(log.slice(from, from + batch));
          while (filler.hasMore) await filler.tend();
        }
        const { least, most } = await plainUsage(context, use, 'reservation1');
        assert.equal([textOf(least), textOf(most)], [String(is.plain), String(is.plain)]);
        for (const [eventId, { isReserved }] of is.first) {
          const known = await knownByEvent(context, eventId);
          assert.is(known?.reservation, isReserved ? 'reservation1' : null, eventId);
        }
        assert.is(await knownByEvent(context, 'event-none'), null);
        const others = await plainUsage(context, use, 'reservation2');
        assert.ok(others.most.gte(decimal(String(is.plain))));
      } finally {
        await tables.drop();
      }
    },
  );
  await fc.assert(run, { numRuns: 25 });
});

test.run();
