import { arrayText, type FactSelect, type RequestContext } from '@counterfoil/engine/define';
import type { Instant } from '@counterfoil/kernel';
import { type SqlBool, sql } from 'kysely';
import type { UsageTables } from '../table-definitions.ts';
import { usageTables } from '../tables.ts';
import type { KnownUsage } from '../usage-event.ts';
import type { Backfill } from './backfill.ts';
import type { BackfillEventsQuery } from './schema.ts';
import type { BackfillTables, Refusal } from './tables.ts';

type Reads = Pick<RequestContext, 'facts' | 'principal'>;
type From = Parameters<FactSelect<UsageTables, unknown>>[0];

/** A backfill as the tables show it. */
export type BackfillRow = Omit<BackfillTables['backfill'], 'number' | 'environment'>;

const shownColumns = [
  ...(['backfill.id', 'source', 'start_time', 'end_time', 'description', 'status'] as const),
  ...(['opened_at', 'opened_position', 'ended_at', 'ended_position'] as const),
  ...(['waiting', 'counted', 'repeated', 'refused'] as const),
] as const;

const own = (from: From, { principal }: Reads) =>
  from
    .selectFrom('backfill')
    .innerJoin('environment', 'environment.number', 'backfill.environment')
    .where('environment.environment_id', '=', principal.environmentId);

/** A backfill as the tables show it; null while they do not. */
export async function shownBackfill(reads: Reads, id: string): Promise<BackfillRow | null> {
  const rows = await reads.facts.query(usageTables, (from) =>
    own(from, reads).select(shownColumns).where('backfill.id', '=', id),
  );
  return rows[0] ?? null;
}

interface ListedState {
  readonly status?: Backfill['status'] | undefined;
}

/** A page of the backfills of the environment, newest first. */
export const listedBackfills = (
  reads: Reads,
  { status, limit, offset }: ListedState & { readonly limit: number; readonly offset: number },
): Promise<readonly BackfillRow[]> =>
  reads.facts.query(usageTables, (from) =>
    own(from, reads)
      .$if(status !== undefined, (rows) => rows.where('status', '=', status ?? 'open'))
      .select(shownColumns)
      .orderBy('opened_position', 'desc')
      .limit(limit)
      .offset(offset),
  );

/** The number of backfills of the environment, or of those in a state. */
export async function countOfBackfills(reads: Reads, { status }: ListedState): Promise<number> {
  const [row] = await reads.facts.query(usageTables, (from) =>
    own(from, reads)
      .$if(status !== undefined, (rows) => rows.where('status', '=', status ?? 'open'))
      .select((count) => count.fn.countAll<string>().as('count')),
  );
  return Number(row?.count ?? 0);
}

const waitingIn = (from: From, reads: Reads, backfill: string) =>
  own(from, reads)
    .innerJoin('waiting_event as waiting', 'waiting.backfill', 'backfill.number')
    .where('backfill.id', '=', backfill);

/** The number of events that wait in a backfill, as far as the tables tell. Waits for nothing. */
export async function waitingCount(reads: Reads, id: string): Promise<number> {
  const [row] = await reads.facts.queryAtOnce(usageTables, (from) =>
    own(from, reads).select('waiting').where('backfill.id', '=', id),
  );
  return row?.waiting ?? 0;
}

/** The waiting events with some ids, by the hash of the id. Waits for nothing. */
export async function waitingWith(
  reads: Reads,
  backfill: string,
  ids: readonly string[],
): Promise<ReadonlyMap<string, KnownUsage>> {
  const rows = await reads.facts.queryAtOnce(usageTables, (from) =>
    waitingIn(from, reads, backfill)
      .select([
        sql<string>`replace(waiting.id::text, '-', '')`.as('id'),
        sql<string>`replace(waiting.content::text, '-', '')`.as('content'),
        'waiting.at',
      ])
      .where(sql<SqlBool>`waiting.id = any(${sql.val(arrayText(ids))}::uuid[])`)
      .limit(ids.length),
  );
  return new Map(rows.map(({ id, content, at }) => [id, { content, timestamp: at as Instant }]));
}

/** An event of a backfill, as it is listed. */
export interface ListedEvent {
  readonly position: string;
  readonly number: number;
  readonly event_id: string;
  readonly at: string;
  readonly name: string | null;
  readonly external_id: string | null;
  readonly properties: string | null;
  readonly reason: Refusal | null;
}

