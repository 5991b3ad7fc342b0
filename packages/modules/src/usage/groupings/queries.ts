import { type AskingContext, type FactStatement, factStatement } from '@counterfoil/engine/define';
import { decimal, type Instant, type Span, zero } from '@counterfoil/kernel';
import { sql } from 'kysely';
import type { Reading } from '../aggregation/aggregate.ts';
import { eventsOf, propertyText } from '../analytics/event-choice.ts';
import {
  accountNumbers,
  type CustomerKind,
  environmentOf,
  type GivenPlace,
  givenPlace,
  isWanted,
  ofShapes,
} from '../numbers.ts';
import { outsideBuckets } from '../raw-readings.ts';
import { type Definition, definitionDigest, digestOf } from '../roll-ups/definition.ts';
import { hasHours } from '../roll-ups/queries.ts';
import type { UsageTables } from '../table-definitions.ts';
import { usageTables } from '../tables.ts';
import type { UsageOf } from '../usage-of.ts';
import type { UsageReads } from '../usage-reads.ts';

/** Whole hours of a grouping that are wanted. */
export interface WantedGroups {
  readonly definition: Definition;
  readonly customer: UsageOf['customer'];
  /** From the beginning of an hour to that of another. */
  readonly span: Span;
  /** Only groups of one of these values; null for all. */
  readonly values: readonly string[] | null;
  /** True for the sums of each hour, in order; else those of the span. */
  readonly byHour: boolean;
}

/** The sums of a group, in an hour or in the whole span. */
export interface KeptGroup {
  /** The value of the group; null for events that have none. */
  readonly text: string | null;
  readonly events: number;
  readonly reading: Reading;
}

/** Rows of one answer: more of them are counted from events. */
const rowsMaximum = 50_000;

interface GroupsGiven extends GivenPlace {
  readonly digest: string;
  readonly start: Instant;
  readonly end: Instant;
  /** The digests of the values that are wanted, where they are chosen. */
  readonly digests: readonly string[];
}

interface GroupsRow {
  readonly text: string | null;
  readonly at: string | null;
  readonly count: string | null;
  readonly total: string | null;
}

/** Sums by value, which are named after they are added up: an hour has a row for each of its values. */
const groupsOf = ofShapes(
  (
    kind: CustomerKind,
    byHour: boolean,
    isChosen: boolean,
  ): FactStatement<UsageTables, GroupsGiven, GroupsRow> =>
    factStatement(usageTables, (from, given) =>
      from
        .selectFrom('measure')
        .leftJoinLateral(
          (part) =>
            part
              .selectFrom('grouped')
              .select([
                'grouped.value',
                (byHour ? sql<string>`grouped.hour` : sql<string>`min(grouped.hour)`).as('at'),
                sql<string>`sum(grouped.count)`.as('count'),
                sql<string>`sum(grouped.total)`.as('total'),
              ])
              .whereRef('grouped.measure', '=', 'measure.number')
              .where('grouped.hour', '>=', given.start)
              .where('grouped.hour', '<', given.end)
              .where(isWanted(from, kind, 'grouped.account', given))
              .$if(isChosen, (rest) =>
                rest.where(sql<boolean>`grouped.value = any(${given.digests}::uuid[])`),
              )
              .groupBy(['grouped.value', ...(byHour ? ['grouped.hour' as const] : [])])
              .limit(rowsMaximum + 1)
              .as('part'),
          (join) => join.onTrue(),
        )
        .leftJoin('group_value', (named) =>
          named
            .onRef('group_value.measure', '=', 'measure.number')
            .onRef('group_value.value', '=', 'part.value'),
        )
        .select(['group_value.text', 'part.at', 'part.count', 'part.total'])
        .where('measure.environment', '=', environmentOf(from, given))
        .where(hasHours(from, given.digest, given))
        .orderBy('part.at')
        .limit(rowsMaximum + 1),
    ),
);

/** The sums of groups; null where they are not kept, or not all of them yet, or are too many. */
export async function keptGroups(
  { facts, principal }: UsageReads,
  { definition, customer, span, values, byHour }: WantedGroups,
): Promise<readonly KeptGroup[] | null> {
  const rows = await facts.ask(groupsOf(customer.kind, byHour, values !== null), {
    ...givenPlace(principal.environmentId, customer),
    ...{ digest: definitionDigest(definition), start: span.start, end: span.end },
    digests: values?.map(digestOf) ?? [],
  });
  if (rows.length === 0 || rows.length > rowsMaximum) return null;
  return rows.flatMap(({ text, at, count, total }): KeptGroup[] => {
    // Where the hours have nothing, there is a row of nothing.
    if (at === null || count === null || total === null) return [];
    const events = Number(count);
    const measured = { kind: 'sums', count: events, total: decimal(total), moment: zero } as const;
    const reading = { at: at as Instant, measured, ...outsideBuckets };
    return [{ text: text === null ? null : JSON.parse(text), events, reading }];
  });
}

/** Events of which some are looked at. */
export interface SampledEvents {
  readonly of: UsageOf;
  readonly span: Span;
  readonly events: number;
}

/** The number of different values that a property has among some of the events of a span. */
export async function valuesAmong(
  context: AskingContext,
  property: string,
  { of, span, events }: SampledEvents,
): Promise<number> {
  const accounts = await accountNumbers(context, of.customer);
  const choice = { of, accounts, filters: [], sources: [] };
  const [row] = await context.facts.query(usageTables, (from) => {
    const some = eventsOf(context, from, choice)
      .select(propertyText(property).as('value'))
      .where('event.at', '>=', span.start)
      .where('event.at', '<', span.end)
      .limit(events);
    return from
      .selectFrom(some.as('sample'))
      .select(sql<string>`count(distinct sample.value)`.as('values'))
      .limit(1);
  });
  return Number(row?.values ?? 0);
}
