import { type FactStatement, factStatement } from '@counterfoil/engine/define';
import { type Decimal, decimal, type Instant, type Span, zero } from '@counterfoil/kernel';
import { type Expression, type RawBuilder, type SqlBool, sql } from 'kysely';
import {
  type CustomerKind,
  environmentOf,
  type From,
  type GivenPlace,
  givenPlace,
  isWanted,
  ofShapes,
} from '../numbers.ts';
import { exchanged } from '../retention/refuse-dropped.ts';
import type { UsageTables } from '../table-definitions.ts';
import { usageTables } from '../tables.ts';
import type { UsageOf } from '../usage-of.ts';
import type { UsageReads } from '../usage-reads.ts';
import type { Keeps } from './definition.ts';

/** The hours of a measure that are wanted: of the accounts of a customer, or of all. */
export interface WantedHours {
  readonly keeps: Keeps;
  readonly digest: string;
  readonly customer: UsageOf['customer'];
  /** From the beginning of an hour to that of another. */
  readonly span: Span;
}

/** The figures of hours, added up over all accounts that are wanted. */
export interface Sums {
  /** The hour, or the first of several. */
  readonly at: Instant;
  readonly count: number;
  readonly total: Decimal;
  /** The sum of each value times the milliseconds from `at` to its own time. */
  readonly moment: Decimal;
  readonly greatest: Decimal | null;
  readonly latest: Decimal | null;
}

/** A value that an hour has, or the greatest value of a group in a stretch of it. */
export interface Digested {
  readonly at: Instant;
  readonly digest: string;
  readonly greatest: Decimal;
}

/** Rows that one statement reads. */
const portion = 20_000;

/** Pages of rows, in the order of time. */
export type Pages<Row> = AsyncGenerator<readonly Row[], void, undefined>;

/** Pages of what was wanted: none at all where the measure is not complete. */
async function* paged<Row extends { readonly at: string | null }, Result>(
  select: (after: Row | null) => Promise<readonly Row[]>,
  resultOf: (row: Row) => Result,
): Pages<Result> {
  let after: Row | null = null;
  for (;;) {
    const rows: readonly Row[] = await select(after);
    if (rows.length === 0) {
      if (after === null) return;
      // To tables whose measure is still being completed.
      throw exchanged();
    }
    // A complete measure without such hours gives a row of nothing.
    const found = rows.filter(({ at }) => at !== null);
    yield found.map(resultOf);
    if (found.length < portion) return;
    after = found.at(-1) ?? null;
  }
}

/** The condition that a measure is the complete one with a digest, and lacks nothing of some whole hours. */
export function hasHours(
  from: From,
  digest: string,
  { start, end }: Readonly<Record<'start' | 'end', string>>,
): RawBuilder<SqlBool> {
  const gaps = from
    .selectFrom('measure_gap')
    .select('measure_gap.measure')
    .whereRef('measure_gap.measure', '=', sql.ref('measure.number'))
    .where('measure_gap.first_at', '<', sql<string>`${end}::timestamptz`)
    .where('measure_gap.last_at', '>=', sql<string>`${start}::timestamptz`);
  return sql<SqlBool>`measure.digest = ${digest}::uuid and measure.is_complete
    and not measure.is_retired and not exists (${gaps})`;
}

/** The complete measure with a digest: no row where there is none. */
const measureOf = (from: From, { principal }: UsageReads, { digest, span }: WantedHours) =>
  from
    .selectFrom('measure')
    .where(
      'measure.environment',
      '=',
      environmentOf(from, { environment: principal.environmentId }),
    )
    .where(hasHours(from, digest, span));

/** True for rows of the accounts that are wanted. */
const ofCustomer = (
  from: From,
  { principal }: UsageReads,
  account: string,
  customer: UsageOf['customer'],
) => isWanted(from, customer.kind, account, givenPlace(principal.environmentId, customer));

interface SumsRow {
  readonly at: string | null;
  readonly count: string | null;
  readonly total: string | null;
  readonly moment: string | null;
  readonly greatest: string | null;
  readonly latest: string | null;
}

const none = sql<string | null>`null`;
const newest = sql<string | null>`(array_agg(hourly.latest order by hourly.latest_at desc,
    hourly.latest_position desc, hourly.latest_number desc))[1]`;