/** The waiting or the refused events of a backfill, in the order of the log: one more than a page has. */
export const listedEvents = (
  reads: Reads,
  backfill: string,
  { state, page_size, iter_last_key = '0.0' }: BackfillEventsQuery,
): Promise<readonly ListedEvent[]> => {
  const [position = '', number = ''] = iter_last_key.split('.');
  const after = sql<SqlBool>`(one.position, one.number) > (${position}::bigint, ${number}::int)`;
  const none = sql<null>`null`;
  return reads.facts.query<UsageTables, ListedEvent>(usageTables, (from) =>
    state === 'waiting'
      ? own(from, reads)
          .innerJoin('waiting_event as one', 'one.backfill', 'backfill.number')
          .where('backfill.id', '=', backfill)
          .where(after)
          .select(['one.position', 'one.number', 'one.event_id', 'one.at'])
          .select([
            'one.name',
            'one.external_id',
            sql<string>`one.properties::text`.as('properties'),
          ])
          .select(none.as('reason'))
          .orderBy('one.position')
          .orderBy('one.number')
          .limit(page_size + 1)
      : own(from, reads)
          .innerJoin('refused_event as one', 'one.backfill', 'backfill.number')
          .where('backfill.id', '=', backfill)
          .where(after)
          .select(['one.position', 'one.number', 'one.event_id', 'one.at', 'one.reason'])
          .select([none.as('name'), none.as('external_id'), none.as('properties')])
          .orderBy('one.position')
          .orderBy('one.number')
          .limit(page_size + 1),
  );
};

/** The waiting events, each beside the event that is there already under its id, if there is one. */
const besideKnown = (from: From, reads: Reads, backfill: string) =>
  waitingIn(from, reads, backfill).leftJoin('identity', (join) =>
    join
      .onRef('identity.environment', '=', 'waiting.environment')
      .onRef('identity.id', '=', 'waiting.id'),
  );

/** The fate of the waiting events, were the backfill closed now. */
export interface WaitingTotals {
  readonly counted: number;
  readonly repeated: number;
  readonly conflicts: number;
  /** Customers and names of those that would count. */
  readonly groups: number;
}

export async function waitingTotals(reads: Reads, backfill: string): Promise<WaitingTotals> {
  const [row] = await reads.facts.query(usageTables, (from) =>
    besideKnown(from, reads, backfill).select([
      sql<number>`(count(*) filter (where identity.id is null))::int`.as('counted'),
      sql<number>`(count(*) filter (where ${isSame}))::int`.as('repeated'),
      sql<number>`(count(*) filter (where identity.id is not null and not ${isSame}))::int`.as(
        'conflicts',
      ),
      sql<number>`(count(distinct (waiting.external_id, waiting.name))
        filter (where identity.id is null))::int`.as('groups'),
    ]),
  );
  return row ?? { counted: 0, repeated: 0, conflicts: 0, groups: 0 };
}

const isSame = sql`(identity.content = waiting.content and identity.at = waiting.at)`;

/** Events that would count, of an external id and a name. */
export interface WaitingGroup {
  readonly external_id: string;
  readonly event_name: string;
  readonly events: number;
  /** The customer who has the external id now. */
  readonly customer_id: string | null;
}

/** A page of the customers and names of the events that would count, in their order. */
export const waitingGroups = (
  reads: Reads,
  backfill: string,
  { limit, offset }: { readonly limit: number; readonly offset: number },
): Promise<readonly WaitingGroup[]> =>
  reads.facts.query(usageTables, (from) =>
    from
      .selectFrom(
        besideKnown(from, reads, backfill)
          .where('identity.id', 'is', null)
          .select(['waiting.environment', 'waiting.external_id', 'waiting.name as event_name'])
          .select(sql<number>`count(*)::int`.as('events'))
          .groupBy(['waiting.environment', 'waiting.external_id', 'waiting.name'])
          .orderBy('waiting.external_id')
          .orderBy('waiting.name')
          .limit(limit)
          .offset(offset)
          .as('found'),
      )
      .leftJoinLateral(
        (holder) =>
          holder
            .selectFrom('account')
            .select('account.customer_id')
            .whereRef('account.environment', '=', 'found.environment')
            .whereRef('account.external_id', '=', 'found.external_id')
            .orderBy('account.generation', 'desc')
            .limit(1)
            .as('holder'),
        (join) => join.onTrue(),
      )
      .select(['found.external_id', 'found.event_name', 'found.events', 'holder.customer_id'])
      .orderBy('found.external_id')
      .orderBy('found.event_name'),
  );

/** A waiting event, as far as it would be counted. */
export interface WaitingRow {
  readonly at: string;
  readonly position: string;
  readonly number: number;
  readonly properties: string | null;
}

/** Those of a group that would count, in the order of their time and of the log, from one on. */
export const waitingOf = (
  reads: Reads,
  backfill: string,
  { external_id, event_name }: Pick<WaitingGroup, 'external_id' | 'event_name'>,
  { after, limit }: { readonly after: WaitingRow | null; readonly limit: number },
): Promise<readonly WaitingRow[]> =>
  reads.facts.query(usageTables, (from) => {
    const rows = besideKnown(from, reads, backfill)
      .where('identity.id', 'is', null)
      .where('waiting.external_id', '=', external_id)
      .where('waiting.name', '=', event_name)
      .select(['waiting.at', 'waiting.position', 'waiting.number'])
      .select(sql<string | null>`waiting.properties::text`.as('properties'))
      .orderBy('waiting.at')
      .orderBy('waiting.position')
      .orderBy('waiting.number')
      .limit(limit);
    if (after === null) return rows;
    const place = sql`(${after.at}::timestamptz, ${after.position}::bigint, ${after.number}::int)`;
    return rows.where(sql<SqlBool>`(waiting.at, waiting.position, waiting.number) > ${place}`);
  });
