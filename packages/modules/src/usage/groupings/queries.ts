import type { AskingContext } from '@counterfoil/engine/define';
import type { Instant } from '@counterfoil/kernel';
import { decimal, type Span } from '@counterfoil/kernel';
import { sql } from 'kysely';
import type { Reading } from '../aggregation/aggregate.ts';
import { eventsOf, propertyText } from '../analytics/event-choice.ts';
import { accountNumbers, environmentOf, givenPlace, isWanted } from '../numbers.ts';
import type { UsageOf } from '../queries.ts';
import { outsideBuckets } from '../raw-readings.ts';
import { type Definition, definitionDigest } from '../roll-ups/definition.ts';
import { usageTables } from '../tables.ts';
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

/** The sums of groups; null where they are not kept, or not all of them yet, or are too many. */
export async function keptGroups(
  { facts, principal }: UsageReads,
  { definition, customer, span, values, byHour }: WantedGroups,
): Promise<readonly KeptGroup[] | null> {
  const place = givenPlace(principal.environmentId, customer);
  const texts = values?.map((value) => JSON.stringify(value));
  const rows = await facts.query(usageTables, (from) =>
    from
      .selectFrom('measure')
      .leftJoinLateral(
        (part) =>
          part
            .selectFrom('grouped')
            .innerJoin('group_value', (named) =>
              named
                .onRef('group_value.measure', '=', 'grouped.measure')
                .onRef('group_value.value', '=', 'grouped.value'),
            )
            .select([
              'group_value.text',
              (byHour ? sql<string>`grouped.hour` : sql<string>`${span.start}::timestamptz`).as(
                'at',
              ),
              sql<string>`sum(grouped.count)`.as('count'),
              sql<string>`sum(grouped.total)`.as('total'),
            ])
            .whereRef('grouped.measure', '=', 'measure.number')
            .where('grouped.hour', '>=', span.start)
            .where('grouped.hour', '<', span.end)
            .where(isWanted(from, customer.kind, 'grouped.account', place))
            .$if(texts !== undefined, (rest) =>
              rest.where(sql<boolean>`group_value.text = any(${sql.val(texts)}::text[])`),
            )
            .groupBy(['group_value.text', ...(byHour ? ['grouped.hour' as const] : [])])
            .limit(rowsMaximum + 1)
            .as('part'),
        (join) => join.onTrue(),
      )
      .select(['part.text', 'part.at', 'part.count', 'part.total'])
      .where('measure.environment', '=', environmentOf(from, place))
      .where(
        sql<boolean>`measure.digest = ${definitionDigest(definition)}::uuid
          and measure.is_complete and not measure.is_retired`,
      )
      .orderBy('part.at')
      .limit(rowsMaximum + 1),
  );
  if (rows.length === 0 || rows.length > rowsMaximum) return null;
  return rows.flatMap(({ text, at, count, total }): KeptGroup[] => {
    // Where the hours have nothing, there is a row of nothing.
    if (at === null || count === null || total === null) return [];
    const events = Number(count);
    const measured = {
      kind: 'sums',
      count: events,
      total: decimal(total),
      moment: decimal('0'),
    } as const;
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
