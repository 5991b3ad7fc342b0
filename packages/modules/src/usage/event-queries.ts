import { type FactStatement, factStatement } from '@counterfoil/engine/define';
import { type Instant, millisecondsOf, type Span } from '@counterfoil/kernel';
import { type Expression, type SelectQueryBuilder, type SqlBool, sql } from 'kysely';
import type { Properties, PropertyFilters } from './aggregation/measure.ts';
import {
  accountNumbers,
  accountsOf,
  type CustomerKind,
  environmentOf,
  type From,
  type GivenPlace,
  givenPlace,
  isWanted,
  ofShapes,
} from './numbers.ts';
import { tracesOf, whereTraced } from './property-traces.ts';
import { readKept } from './retention/refuse-dropped.ts';
import type { UsageTables } from './table-definitions.ts';
import { usageTables } from './tables.ts';
import type { UsageOf } from './usage-of.ts';
import type { UsageReads } from './usage-reads.ts';

/** A usage event, as far as it is counted. */
export interface CountedEvent {
  readonly at: Instant;
  readonly properties: Properties;
}

/** Events that one statement reads. */
const portion = 20_000;

/** The events within a span, in the order of their time and, at one instant, of the log. Throws where some are dropped. */
export async function* eventsInOrder(
  reads: UsageReads,
  { eventName: name, customer }: UsageOf,
  { start, end }: Span,
): AsyncGenerator<CountedEvent> {
  const { facts, principal } = reads;
  const place = { ...givenPlace(principal.environmentId, customer), name, end };
  let after: Place = { at: start, position: '-1', number: 0 };
  for (;;) {
    const { at, position, number } = after;
    const given = { ...place, start: at, position, number };
    const about = { eventName: name, spans: [{ start: at as Instant, end }] };
    const page = () => facts.ask(eventsOf(customer.kind), given);
    const rows = await readKept(reads, about, page);
    for (const { at, properties } of rows) {
      yield { at: at as Instant, properties: properties === null ? {} : JSON.parse(properties) };
    }
    const last = rows.at(-1);
    if (rows.length < portion || !last) return;
    after = last;
  }
}

/** Events that are alike in a property, or in two, counted together. */
export interface AlikeEvents {
  /** The property in JSON; null for events that do not have it. */
  readonly property: string | null;
  /** The property that they are grouped by, in JSON; null for events that do not have it, or where there are no groups. */
  readonly grouped: string | null;
  readonly count: number;
}

/** The events that are counted together, and by what. */
export interface AlikeChoice {
  readonly filters: PropertyFilters;
  /** Null: values do not matter. */
  readonly property: string | null;
  /** The property by which groups are told apart; absent: there are none. */
  readonly groupedBy?: string;
}

/** Groups of one answer: more of them are read as events, page by page. */
const alikeMaximum = 50_000;

/** Filters of one statement: beyond, events are read. */
const filtersMaximum = 4;

/** A statement on more than that is planned for its values: PostgreSQL then reads a large account with several processes. */
const plannedOnceMilliseconds = 86_400_000;

const isOfDay = ({ start, end }: Span): boolean =>
  millisecondsOf(end) - millisecondsOf(start) <= plannedOnceMilliseconds;

/**
 * The events of some spans that pass filters, counted by what they have as one property, or all together. PostgreSQL does
 * that in a fifth of the time that it takes to read them. Null where they have to be read one by one: filters or groups
 * are too many, or a filter asks for an array or an object, of which texts may differ though the values do not. Throws
 * where some of the events are dropped.
 */
export async function alikeEvents(
  reads: UsageReads,
  { eventName: name, customer }: UsageOf,
  spans: readonly Span[],
  { filters, property, groupedBy }: AlikeChoice,
): Promise<readonly AlikeEvents[] | null> {
  if (filters.length > filtersMaximum || filters.some(asksForStructure)) return null;
  const { facts, principal } = reads;
  const place = givenPlace(principal.environmentId, customer);
  // A short statement is kept prepared in few shapes, and has few events to look at.
  const isShort = spans.every(isOfDay);
  const traces = filters.map((filter) => (isShort ? [] : tracesOf(filter)));
  const values = { ...givenSpans(spans), ...givenFilters(filters), ...givenTraces(traces) };
  const given: AlikeGiven = { ...place, name, property, groupedBy, ...values };
  const hasGroups = groupedBy !== undefined;
  const found = traces.map(({ length }) => length).join(' ');
  const shape = [property !== null, hasGroups, filters.length, spans.length, found] as const;
  const ask = async () => {
    if (isShort) return facts.ask(alikeOf(customer.kind, ...shape), given);
    const accounts = await accountNumbers(reads, customer);
    if (accounts === null) return facts.ask(alikeOf('all', ...shape), given, 'for these values');
    return facts.ask(alikeOf('accounts', ...shape), { ...given, accounts }, 'for these values');
  };
  const rows = await readKept(reads, { eventName: name, spans }, ask);
  if (rows.length > alikeMaximum) return null;
  return rows.map(({ count, ...alike }) => ({ ...alike, count: Number(count) }));
}

const asksForStructure = ({ values }: PropertyFilters[number]): boolean =>
  values.some((value) => value.startsWith('{') || value.startsWith('['));

interface Place {
  readonly at: string;
  readonly position: string;
  readonly number: number;
}

interface SpanGiven extends GivenPlace {
  readonly name: string;
  readonly start: string;
  readonly end: string;
}

