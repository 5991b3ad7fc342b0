import {
  type Instant,
  millisecondsOf,
  nextWindow,
  type Span,
  windowStart,
} from '@counterfoil/kernel';
import * as fc from 'fast-check';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { measureOf } from '../aggregation/measure.ts';
import { textOfProperty } from '../aggregation/quantity.ts';
import type { KeptDefinition } from '../groupings/usage-grouping.ts';
import { foldedAnswer, type StoredUsage } from '../roll-ups/test-fold.ts';
import {
  environmentId,
  histories,
  type LogItem,
  questions,
  recordedIn,
} from '../roll-ups/test-histories.ts';
import { startTestDatabase, type TestDatabase, type TestTables } from '../roll-ups/test-tables.ts';
import { UsageFiller } from '../usage-filler.ts';
import type { Grouping } from './breakdown.ts';
import { foldedEvents } from './folded-events.ts';
import type { GroupUsage } from './group-fold.ts';
import { groupedEvents } from './grouped-events.ts';
import { groupsOfHours } from './groups-of-hours.ts';
import { windowStartsOf } from './limits.ts';
import { canBeSummed, summedInTables } from './summing-queries.ts';
import { type GroupQuestion, usageInGroups } from './usage-in-groups.ts';
import { type UsageStretch, usageInStretches } from './usage-in-stretches.ts';

const test = suite('usage in groups');

let database: TestDatabase;
test.before(async () => {
  database = await startTestDatabase();
});
test.after(() => database.close());

const everybody: readonly string[] = [0, 1, 2, 3].map((id) => `customer_${id}`);

