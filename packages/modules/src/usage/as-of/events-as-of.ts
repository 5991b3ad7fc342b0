import type { AskingContext } from '@counterfoil/engine/define';
import type { Instant, Span } from '@counterfoil/kernel';
import { type SqlBool, sql } from 'kysely';
import type { Properties, PropertyFilters } from '../aggregation/measure.ts';
import type { From } from '../analytics/event-choice.ts';
import type { ListPlace } from '../list-place.ts';
import { readKept } from '../retention/refuse-dropped.ts';
import { usageTables } from '../tables.ts';

/** Events of some accounts as they counted at a position of the log. */
export interface EventsAsOf {
  readonly eventName: string;
  readonly accounts: readonly string[];
  readonly filters: PropertyFilters;
  readonly position: string;
}

/** An event that counted then, with its place in the order of events. */
export interface EventAsOf extends ListPlace {
  readonly at: Instant;
  readonly event_id: string;
  readonly account: string;
  readonly source: string | null;
  readonly properties: Properties;
}

/** Events that one statement reads. */
const portion = 20_000;

/**
 * The events of a span that counted at a position of the log, in the order of their time and, at one instant, of the log: those that
 * came by then, and were not void by then (ADR 49). Throws where some are dropped.
 *
 * @param after the place behind which they begin; null: with the span
 */
export async function* eventsAsOf(
  context: AskingContext,
  asked: EventsAsOf,
  span: Span,
  after: ListPlace | null = null,
): AsyncGenerator<EventAsOf> {
  if (asked.accounts.length === 0 || span.start >= span.end) return;
  let last = after;
  for (;;) {
    const page = () => selectPage(context, asked, span, last);
    const rest =
      last === null || last.at < span.start ? span : { ...span, start: last.at as Instant };
    const rows = await readKept(context, { eventName: asked.eventName, spans: [rest] }, page);
    for (const row of rows) yield { ...row, at: row.at as Instant, properties: propertiesOf(row) };
    if (rows.length < portion) return;
    last = rows.at(-1) ?? null;
  }
}

interface Row extends ListPlace {
  readonly event_id: string;
  readonly account: string;
  readonly source: string | null;
  readonly properties: string | null;
}

const propertiesOf = ({ properties }: Row): Properties =>
  properties === null ? {} : JSON.parse(properties);

const selectPage = (
  context: AskingContext,
  asked: EventsAsOf,
  span: Span,
  after: ListPlace | null,
): Promise<readonly Row[]> =>
  context.facts.query(usageTables, (from) => {
    const kept = pageOf(context, from, 'event', { asked, span, after });
    const gone = pageOf(context, from, 'voided', { asked, span, after }).where(
      sql<SqlBool>`counted.void_position > ${asked.position}::bigint`,
    );
    return from
      .selectFrom(
        from
          .selectFrom(kept.as('kept'))
          .selectAll()
          .unionAll(from.selectFrom(gone.as('gone')).selectAll())
          .as('both'),
      )
      .selectAll()
      .orderBy('both.at')
      .orderBy('both.position')
      .orderBy('both.number')
      .limit(portion);
  });

interface Page {
  readonly asked: EventsAsOf;
  readonly span: Span;
  readonly after: ListPlace | null;
}

/** The first events of one table behind a place. */
function pageOf(
  { principal }: AskingContext,
  from: From,
  table: 'event' | 'voided',
  { asked, span, after }: Page,
) {
  const name = from
    .selectFrom('event_name')
    .innerJoin('environment', 'environment.number', 'event_name.environment')
    .select('event_name.number')
    .where('environment.environment_id', '=', principal.environmentId)
    .where('event_name.name', '=', asked.eventName);
  const { accounts, position, filters } = asked;
  const events = from.selectFrom('event as counted');
  // Voided events have the same columns, and more.
  const all =
    table === 'event' ? events : (from.selectFrom('voided as counted') as unknown as typeof events);
  return all
    .select(['counted.at', 'counted.position', 'counted.number', 'counted.event_id'])
    .select(['counted.account', 'counted.source', 'counted.properties'])
    .where(sql<SqlBool>`counted.account = any(${sql.val(accounts)}::bigint[])`)
    .where('counted.name', '=', name)
    .where('counted.at', '>=', span.start)
    .where('counted.at', '<', span.end)
    .where(sql<SqlBool>`counted.position <= ${position}::bigint`)
    .where((row) =>
      row.and(
        filters.map(
          ({ key, values }) =>
            sql<SqlBool>`counted.properties ->> ${key}::text = any(${sql.val(values)}::text[])`,
        ),
      ),
    )
    .$if(after !== null, (rest) =>
      rest.where(
        sql<SqlBool>`(counted.at, counted.position, counted.number)
          > (${after?.at}::timestamptz, ${after?.position}::bigint, ${after?.number}::int)`,
      ),
    )
    .orderBy('counted.at')
    .orderBy('counted.position')
    .orderBy('counted.number')
    .limit(portion);
}
