import type { AskingContext } from '@counterfoil/engine/define';
import { decimal, type Instant, laterOf, millisecondsOf, zero } from '@counterfoil/kernel';
import { type RawBuilder, sql } from 'kysely';
import type { Aggregation } from '../../meters/index.ts';
import type { Reading } from '../aggregation/aggregate.ts';
import type { Measured } from '../aggregation/measure.ts';
import { accountNumbers } from '../numbers.ts';
import { readKept } from '../retention/refuse-dropped.ts';
import { usageTables } from '../tables.ts';
import type { BreakdownQuestion, Grouping } from './breakdown.ts';
import { type EventChoice, eventsOf, type From, propertyText } from './event-choice.ts';
import { GroupFold, type GroupUsage } from './group-fold.ts';
import { analyticsLimits, tooManyGroups, tooManyPoints } from './limits.ts';

/** Tells whether statements can sum up what an aggregation measures: they know no expressions, and no buckets. */
export const canBeSummed = ({ expression, bucket_size, type }: Aggregation): boolean =>
  expression === null && (type !== 'MAX' || bucket_size === null);

/**
 * The usage of groups, summed up by the database: exactly, and without a row for each event. The statement has the
 * time that every statement has. Throws where some of the events are dropped.
 */
export async function summedInTables(
  context: AskingContext,
  question: BreakdownQuestion,
): Promise<readonly GroupUsage[]> {
  const accounts = await accountNumbers(context, question.of.customer);
  const { aggregation, of, span } = question;
  const start = aggregation.type === 'WEIGHTED_SUM' ? firstInstant : span.start;
  const about = { eventName: of.eventName, spans: [{ ...span, start }] };
  const found = await readKept(context, about, () =>
    context.facts.query(usageTables, (from) => groupRows(context, from, { ...question, accounts })),
  );
  const rows = found.map(
    (row): GroupRow => ({
      ...row,
      values: JSON.parse(row.values),
      is_before: row.side === 'before',
      window: row.window === null ? null : Number(row.window),
    }),
  );
  const fold = new GroupFold(question);
  const wholes = rows.filter(({ window }) => window === null);
  const early = ({ is_before }: GroupRow): number => (is_before ? 0 : 1);
  for (const row of wholes.toSorted((left, right) => early(left) - early(right))) {
    const reading = readingOf(question, row, question.span.start);
    if (row.is_before) fold.addBefore(row.values, reading);
    else fold.addToWhole(row.values, reading, Number(row.events));
  }
  if (fold.size > analyticsLimits.items) throw tooManyGroups();
  if (rows.length - wholes.length > analyticsLimits.points) throw tooManyPoints();
  for (const row of rows) {
    if (row.window === null || row.is_before) continue;
    const index = row.window - 1;
    const start = laterOf(question.windowStarts[index] ?? question.span.start, question.span.start);
    fold.addToWindow(row.values, index, readingOf(question, row, start), Number(row.events));
  }
  return fold.values();
}

/** A level is the sum of all values before. */
const firstInstant = '0001-01-01T00:00:00.000Z' as Instant;

interface GroupRow {
  /** The value of each grouping. */
  readonly values: readonly string[];
  readonly is_before: boolean;
  /** From 1 on; null for the whole of the span. */
  readonly window: number | null;
  readonly events: string;
  /** The different values, the greatest or the latest one, or the sum. */
  readonly figure: string | null;
  /** The sum of each value times the milliseconds from the start of the span to its time. */
  readonly moment: string | null;
}

function readingOf(
  { aggregation: { type }, span }: BreakdownQuestion,
  { events, figure, moment }: GroupRow,
  at: Instant,
): Reading {
  const total = figure === null ? zero : decimal(figure);
  const sums = (count: number): Measured => ({ kind: 'sums', count, total, moment: zero });
  const measured = (): Measured => {
    switch (type) {
      case 'COUNT':
      case 'SUM':
      case 'SUM_WITH_MULTIPLIER':
      case 'AVG':
        return sums(Number(events));
      case 'COUNT_UNIQUE':
        return sums(Number(figure));
      case 'MAX':
      case 'LATEST':
        return { kind: 'number', value: total };
      case 'WEIGHTED_SUM': {
        const since = decimal(String(millisecondsOf(at) - millisecondsOf(span.start)));
        const own = moment === null ? zero : decimal(moment).minus(total.times(since));
        return { ...sums(Number(events)), moment: own } as Measured;
      }
      default:
        return type satisfies never;
    }
  };
  return { at, measured: measured(), bucket: '', group: '' };
}

