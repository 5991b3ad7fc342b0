import { arrayText, type RequestContext } from '@counterfoil/engine/define';
import {
  earlierOf,
  type Instant,
  invariant,
  lastInstant,
  laterOf,
  Problem,
  shiftedBy,
} from '@counterfoil/kernel';
import { type Expression, type ExpressionBuilder, type SqlBool, sql } from 'kysely';
import type { KnownEvents } from './known-lookups.ts';
import { keyOf, type ListPlace, placeOf } from './list-place.ts';
import { readWithDropped } from './retention/refuse-dropped.ts';
import type { EventsQuery, UsageEventResource } from './schema.ts';
import type { UsageTables } from './table-definitions.ts';
import { usageTables } from './tables.ts';
import { hashOfId } from './usage-event.ts';

/**
 * The events with some ids that the tables show already, by the hash of the id. Waits for nothing, and gives none
 * while the tables cannot be read: the order of the log decides in the end.
 */
export async function knownUsage(
  context: RequestContext,
  ids: readonly string[],
): Promise<KnownEvents> {
  const rows = await selectKnown(context, ids).catch((error: unknown) => {
    if (error instanceof Problem && error.code === 'service_unavailable') return [];
    throw error;
  });
  return new Map(rows.map(({ id, content, at }) => [id, { content, timestamp: at as Instant }]));
}

const selectKnown = ({ facts, principal }: RequestContext, ids: readonly string[]) =>
  facts.queryAtOnce(usageTables, (from) =>
    from
      .selectFrom('identity')
      .innerJoin('environment', 'environment.number', 'identity.environment')
      .select([
        sql<string>`replace(identity.id::text, '-', '')`.as('id'),
        sql<string>`replace(content::text, '-', '')`.as('content'),
        'identity.at',
      ])
      .where('environment.environment_id', '=', principal.environmentId)
      .where(sql<SqlBool>`identity.id = any(${sql.val(arrayText(ids))}::uuid[])`)
      .limit(ids.length),
  );

/** The time and the place in the log of the event that has come under an id; null for none. */
export async function placeOfUsage(
  { facts, principal }: RequestContext,
  id: string,
): Promise<{ readonly at: Instant; readonly position: string } | null> {
  const rows = await facts.query(usageTables, (from) =>
    from
      .selectFrom('identity')
      .innerJoin('environment', 'environment.number', 'identity.environment')
      .select(['identity.at', 'identity.position'])
      .where('environment.environment_id', '=', principal.environmentId)
      .where('identity.id', '=', sql<string>`${hashOfId(id)}::uuid`),
  );
  const [row] = rows;
  return row ? { at: row.at as Instant, position: row.position } : null;
}

/** A page of usage events, as they are listed. */
export interface EventsPage {
  readonly events: UsageEventResource[];
  readonly has_more: boolean;
  readonly iter_first_key?: string;
  readonly iter_last_key?: string;
  /** Months of which some events are counted, and no longer listed. */
  readonly dropped_months?: readonly string[];
}

/** A usage event with the names that stand beside it. */
export interface EventRow {
  readonly event_id: string;
  readonly event_name: string;
  readonly external_id: string;
  readonly customer_id: string | null;
  readonly at: string;
  readonly source: string | null;
  readonly properties: string | null;
}

/** Lists usage events by their timestamp, newest first unless the query says otherwise. */
export async function listEvents(context: RequestContext, query: EventsQuery): Promise<EventsPage> {
  const { listed, has_more, ...dropped } = await eventsWithKeys(context, query);
  const [first, last] = [listed[0], listed.at(-1)];
  return {
    events: listed.map(({ event }) => event),
    has_more,
    ...(first && last ? { iter_first_key: first.key, iter_last_key: last.key } : {}),
    ...dropped,
  };
}

/** A page of usage events, each with its place in every list. */
export async function eventsWithKeys(context: RequestContext, query: EventsQuery) {
  const { environmentId } = context.principal;
  const read = () => selectEvents(context, query);
  const { rows, dropped } = await readWithDropped(context, read, (found) =>
    coveredBy(query, found),
  );
  const listed = rows
    .slice(0, query.page_size)
    .map((row) => ({ event: eventView(environmentId, row), key: keyOf(row) }));
  return {
    listed,
    has_more: rows.length > listed.length,
    ...(dropped.length === 0 ? {} : { dropped_months: dropped }),
  };
}