type PageGiven = SpanGiven & Omit<Place, 'at'>;

type PageRow = Place & { readonly properties: string | null };

type Events<Row> = SelectQueryBuilder<UsageTables, 'event', Row>;

/** Events of a name in a span. */
const within = <Row>(
  from: From,
  events: Events<Row>,
  given: Pick<SpanGiven, 'environment' | 'name'>,
  { start, end }: Readonly<Record<'start' | 'end', unknown>>,
): Events<Row> =>
  events
    .where('event.name', '=', (names) =>
      names
        .selectFrom('event_name')
        .select('event_name.number')
        .where('event_name.environment', '=', environmentOf(from, given))
        .where('event_name.name', '=', given.name),
    )
    .where(sql<SqlBool>`event.at >= ${start}::timestamptz and event.at < ${end}::timestamptz`);

/**
 * A page of the events behind a place. Each account gives its first ones in the order of its index, so that a page costs
 * as much as it is long.
 */
const eventsOf = ofShapes(
  (kind: CustomerKind): FactStatement<UsageTables, PageGiven, PageRow> =>
    factStatement(usageTables, (from, given) => {
      const page = within(from, from.selectFrom('event'), given, given)
        .select(['event.at', 'event.position', 'event.number', 'event.properties'])
        .where(behind(given))
        .orderBy('event.at')
        .orderBy('event.position')
        .orderBy('event.number')
        .limit(portion);
      if (kind === 'all') return page.where('event.environment', '=', environmentOf(from, given));
      return accountsOf(from, kind, given)
        .innerJoinLateral(
          page.whereRef('event.account', '=', sql.ref('account.number')).as('part'),
          (join) => join.onTrue(),
        )
        .select(['part.at', 'part.position', 'part.number', 'part.properties'])
        .orderBy('part.at')
        .orderBy('part.position')
        .orderBy('part.number')
        .limit(portion);
    }),
);

const behind = ({ start, position, number }: PageGiven): Expression<SqlBool> =>
  sql<SqlBool>`(event.at, event.position, event.number)
    > (${start}::timestamptz, ${position}::bigint, ${number}::int)`;

interface AlikeGiven extends GivenPlace {
  readonly name: string;
  readonly property: string | null;
  readonly groupedBy: string | undefined;
}

/** Events that are alike, as a statement gives them. */
interface AlikeRow extends Pick<AlikeEvents, 'property' | 'grouped'> {
  readonly count: string;
}

const alikeOf = ofShapes(
  (
    kind: CustomerKind | 'accounts',
    hasProperty: boolean,
    hasGroups: boolean,
    filters: number,
    spans: number,
    traces: string,
  ): FactStatement<UsageTables, AlikeGiven, AlikeRow> =>
    factStatement(usageTables, (from, given) => {
      const jsonOf = (name: unknown, isWanted: boolean) =>
        isWanted
          ? sql<string | null>`(event.properties -> ${name}::text)::text collate "C"`
          : sql<string | null>`null::text`;
      const property = jsonOf(given.property, hasProperty).as('property');
      const grouped = jsonOf(given.groupedBy, hasGroups).as('grouped');
      const own = (place: number) =>
        within(from, from.selectFrom('event'), given, spanAt(given, place))
          .where('event.environment', '=', environmentOf(from, given))
          .where(isWanted(from, kind, 'event.account', given))
          .where((row) =>
            row.and(Array.from({ length: filters }, (_, place) => passes(given, place, traces))),
          )
          .select([property, grouped]);
      const others = Array.from({ length: spans - 1 }, (_, place) => own(place + 1));
      return from
        .selectFrom(others.reduce((events, more) => events.unionAll(more), own(0)).as('wanted'))
        .select([
          'wanted.property',
          'wanted.grouped',
          (row) => row.fn.countAll<string>().as('count'),
        ])
        .groupBy(['wanted.property', 'wanted.grouped'])
        .limit(alikeMaximum + 1);
    }),
);

/** The span at a place. */
const spanAt = (given: GivenPlace, place: number) => ({
  start: given[`start${place}`],
  end: given[`end${place}`],
});

const givenSpans = (spans: readonly Span[]): Readonly<Record<string, unknown>> =>
  Object.fromEntries(
    spans.flatMap(({ start, end }, place) => [
      [`start${place}`, start],
      [`end${place}`, end],
    ]),
  );

/** The condition of the filter at a place. `traces` says how many each of them has. */
const passes = (given: GivenPlace, place: number, traces: string): Expression<SqlBool> =>
  whereTraced(
    sql<SqlBool>`event.properties ->> ${given[`key${place}`]}::text
      = any(${given[`values${place}`]}::text[])`,
    Array.from(
      { length: Number(traces.split(' ')[place]) },
      (_, number) => given[traceAt(place, number)],
    ),
  );

const traceAt = (place: number, number: number): string => `trace${place}_${number}`;

const givenTraces = (all: readonly (readonly string[])[]): Readonly<Record<string, unknown>> =>
  Object.fromEntries(
    all.flatMap((traces, place) =>
      traces.map((trace, number) => [traceAt(place, number), trace] as const),
    ),
  );

const givenFilters = (filters: PropertyFilters): Readonly<Record<string, unknown>> =>
  Object.fromEntries(
    filters.flatMap(({ key, values }, place) => [
      [`key${place}`, key],
      [`values${place}`, values],
    ]),
  );