/**
 * The figures that are kept of hours, added up.
 *
 * @param from the instant that moments are counted from; null: the hour's own
 */
function figuresOf(keeps: Keeps, from: Instant | null) {
  const isOfSums = keeps === 'sums' || keeps === 'levels';
  const moment =
    from === null
      ? sql<string | null>`sum(hourly.moment)`
      : sql<string | null>`sum(hourly.moment
          + hourly.total * 1000 * extract(epoch from hourly.hour - ${from}::timestamptz))`;
  return [
    sql<string | null>`sum(hourly.count)`.as('count'),
    (isOfSums ? sql<string | null>`sum(hourly.total)` : none).as('total'),
    (keeps === 'levels' ? moment : none).as('moment'),
    (keeps === 'greatest' ? sql<string | null>`max(hourly.greatest)` : none).as('greatest'),
    (keeps === 'latest' ? newest : none).as('latest'),
  ] as const;
}

const sumOf = (row: SumsRow): Sums => ({
  at: (row.at ?? '') as Instant,
  count: Number(row.count),
  total: row.total === null ? zero : decimal(row.total),
  moment: row.moment === null ? zero : decimal(row.moment),
  greatest: row.greatest === null ? null : decimal(row.greatest),
  latest: row.latest === null ? null : decimal(row.latest),
});

interface SumsGiven extends GivenPlace {
  readonly digest: string;
  readonly start: Instant;
  readonly end: Instant;
}

const sumsOf = ofShapes(
  (keeps: Keeps, kind: CustomerKind): FactStatement<UsageTables, SumsGiven, Omit<SumsRow, 'at'>> =>
    factStatement(usageTables, (from, given) =>
      from
        .selectFrom('measure')
        .where('measure.environment', '=', environmentOf(from, given))
        .where(hasHours(from, given.digest, given))
        .innerJoinLateral(
          (part) =>
            part
              .selectFrom('hourly')
              .select(figuresOf(keeps, given.start))
              .whereRef('hourly.measure', '=', 'measure.number')
              .where('hourly.hour', '>=', given.start)
              .where('hourly.hour', '<', given.end)
              .where(isWanted(from, kind, 'hourly.account', given))
              .as('part'),
          (join) => join.onTrue(),
        )
        .select(['part.count', 'part.total', 'part.moment', 'part.greatest', 'part.latest']),
    ),
);

/** The sums over all the hours that are wanted; null where the measure is not complete. */
export async function sumsOver(
  { facts, principal }: UsageReads,
  { keeps, customer, digest, span }: WantedHours,
): Promise<Sums | null> {
  const given = { ...givenPlace(principal.environmentId, customer), digest, ...span };
  const [row] = await facts.ask(sumsOf(keeps, customer.kind), given);
  return row ? sumOf({ ...row, at: span.start }) : null;
}

/** The sums of each of the hours that are wanted and have some, in pages. */
export const sumsByHour = (reads: UsageReads, wanted: WantedHours): Pages<Sums> =>
  paged<SumsRow, Sums>(
    (after) =>
      reads.facts.query(usageTables, (from) =>
        measureOf(from, reads, wanted)
          .leftJoinLateral(
            (part) =>
              part
                .selectFrom('hourly')
                .select('hourly.hour as at')
                .select(figuresOf(wanted.keeps, null))
                .whereRef('hourly.measure', '=', 'measure.number')
                .where('hourly.hour', '>=', wanted.span.start)
                .where('hourly.hour', '<', wanted.span.end)
                .where(ofCustomer(from, reads, 'hourly.account', wanted.customer))
                .$if(after !== null, (rest) => rest.where('hourly.hour', '>', after?.at ?? ''))
                .groupBy('hourly.hour')
                .orderBy('hourly.hour')
                .limit(portion)
                .as('part'),
            (join) => join.onTrue(),
          )
          .select([
            'part.at',
            'part.count',
            'part.total',
            'part.moment',
            'part.greatest',
            'part.latest',
          ])
          .orderBy('part.at'),
      ),
    sumOf,
  );

