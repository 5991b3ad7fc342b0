import type { AskingContext } from '@counterfoil/engine/define';
import { rejection } from '@counterfoil/testkit';
import * as fc from 'fast-check';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { type StretchesQuestion, usageInStretches } from '../analytics/usage-in-stretches.ts';
import { environmentId, histories, type LogItem, questions } from '../roll-ups/test-histories.ts';
import { startTestDatabase, type TestDatabase, type TestTables } from '../roll-ups/test-tables.ts';
import { UsageFiller } from '../usage-filler.ts';
import { countedEvents } from './counted-events.ts';
import { UsageAsOf } from './usage-as-of.ts';

const test = suite('usage as of a position');

let database: TestDatabase;
test.before(async () => {
  database = await startTestDatabase();
});
test.after(() => database.close());

const positionOf = (item: LogItem): string =>
  item.kind === 'facts' ? item.position : item.event.position;

async function fill(tables: TestTables, log: readonly LogItem[]): Promise<void> {
  const filler = new UsageFiller(tables.session);
  await filler.take(log);
  while (filler.hasMore) await filler.tend();
}

/** Reads of tables, with the streams of customers as a log has them. */
function contextOf(tables: TestTables, log: readonly LogItem[]): AskingContext {
  const { facts, principal } = tables.context(environmentId);
  return {
    facts,
    principal,
    async *history(_: unknown, id: string) {
      for (const item of log) {
        if (item.kind === 'record' && item.event.aggregate_id === id) yield item.event;
      }
    },
  } as unknown as AskingContext;
}

/** Questions of customers by name, in one stretch or in two with a gap between them. */
const asked: fc.Arbitrary<StretchesQuestion> = fc
  .tuple(questions, fc.constantFrom(...[0, 1, 2, 3]), fc.boolean())
  .map(([{ of, aggregation, filters, span, zone }, other, isCut]) => {
    const ids = ['customer' as const, 'customers' as const].includes(of.customer.kind as never)
      ? [of.customer].flatMap((one) =>
          one.kind === 'customer' ? [one.id] : one.kind === 'customers' ? one.ids : [],
        )
      : [`customer_${other}`];
    const whole = { customerIds: ids, span };
    const middle = cutOf(span);
    const cut =
      isCut && middle.end < span.end
        ? [
            { customerIds: ids, span: { start: span.start, end: middle.start } },
            { customerIds: [`customer_${other}`], span: { start: middle.end, end: span.end } },
          ]
        : [whole];
    return {
      eventName: of.eventName,
      stretches: cut,
      aggregation,
      filters,
      sources: [],
      groupings:
        aggregation.group_by === null
          ? []
          : [{ kind: 'property' as const, name: aggregation.group_by }],
      span,
      zone,
      windows: aggregation.bucket_size === null ? null : { size: aggregation.bucket_size, zone },
    };
  })
  // More than ten thousand buckets are refused whoever counts.
  .filter(({ windows }) => windows === null || windows.size !== 'MINUTE');

function cutOf({ start, end }: StretchesQuestion['span']) {
  const [from, to] = [Date.parse(start), Date.parse(end)];
  const third = Math.floor((to - from) / 3);
  const at = (milliseconds: number) => new Date(milliseconds).toISOString() as typeof start;
  return { start: at(from + third), end: at(from + 2 * third) };
}

test('usage as of a position is what was counted when the log ended there', async () => {
  let runs = 0;
  const run = fc.asyncProperty(
    histories,
    fc.array(asked, { minLength: 8, maxLength: 14 }),
    fc.nat({ max: 99 }),
    async (log, wanted, cut) => {
      runs += 1;
      const before = log.slice(0, Math.ceil((log.length * cut) / 100));
      const last = before.at(-1);
      const position = last ? positionOf(last) : '0';
      const whole = await database.tables(`as_of_${runs}_whole`);
      const part = await database.tables(`as_of_${runs}_part`);
      try {
        await fill(whole, log);
        await fill(part, before);
        const then = new UsageAsOf(position);
        for (const question of wanted) {
          const expected = await usageInStretches(contextOf(part, before), question);
          const found = await then.inStretches(contextOf(whole, log), question);
          assert.equal(found, expected, `as of ${position}: ${JSON.stringify(question)}`);
        }
      } finally {
        await whole.drop();
        await part.drop();
      }
    },
  );
  await fc.assert(run, { numRuns: 3, endOnFailure: true, includeErrorInReport: true });
});

