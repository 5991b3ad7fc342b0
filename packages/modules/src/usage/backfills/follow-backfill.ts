import type { FillSession } from '@counterfoil/engine/define';
import { type Instant, invariant, type Stamped } from '@counterfoil/kernel';
import type { PlacedUsage } from '../placed-usage.ts';
import type { BackfillEvent } from './backfill.ts';

/** An event of a backfill and where it stands. */
export interface BackfillChange {
  readonly environment: number;
  readonly environmentId: string;
  readonly id: string;
  readonly position: string;
  readonly event: Stamped<BackfillEvent>;
}

/** Writes usage to the tables that are counted, as if it came just now. */
type Write = (placed: readonly PlacedUsage[]) => Promise<void>;

/** Waiting events that are held in memory at once while they are counted. */
const portion = 5_000;

/** Follows the life of a backfill. */
export async function followBackfill(
  session: FillSession,
  change: BackfillChange,
  write: Write,
): Promise<void> {
  const { event } = change;
  switch (event.type) {
    case 'BackfillOpened':
      return await open(session, change, event.data);
    case 'BackfillClosed':
      return await close(session, change, write);
    case 'BackfillReverted':
      return await revert(session, change);
    default:
      event satisfies never;
  }
}

async function open(
  { query, schema }: FillSession,
  { environment, id, position, event }: BackfillChange,
  {
    source,
    start_time,
    end_time,
    description,
  }: Extract<BackfillEvent, { type: 'BackfillOpened' }>['data'],
): Promise<void> {
  await query(
    `insert into ${schema}.backfill
       (environment, id, source, start_time, end_time, description, status, opened_at, opened_position)
     values ($1, $2, $3, $4, $5, $6, 'open', $7, $8)`,
    [environment, id, source, start_time, end_time, description, event.stamp.occurred_at, position],
  );
}

async function revert(session: FillSession, change: BackfillChange): Promise<void> {
  const backfill = await numberOf(session, change);
  await removeWaiting(session, backfill);
  await end(session, change, 'reverted', { counted: 0, repeated: 0, refused: 0 });
}

/**
 * Counts what waits, as usage that came here in the order in which it was sent. What is there already by its id is left out,
 * and what contradicts it is listed.
 */
async function close(session: FillSession, change: BackfillChange, write: Write): Promise<void> {
  const backfill = await numberOf(session, change);
  const refused = await refuseConflicts(session, backfill);
  const repeated = await removeRepeated(session, backfill);
  let counted = 0;
  let last: Waiting | null = null;
  for (;;) {
    const rows: readonly Waiting[] = await waitingAfter(session, backfill, last);
    await write(rows.map((row, index) => placedHere(change, row, counted + index)));
    counted += rows.length;
    last = rows.at(-1) ?? null;
    if (rows.length < portion) break;
  }
  await removeWaiting(session, backfill);
  await end(session, change, 'closed', { counted, repeated, refused });
}

interface Waiting {
  readonly id: string;
  readonly content: string;
  readonly at: Instant;
  readonly position: string;
  readonly number: number;
  readonly name: string;
  readonly external_id: string;
  readonly event_id: string;
  readonly source: string;
  readonly properties: string | null;
}

/** A waiting event in the place in the log where its backfill is closed. */
function placedHere(
  { environmentId, position, event }: BackfillChange,
  row: Waiting,
  number: number,
): PlacedUsage {
  const { id, content, properties } = row;
  return {
    event: {
      event_id: row.event_id,
      event_name: row.name,
      external_customer_id: row.external_id,
      source: row.source,
      timestamp: row.at,
      ...(properties === null ? {} : { properties: JSON.parse(properties) }),
    },
    identity: { id, content },
    properties,
    environmentId,
    recordedAt: event.stamp.occurred_at,
    position,
    number,
  };
}

async function numberOf(
  { query, schema }: FillSession,
  { environment, id }: BackfillChange,
): Promise<number> {
  const { rows } = await query<{ readonly number: number }>(
    `select number from ${schema}.backfill where environment = $1 and id = $2`,
    [environment, id],
  );
  const [row] = rows;
  invariant(row, `the backfill ${id} ended before it was opened`);
  return row.number;
}

async function waitingAfter(
  { query, schema }: FillSession,
  backfill: number,
  last: Waiting | null,
): Promise<readonly Waiting[]> {
  const { rows } = await query<Waiting>(
    `select replace(id::text, '-', '') as id, replace(content::text, '-', '') as content, at, position,
            number, name, external_id, event_id, source, properties::text as properties
       from ${schema}.waiting_event
      where backfill = $1 and (position, number) > ($2::bigint, $3::int)
      order by position, number limit ${portion}`,
    [backfill, last?.position ?? '0', last?.number ?? 0],
  );
  return rows;
}

/** Lists the events whose id is there with other contents; gives how many they are. */
async function refuseConflicts({ query, schema }: FillSession, backfill: number): Promise<number> {
  const { count } = await query(
    `with gone as (
       delete from ${schema}.waiting_event as waiting using ${schema}.identity
        where waiting.backfill = $1 and identity.environment = waiting.environment
          and identity.id = waiting.id
          and (identity.content, identity.at) is distinct from (waiting.content, waiting.at)
        returning waiting.environment, backfill, waiting.position, waiting.number, event_id, waiting.at)
     insert into ${schema}.refused_event (environment, backfill, position, number, event_id, at, reason)
     select environment, backfill, position, number, event_id, at, 'conflict' from gone`,
    [backfill],
  );
  return count;
}

/** Takes the events out that are there already; gives how many they are. */
async function removeRepeated({ query, schema }: FillSession, backfill: number): Promise<number> {
  const { count } = await query(
    `delete from ${schema}.waiting_event as waiting using ${schema}.identity
      where waiting.backfill = $1 and identity.environment = waiting.environment
        and identity.id = waiting.id`,
    [backfill],
  );
  return count;
}

async function removeWaiting({ query, schema }: FillSession, backfill: number): Promise<void> {
  await query(`delete from ${schema}.waiting_event where backfill = $1`, [backfill]);
}

async function end(
  { query, schema }: FillSession,
  { environment, id, position, event }: BackfillChange,
  status: 'closed' | 'reverted',
  { counted, repeated, refused }: Readonly<Record<'counted' | 'repeated' | 'refused', number>>,
): Promise<void> {
  await query(
    `update ${schema}.backfill
        set status = $3, ended_at = $4, ended_position = $5, waiting = 0, counted = $6,
            repeated = repeated + $7, refused = refused + $8
      where environment = $1 and id = $2`,
    [environment, id, status, event.stamp.occurred_at, position, counted, repeated, refused],
  );
}
