import type { RecordedFacts } from '@counterfoil/engine/define';
import type { DecimalText, Instant } from '@counterfoil/kernel';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import type { Aggregation } from '../meters/index.ts';
import type { PropertyFilters } from './aggregation/measure.ts';
import { alikeEvents } from './event-queries.ts';
import { foldedAnswer } from './roll-ups/test-fold.ts';
import { startTestDatabase, type TestDatabase, type TestTables } from './roll-ups/test-tables.ts';
import type { UsageEvent } from './usage-event.ts';
import { UsageFiller } from './usage-filler.ts';
import { usageOf } from './usage-query.ts';
import type { UsageQuestion } from './usage-question.ts';

const test = suite('events that are alike');

const environmentId = 'env_1';
const noon = '2026-10-20T12:00:00.000Z' as Instant;
const span = { start: noon, end: '2026-10-20T12:59:59.999Z' as Instant };
/** A statement on so much is planned for its values. */
const long = { start: '2026-10-02T12:00:00.000Z' as Instant, end: span.end };

/** Numbers, texts that spell some, and what is none; each comes with each of the models below. */
const values: readonly unknown[] = [
  ...[
    1.5,
    1.5,
    1.5,
    '1.50',
    '1.5',
    -2,
    0,
    1e-7,
    1e21,
    1e-20,
    '1e3',
    ' 1',
    '12345678901234567890.5',
  ],
  ...['x', '', true, null, { 9: 1, 10: 2 }, [1], '{"a":1}', undefined],
];
const models: readonly unknown[] = [
  'large',
  7,
  '7',
  true,
  null,
  { a: 2, b: 1 },
  ['large'],
  undefined,
];

const stored = values.flatMap((value, place) =>
  models.map((model, number) => ({
    event_name: 'calls',
    external_id: number % 2 === 0 ? 'acme' : 'globex',
    customer_id: null,
    at: noon,
    properties: {
      ...(value === undefined ? {} : { v: value }),
      ...(model === undefined ? {} : { 'the "model"': model }),
    },
    id: `event-${place}-${number}`,
  })),
);

const recorded: RecordedFacts<UsageEvent> = {
  kind: 'facts',
  tenantId: 'tenant_1',
  environmentId,
  position: '10',
  recordedAt: noon,
  facts: stored.map(({ id, event_name, external_id, at, properties }) => ({
    event_id: id,
    event_name,
    external_customer_id: external_id,
    timestamp: at,
    properties,
  })),
} as unknown as RecordedFacts<UsageEvent>;

let database: TestDatabase;
let tables: TestTables;
test.before(async () => {
  database = await startTestDatabase();
  tables = await database.tables('usage_alike');
  await new UsageFiller(tables.session).take([recorded]);
});
test.after(async () => {
  await tables.drop();
  await database.close();
});

const filterSets: readonly PropertyFilters[] = [
  [],
  ...[['large'], ['7'], ['large', 'true'], ['{"a":2,"b":1}'], ['["large"]'], ['none']].map(
    (wanted) => [{ key: 'the "model"', values: wanted }],
  ),
  [
    { key: 'the "model"', values: ['7', 'large'] },
    { key: 'v', values: ['1.5', '1.50', 'true', '1e-7'] },
  ],
];

const types = [
  'COUNT',
  'SUM',
  'SUM_WITH_MULTIPLIER',
  'AVG',
  'MAX',
  'COUNT_UNIQUE',
  'LATEST',
] as const;

for (const type of types) {
  for (const field of type === 'COUNT' ? ['v', null] : ['v']) {
    test(`${type} of ${field ?? 'events'} is that of a fold over all events`, async () => {
      const aggregation: Aggregation = {
        ...{ type, field, expression: null, bucket_size: null, group_by: null },
        multiplier: type === 'SUM_WITH_MULTIPLIER' ? ('1.5' as DecimalText) : null,
      };
      for (const filters of filterSets) {
        for (const customer of [{ kind: 'all' }, { kind: 'external', id: 'acme' }] as const) {
          const of = { eventName: 'calls', customer };
          const how = { zone: 'UTC', windows: null, fills: false };
          const own = stored.filter(
            ({ external_id }) => customer.kind === 'all' || external_id === customer.id,
          );
          for (const asked of [span, long]) {
            const question: UsageQuestion = { of, aggregation, filters, span: asked, ...how };
            const { eventsCounted: _, ...answer } = await usageOf(
              tables.context(environmentId),
              question,
            );
            const expected = foldedAnswer(belongingTo(own), question);
            assert.equal(answer, expected, JSON.stringify(question));
          }
        }
      }
    });
  }
}

/** A plain fold looks for the customer of the question by itself. */
const belongingTo = (events: typeof stored) => events.map(({ id, ...event }) => event);

test('events that are alike are counted once for all of them', async () => {
  const of = { eventName: 'calls', customer: { kind: 'all' } } as const;
  const context = tables.context(environmentId);
  const alike = await alikeEvents(context, of, [span], { filters: [], property: 'v' });
  const counts = new Map(alike?.map(({ property, count }) => [property, count]));
  assert.is(counts.get('1.5'), 3 * models.length);
  assert.is(counts.get('"1.5"'), models.length);
  assert.is(counts.get(null), models.length);
  const asked = { filters: [{ key: 'v', values: ['[1]'] }], property: null };
  assert.is(await alikeEvents(context, of, [span], asked), null, 'arrays are compared one by one');
});

test('events of a customer that come together stand together, whatever came among them', async () => {
  const { schema } = tables.session;
  const { rows } = await tables.session.query<{ accounts: string[] }>(
    `select array_agg(account order by ctid)::text[] as accounts from ${schema}.event`,
  );
  const accounts = rows[0]?.accounts ?? [];
  assert.is(accounts.length, stored.length);
  assert.is(accounts.filter((account, place) => account !== accounts[place + 1]).length, 2);
});

test.run();