/** The number of different values that the hours have, some of them left out; null where the measure is not complete. */
export async function distinctOver(
  reads: UsageReads,
  wanted: WantedHours,
  leftOut: readonly string[],
): Promise<number | null> {
  const [row] = await reads.facts.query(usageTables, (from) =>
    measureOf(from, reads, wanted)
      .innerJoinLateral(
        (part) =>
          part
            .selectFrom((values) =>
              values
                .selectFrom('distinct_value')
                .select('distinct_value.value')
                .distinct()
                .whereRef('distinct_value.measure', '=', 'measure.number')
                .where('distinct_value.hour', '>=', wanted.span.start)
                .where('distinct_value.hour', '<', wanted.span.end)
                .where(ofCustomer(from, reads, 'distinct_value.account', wanted.customer))
                .where(sql<SqlBool>`distinct_value.value <> all(${sql.val(leftOut)}::uuid[])`)
                .as('values'),
            )
            .select((values) => values.fn.countAll<string>().as('count'))
            .as('part'),
        (join) => join.onTrue(),
      )
      .select('part.count'),
  );
  return row ? Number(row.count) : null;
}

interface DigestedRow {
  readonly at: string | null;
  readonly digest: string | null;
  readonly greatest: string | null;
}

const digestedOf = ({ at, digest, greatest }: DigestedRow): Digested => ({
  at: at as Instant,
  digest: (digest ?? '').replaceAll('-', ''),
  greatest: greatest === null ? zero : decimal(greatest),
});

/** The different values of each of the hours that are wanted, in pages. */
export const distinctByHour = (reads: UsageReads, wanted: WantedHours): Pages<Digested> =>
  paged<DigestedRow, Digested>(
    (after) =>
      reads.facts.query(usageTables, (from) =>
        measureOf(from, reads, wanted)
          .leftJoinLateral(
            (part) =>
              part
                .selectFrom('distinct_value as kept')
                .select(['kept.hour as at', 'kept.value as digest'])
                .distinct()
                .whereRef('kept.measure', '=', 'measure.number')
                .where('kept.hour', '>=', wanted.span.start)
                .where('kept.hour', '<', wanted.span.end)
                .where(ofCustomer(from, reads, 'kept.account', wanted.customer))
                .$if(after !== null, (rest) => rest.where(beyond('kept.hour', 'kept.value', after)))
                .orderBy('kept.hour')
                .orderBy('kept.value')
                .limit(portion)
                .as('part'),
            (join) => join.onTrue(),
          )
          .select(['part.at', 'part.digest', sql<string | null>`null`.as('greatest')])
          .orderBy('part.at')
          .orderBy('part.digest'),
      ),
    digestedOf,
  );

/** The greatest values of the stretches and groups of the hours that are wanted, in pages. */
export const greatestOfBuckets = (reads: UsageReads, wanted: WantedHours): Pages<Digested> =>
  paged<DigestedRow, Digested>(
    (after) =>
      reads.facts.query(usageTables, (from) =>
        measureOf(from, reads, wanted)
          .leftJoinLateral(
            (part) =>
              part
                .selectFrom('bucket as kept')
                .select([
                  'kept.start as at',
                  'kept.grouped as digest',
                  sql<string>`max(kept.greatest)`.as('greatest'),
                ])
                .whereRef('kept.measure', '=', 'measure.number')
                .where('kept.start', '>=', wanted.span.start)
                .where('kept.start', '<', wanted.span.end)
                .where(ofCustomer(from, reads, 'kept.account', wanted.customer))
                .$if(after !== null, (rest) =>
                  rest.where(beyond('kept.start', 'kept.grouped', after)),
                )
                .groupBy(['kept.start', 'kept.grouped'])
                .orderBy('kept.start')
                .orderBy('kept.grouped')
                .limit(portion)
                .as('part'),
            (join) => join.onTrue(),
          )
          .select(['part.at', 'part.digest', 'part.greatest'])
          .orderBy('part.at')
          .orderBy('part.digest'),
      ),
    digestedOf,
  );

const beyond = (at: string, digest: string, after: DigestedRow | null): Expression<SqlBool> =>
  sql<SqlBool>`(${sql.ref(at)}, ${sql.ref(digest)})
    > (${after?.at ?? ''}::timestamptz, ${after?.digest ?? ''}::uuid)`;