/** Rows of groups, those of the whole span first. */
function groupRows(context: AskingContext, from: From, question: BreakdownQuestion & EventChoice) {
  const { groupings, windowStarts, aggregation } = question;
  const groups = groupings.map((_, index) => sql.ref(`counted.group_${index}`));
  const whole = sql.join([...groups, sql.ref('counted.side')]);
  // PostgreSQL makes no parts of what is grouped by sets: several processes can do only the first.
  const sets =
    windowStarts.length === 0
      ? whole
      : sql`grouping sets ((${whole}), (${whole}, counted.window_index))`;
  const { figure, moment } = figuresOf(aggregation.type, question.span.start);
  const values = groups.length === 0 ? sql`array[]::text[]` : sql`array[${sql.join(groups)}]`;
  return from
    .selectFrom(countedEvents(context, from, question).as('counted'))
    .select([
      sql<string>`to_json(${values})::text`.as('values'),
      'counted.side',
      (windowStarts.length === 0
        ? sql<string | null>`null::text`
        : sql<string | null>`counted.window_index::text`
      ).as('window'),
      sql<string>`count(*)`.as('events'),
      sql<string | null>`(${figure})::text`.as('figure'),
      sql<string | null>`(${moment})::text`.as('moment'),
    ])
    .where('counted.value', 'is not', null)
    .groupBy(sql`${sets}`)
    .$if(windowStarts.length > 0, (rest) => rest.orderBy(sql`counted.window_index nulls first`))
    .limit(2 * (analyticsLimits.items + 1) + analyticsLimits.points + 1);
}

/** The figures that readings are made of. */
function figuresOf(
  type: Aggregation['type'],
  start: Instant,
): Readonly<Record<'figure' | 'moment', RawBuilder<unknown>>> {
  const none = sql`null`;
  switch (type) {
    case 'COUNT':
      return { figure: none, moment: none };
    case 'SUM':
    case 'SUM_WITH_MULTIPLIER':
    case 'AVG':
      return { figure: sql`sum(counted.value)`, moment: none };
    case 'WEIGHTED_SUM':
      return {
        figure: sql`sum(counted.value)`,
        moment: sql`sum(counted.value * 1000 * extract(epoch from counted.at - ${start}::timestamptz))`,
      };
    case 'MAX':
      return { figure: sql`max(counted.value)`, moment: none };
    case 'LATEST':
      return {
        figure: sql`(array_agg(counted.value
          order by counted.at desc, counted.position desc, counted.number desc))[1]`,
        moment: none,
      };
    case 'COUNT_UNIQUE':
      return { figure: sql`count(distinct counted.value)`, moment: none };
    default:
      return type satisfies never;
  }
}

/** The events that are asked for, each with its groups, its window, and the value that is measured. */
function countedEvents(
  context: AskingContext,
  from: From,
  question: BreakdownQuestion & EventChoice,
) {
  const { aggregation, groupings, span, windowStarts } = question;
  const isLevel = aggregation.type === 'WEIGHTED_SUM';
  const isBefore = isLevel ? sql<boolean>`event.at < ${span.start}::timestamptz` : sql`false`;
  const window =
    windowStarts.length === 0
      ? sql`0`
      : sql`width_bucket(event.at, ${sql.val(windowStarts)}::timestamptz[])`;
  const events = eventsOf(context, from, question)
    .select(['event.at', 'event.position', 'event.number'])
    .select(groupings.map((each, index) => groupText(each).as(`group_${index}`)))
    .select([
      measuredJson(aggregation).as('measured'),
      sql<'before' | 'within'>`case when ${isBefore} then 'before' else 'within' end`.as('side'),
      sql<number>`case when ${isBefore} then 0 else ${window} end`.as('window_index'),
    ])
    .where('event.at', '<', span.end)
    .$if(!isLevel, (rest) => rest.where('event.at', '>=', span.start))
    .offset(keptApart);
  return from
    .selectFrom(events.as('event'))
    .selectAll()
    .select(measuredValue(aggregation).as('value'))
    .offset(keptApart);
}

/**
 * Keeps the planner from computing a column again wherever it is used, which costs more than all the rest. No
 * parameter: that could be a number by which several processes cannot do it.
 */
const keptApart = sql<number>`0`;

const groupText = (grouping: Grouping): RawBuilder<string> =>
  grouping.kind === 'source'
    ? sql<string>`coalesce(event.source, '')`
    : sql<string>`coalesce(${propertyText(grouping.name)}, '')`;

/**
 * A plain decimal with the digits that a quantity may have (D55): a text in JSON, or as the text of a JSON number
 * mostly is too. Digits are never escaped in canonical JSON.
 */
const plain = '^"?-?[0-9]{1,29}(?:\\.[0-9]{1,15})?"?$';
const exponential = '^-?[0-9]+(\\.[0-9]+)?e[+-]?[0-9]+$';

/** The part of an event in which its value lies: as text, or as JSON where it is to be a number. */
function measuredJson({ type, field }: Aggregation): RawBuilder<unknown> {
  if (field === null) return sql`null`;
  if (type === 'COUNT_UNIQUE') return propertyText(field);
  return sql`(event.properties -> ${field}::text)::text`;
}

/** The value of an event that is measured, by the same rule as `measureOf`; null where it has none. */
function measuredValue({ type, field }: Aggregation): RawBuilder<unknown> {
  if (field === null) return sql`1`;
  if (type === 'COUNT_UNIQUE') return sql`event.measured`;
  const number = sql`event.measured::numeric`;
  return sql`case
    when event.measured ~ ${plain} then btrim(event.measured, '"')::numeric
    when event.measured ~ ${exponential}
      then case when abs(${number}) < 1e29 and min_scale(${number}) <= 15 then ${number} end end`;
}