const property = (name: string): Grouping => ({ kind: 'property', name });
const groupings = fc.constantFrom<readonly Grouping[]>(
  [],
  [],
  [{ kind: 'source' }],
  [property('g')],
  [property('w')],
  [property('model')],
  [property('model')],
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

let filled = 0;

/** Tables of their own with the usage of a history. */
async function filledWith(log: readonly LogItem[]): Promise<TestTables> {
  filled += 1;
  const tables = await database.tables(`analytics_${filled}`);
  const filler = new UsageFiller(tables.session);
  await filler.take(log);
  while (filler.hasMore) await filler.tend();
  return tables;
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
  let summed = 0;
  let fromHours = 0;
  const run = fc.asyncProperty(
    histories,
    fc.array(groupQuestions, { minLength: 15, maxLength: 30 }),
    async (log, asked) => {
      const tables = await filledWith(log);
      try {
        const stored = await storedIn(tables);
        const context = tables.context(environmentId);
        for (const question of [...asked, ...aboutGroupings(log, asked)]) {
          const { windows, span } = question;
          const windowStarts = windows === null ? [] : windowStartsOf(windows, span);
          const whole = { ...question, windowStarts };
          const expected = sorted(foldedGroups(stored, question));
          const told = (way: string) => `${way}: ${JSON.stringify(question)}`;
          assert.equal(sorted(await usageInGroups(context, question)), expected, told('as it is'));
          if (await groupsOfHours(context, whole, windows)) fromHours += 1;
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
  assert.ok(fromHours > 0, 'no answer came from sums by a property');
});

/** The events at whose times a span is cut, and whose usage counts in each part; nobody's in some. */
const cuts = fc.record({
  places: fc.array(fc.nat({ max: 200 }), { maxLength: 3 }),
  atHours: fc.boolean(),
  isLong: fc.boolean(),
  customers: fc.array(
    fc.oneof(
      { weight: 3, arbitrary: fc.constant(everybody) },
      { weight: 2, arbitrary: fc.subarray([...everybody]) },
    ),
    { minLength: 4, maxLength: 4 },
  ),
});
type Cut = typeof cuts extends fc.Arbitrary<infer Value> ? Value : never;

function stretchesOf({ start, end }: Span, cut: Cut, times: readonly Instant[]): UsageStretch[] {
  const unit = cut.atHours ? 3_600_000 : 1;
  const within = cut.places
    .flatMap((place) => times[place % times.length] ?? [])
    .map((at) => new Date(Math.floor(millisecondsOf(at) / unit) * unit).toISOString() as Instant)
    .filter((at) => start < at && at < end)
    .toSorted();
  const starts = [...new Set([start, ...within])];
  return starts.flatMap((at, place): UsageStretch[] => {
    const customerIds = cut.customers[place] ?? [];
    return customerIds.length === 0
      ? []
      : [{ customerIds, span: { start: at, end: starts[place + 1] ?? end } }];
  });
}

test('usage over stretches, each with customers of its own, is that of a plain fold', async () => {
  let several = 0;
  const run = fc.asyncProperty(
    histories,
    fc.array(fc.tuple(groupQuestions, cuts), { minLength: 20, maxLength: 30 }),
    async (log, asked) => {
      const tables = await filledWith(log);
      try {
        const stored = await storedIn(tables);
        const context = tables.context(environmentId);
        const times = stored.map(({ at }) => at);
        for (const [question, cut] of asked) {
          const { of: ofAny, ...more } = question;
          const one = stored[(cut.places[0] ?? 0) % stored.length];
          // Half of the questions are about much; what is told of windows is bounded.
          const rest = cut.isLong ? { ...more, span: longSpan, windows: null, filters: [] } : more;
          const of = cut.isLong && one ? { ...ofAny, eventName: one.event_name } : ofAny;
          const stretches = stretchesOf(rest.span, cut, times);
          const ids = [...new Set(stretches.flatMap(({ customerIds }) => customerIds))];
          const goesOn = rest.aggregation.type === 'WEIGHTED_SUM';
          const counted = stored.filter(
            ({ at, customer_id }) =>
              goesOn ||
              stretches.some(
                ({ customerIds, span }) =>
                  span.start <= at && at < span.end && customerIds.includes(customer_id ?? ''),
              ),
          );
          const all: GroupQuestion = {
            ...rest,
            of: { ...of, customer: { kind: 'customers', ids } },
          };
          const expected = sorted(foldedGroups(counted, all));
          const answer = await usageInStretches(context, {
            ...rest,
            eventName: of.eventName,
            stretches,
          });
          assert.equal(sorted(answer), expected, JSON.stringify({ question, stretches }));
          if (stretches.length > 1 && expected.length > 0) several += 1;
        }
      } finally {
        await tables.drop();
      }
    },
  );
  // Histories without customers say nothing: there may be no others among a few.
  for (let round = 0; round < 5 && several === 0; round += 1) {
    await fc.assert(run, { numRuns: 10, endOnFailure: true, includeErrorInReport: true });
  }
  assert.ok(several > 0, 'no answer was about several stretches');
});

/** A span with whole hours of every history. */
const longSpan = {
  start: '2018-12-31T23:59:59.999Z' as Instant,
  end: '2026-12-31T00:30:00.000Z' as Instant,
};

/** Questions as before, about the groups that sums are kept of. */
function aboutGroupings(
  log: readonly LogItem[],
  asked: readonly GroupQuestion[],
): readonly GroupQuestion[] {
  const kept = recordedIn<KeptDefinition>(log, 'UsageGroupingKept');
  return kept.flatMap(({ event_name, field, expression, filters, group_by }, index) => {
    const question = asked[index % asked.length];
    if (!question) return [];
    const type = field === null && expression === null ? 'COUNT' : 'AVG';
    const one = { type, field, expression, multiplier: null, bucket_size: null, group_by: null };
    const of = { ...question.of, eventName: event_name };
    const own = [property(group_by)];
    const some = [...filters, { key: group_by, values: ['large', '7', '3', ''] }];
    const more = index % 2 === 0 ? filters : some;
    const aggregation = one as GroupQuestion['aggregation'];
    const about = { ...question, of, aggregation, filters: more, groupings: own, sources: [] };
    return [about, { ...about, span: longSpan, windows: null }];
  });
}

test.run();