/** The stretch of time of which a page shows all that is listed: up to its last event, where more follow. */
function coveredBy(query: EventsQuery, rows: readonly Pick<EventRow, 'at'>[]) {
  const { event_name: eventName = null, order, page_size, iter_last_key: key } = query;
  const from = key === undefined ? null : placeOf(key);
  const to = rows.length > page_size ? rows[page_size - 1] : undefined;
  const [first, last] = order === 'asc' ? [from, to] : [to, from];
  const start = laterOf(query.start_time ?? firstInstant, (first?.at ?? firstInstant) as Instant);
  const end = earlierOf(
    query.end_time ?? lastInstant,
    last ? shiftedBy(last.at as Instant, 1) : lastInstant,
  );
  return { eventName, spans: [{ start, end }] };
}

const firstInstant = '0001-01-01T00:00:00.000Z' as Instant;

/** A usage event as it is listed. */
export const eventView = (environment_id: string, row: EventRow): UsageEventResource => ({
  id: row.event_id,
  event_name: row.event_name,
  external_customer_id: row.external_id,
  customer_id: row.customer_id,
  environment_id,
  timestamp: row.at,
  source: row.source ?? '',
  properties: row.properties === null ? {} : JSON.parse(row.properties),
});

type Joined = ExpressionBuilder<UsageTables, 'event' | 'account' | 'event_name' | 'environment'>;

const selectEvents = ({ facts, principal }: RequestContext, query: EventsQuery) =>
  facts.query(usageTables, (from) =>
    from
      .selectFrom('event')
      .innerJoin('environment', 'environment.number', 'event.environment')
      .innerJoin('account', 'account.number', 'event.account')
      .innerJoin('event_name', 'event_name.number', 'event.name')
      .select([
        'event.event_id',
        'event_name.name as event_name',
        'account.external_id',
        'account.customer_id',
        'event.at',
        'event.position',
        'event.number',
        'event.source',
        'event.properties',
      ])
      .where('environment.environment_id', '=', principal.environmentId)
      .where((row) => row.and(conditionsOf(row, query)))
      .orderBy('event.at', query.order)
      .orderBy('event.position', query.order)
      .orderBy('event.number', query.order)
      .limit(query.page_size + 1),
  );

function conditionsOf(row: Joined, query: EventsQuery): Expression<SqlBool>[] {
  const { event_name, external_customer_id, event_id, source, start_time, end_time } = query;
  return [
    ...(event_name === undefined ? [] : [row('event_name.name', '=', event_name)]),
    ...(external_customer_id === undefined
      ? []
      : [row('account.external_id', '=', external_customer_id)]),
    ...(event_id === undefined ? [] : [row('event.event_id', '=', event_id)]),
    ...(source === undefined ? [] : [row('event.source', '=', source)]),
    ...(start_time === undefined ? [] : [row('event.at', '>=', start_time)]),
    ...(end_time === undefined ? [] : [row('event.at', '<', end_time)]),
    ...Object.entries(query.property_filters ?? {}).map(
      ([name, values]) =>
        sql<SqlBool>`event.properties ->> ${name} = any(${sql.val(values)}::text[])`,
    ),
    ...(query.iter_last_key === undefined ? [] : [afterKey(query.iter_last_key, query.order)]),
  ];
}

function afterKey(key: string, order: 'asc' | 'desc'): Expression<SqlBool> {
  const place = placeOf(key);
  invariant(place, 'the schema takes no other keys');
  return beyond(place, order === 'desc' ? '<' : '>');
}

const beyond = ({ at, position, number }: ListPlace, side: '<' | '>'): Expression<SqlBool> =>
  sql<SqlBool>`(event.at, event.position, event.number) ${sql.raw(side)}
    (${at}::timestamptz, ${position}::bigint, ${number}::int)`;
