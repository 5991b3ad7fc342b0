import { type Instant, nextWindow, windowStart } from '@counterfoil/kernel';
import * as fc from 'fast-check';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { measureOf } from '../aggregation/measure.ts';
import { textOfProperty } from '../aggregation/quantity.ts';
import { foldedAnswer, type StoredUsage } from '../roll-ups/test-fold.ts';
import { environmentId, histories, questions } from '../roll-ups/test-histories.ts';
import { startTestDatabase, type TestDatabase, type TestTables } from '../roll-ups/test-tables.ts';
import { UsageFiller } from '../usage-filler.ts';
import type { Grouping } from './breakdown.ts';
import { foldedEvents } from './folded-events.ts';
import type { GroupUsage } from './group-fold.ts';
import { groupedEvents } from './grouped-events.ts';
import { windowStartsOf } from './limits.ts';
import { canBeSummed, summedInTables } from './summing-queries.ts';
import { type GroupQuestion, usageInGroups } from './usage-in-groups.ts';

const test = suite('usage in groups');

let database: TestDatabase;
test.before(async () => {
  database = await startTestDatabase();
});
test.after(() => database.close());

const property = (name: string): Grouping => ({ kind: 'property', name });
const groupings = fc.constantFrom<readonly Grouping[]>(
  [],
  [],
  [{ kind: 'source' }],
  [property('g')],
  [property('w')],
  [property('v'), { kind: 'source' }],
  [property('model'), property('g')],
);
const sources = fc.constantFrom<readonly string[]>([], [], ['web'], ['web', 'nobody']);

const groupQuestions: fc.Arbitrary<GroupQuestion> = fc
  .record({ question: questions, groupings, sources })
  .map(({ question: { fills: _, ...question }, ...more }) => ({ ...question, ...more }));

interface Sourced extends StoredUsage {
  readonly source: string | null;
}

async function storedIn({ session }: TestTables): Promise<readonly Sourced[]> {
  const { schema } = session;
  const { rows } = await session.query<Omit<Sourced, 'properties'> & { properties: string }>(
    `select name.name as event_name, external_id, customer_id, at, source, properties
       from ${schema}.event
       join ${schema}.account on account.number = event.account
       join ${schema}.event_name as name on name.number = event.name
      order by at, position, event.number`,
  );
  return rows.map((row) => ({ ...row, properties: JSON.parse(row.properties ?? '{}') }));
}

const groupOf = (event: Sourced, asked: readonly Grouping[]): readonly string[] =>
  asked.map((each) =>
    each.kind === 'source'
      ? (event.source ?? '')
      : (textOfProperty(event.properties[each.name]) ?? ''),
  );

/** The groups of a question, each by a plain fold over all of its events. */
function foldedGroups(stored: readonly Sourced[], question: GroupQuestion): readonly GroupUsage[] {
  const { aggregation, filters, span, windows, sources: some } = question;
  const wanted = stored.filter(({ source }) => some.length === 0 || some.includes(source ?? '\0'));
  const byGroup = Map.groupBy(wanted, (event) =>
    JSON.stringify(groupOf(event, question.groupings)),
  );
  const measure = measureOf(aggregation);
  return [...byGroup].flatMap(([key, events]): GroupUsage[] => {
    const counted = (start: Instant, end: Instant) =>
      events.filter((event) => {
        const one = { ...question, span: { start, end }, windows: null, fills: false };
        const plain = { ...one, aggregation: { ...one.aggregation, ...count } };
        return (
          measure(event.properties).kind !== 'bad' &&
          foldedAnswer([event], { ...plain, filters }).value === '1'
        );
      }).length;
    const count = { type: 'COUNT', field: null, expression: null, bucket_size: null } as const;
    const { value, windows: parts } = foldedAnswer(events, { ...question, fills: false });
    const events_ = counted(span.start, span.end);
    const hasLevel =
      aggregation.type === 'WEIGHTED_SUM' &&
      counted('0001-01-01T00:00:00.000Z' as Instant, span.end) > 0;
    if (events_ === 0 && !hasLevel) return [];
    const shown = parts.map((part) => {
      const end = windows ? nextWindow(windows, windowStart(windows, part.start)) : span.end;
      const from = part.start > span.start ? part.start : span.start;
      return { ...part, events: counted(from, end < span.end ? end : span.end) };
    });
    return [{ group: JSON.parse(key), value, events: events_, windows: shown }];
  });
}

const sorted = (groups: readonly GroupUsage[]) =>
  groups
    .map(({ group, value, events, windows }) => ({ group, value, events, windows }))
    .toSorted((left, right) => (JSON.stringify(left.group) < JSON.stringify(right.group) ? -1 : 1));

test('whichever way they are counted, groups are those of a plain fold', async () => {
  let runs = 0;
  let summed = 0;
  const run = fc.asyncProperty(
    histories,
    fc.array(groupQuestions, { minLength: 15, maxLength: 30 }),
    async (log, asked) => {
      runs += 1;
      const tables = await database.tables(`analytics_${runs}`);
      try {
        const filler = new UsageFiller(tables.session);
        await filler.take(log);
        while (filler.hasMore) await filler.tend();
        const stored = await storedIn(tables);
        const context = tables.context(environmentId);
        for (const question of asked) {
          const { windows, span } = question;
          const windowStarts = windows === null ? [] : windowStartsOf(windows, span);
          const whole = { ...question, windowStarts };
          const expected = sorted(foldedGroups(stored, question));
          const told = (way: string) => `${way}: ${JSON.stringify(question)}`;
          assert.equal(sorted(await usageInGroups(context, question)), expected, told('as it is'));
          const past = { start: '0001-01-01T00:00:00.000Z' as Instant, end: span.end };
          const from = question.aggregation.type === 'WEIGHTED_SUM' ? past : span;
          const events = groupedEvents(context, whole, from);
          assert.equal(sorted(await foldedEvents(whole, events)), expected, told('folded'));
          if (!canBeSummed(question.aggregation)) continue;
          assert.equal(sorted(await summedInTables(context, whole)), expected, told('summed'));
          if (expected.length > 1) summed += 1;
        }
      } finally {
        await tables.drop();
      }
    },
  );
  await fc.assert(run, { numRuns: 20, endOnFailure: true, includeErrorInReport: true });
  assert.ok(summed > 0, 'no answer had several groups');
});

test.run();