const place = { tenantId: 'tenant_1', environmentId };
const recordedAt = '2026-01-09T00:00:00.000Z';

const record = (aggregate: string, aggregate_id: string, position: string, event: object) =>
  ({
    ...{ kind: 'record', ...place },
    event: { ...event, aggregate, aggregate_id, position, stamp: { occurred_at: recordedAt } },
  }) as unknown as LogItem;

const facts = (position: string, events: readonly object[]) =>
  ({ kind: 'facts', ...place, position, recordedAt, facts: events }) as unknown as LogItem;

const call = (
  event_id: string,
  external_customer_id: string,
  date: number,
  properties: object,
) => ({
  ...{ event_id, event_name: 'calls', external_customer_id, properties },
  timestamp: `2026-01-0${date}T00:00:00.000Z`,
});

const created = record('customer', 'customer_1', '1', {
  ...{ type: 'CustomerCreated', data: { external_id: 'acme' } },
});
const january = { start: '2026-01-01T00:00:00.000Z', end: '2026-02-01T00:00:00.000Z' } as never;
const stretches = [{ customerIds: ['customer_1'], span: january }];
const sum = {
  ...{ type: 'SUM', field: 'v', expression: null, multiplier: null },
  ...{ bucket_size: null, group_by: null },
} as StretchesQuestion['aggregation'];

test('what was voided, sent or claimed later did not count then as it does now', async () => {
  const tables = await database.tables('as_of_later');
  const log = [
    created,
    facts('2', [call('one', 'acme', 1, { v: 1 }), call('waiting', 'other', 2, { v: 10 })]),
    facts('3', [call('late', 'acme', 3, { v: 100 })]),
    record('usage_void', 'one', '4', {
      type: 'UsageVoided',
      data: { event_id: 'one', reason: null },
    }),
    record('customer', 'customer_1', '5', {
      ...{ type: 'CustomerUpdated', data: { changes: { external_id: 'other' } } },
    }),
  ];
  await fill(tables, log);
  const context = contextOf(tables, log);
  const at = async (position: string, maximum?: number) => {
    const [found] = await new UsageAsOf(position, maximum).inStretches(context, {
      ...{ eventName: 'calls', stretches, aggregation: sum, filters: [], sources: [] },
      ...{ groupings: [], span: january, zone: 'UTC', windows: null },
    });
    return found?.value;
  };
  const values = [];
  for (const position of ['1', '2', '3', '4', '5']) values.push(await at(position));
  assert.equal(values, [undefined, '1', '101', '100', '110']);
  assert.is((await rejection(at('5', 1))).details?.reason, 'limit_reached');
});

test('the events of a figure come in pages, and add up to it', async () => {
  const tables = await database.tables('as_of_pages');
  const events = Array.from({ length: 25 }, (_, number) =>
    call(`event-${number}`, 'acme', 1 + (number % 3), number === 7 ? {} : { v: number }),
  );
  const log = [created, facts('5', events)];
  await fill(tables, log);
  const usage = { eventName: 'calls', stretches, meter: { filters: [], aggregation: sum } };
  const seen: string[] = [];
  let iter_last_key: string | undefined;
  let total = 0;
  do {
    const page = await countedEvents(contextOf(tables, log), new UsageAsOf('5'), usage, {
      limit: 10,
      iter_last_key,
    });
    seen.push(...page.events.map(({ event_id }) => event_id));
    total += page.events.reduce((all, { value }) => all + Number(value), 0);
    iter_last_key = page.iter_last_key ?? undefined;
  } while (iter_last_key !== undefined);
  assert.is(seen.length, 24);
  assert.is(new Set(seen).size, 24);
  assert.is(total, (24 * 25) / 2 - 7);
});

test.run();
