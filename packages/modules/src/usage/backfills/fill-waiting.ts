import { arrayText, copyLine, type FillSession } from '@counterfoil/engine/define';
import type { PlacedUsage } from '../placed-usage.ts';
import { isRepetition, type KnownUsage } from '../usage-event.ts';
import type { Backfill } from './backfill.ts';
import { backfillLimits } from './limits.ts';
import type { Refusal } from './tables.ts';

interface Target {
  readonly number: number;
  readonly status: Backfill['status'];
  readonly waiting: number;
}

interface Bounds {
  readonly environment: number;
  /** Events that may wait in one backfill. */
  readonly most: number;
}

/**
 * Lets events wait in their backfill: each id once, the first in the log, up to the limit. What repeats it is counted,
 * what contradicts it, comes when the backfill has ended or goes beyond the limit is listed.
 */
export async function fillWaiting(
  session: FillSession,
  environment: number,
  placed: readonly PlacedUsage[],
  most: number = backfillLimits.events,
): Promise<void> {
  const byBackfill = Map.groupBy(placed, ({ event }) => event.backfill_id ?? '');
  for (const [id, own] of byBackfill) {
    const { rows } = await session.query<Target>(
      `select number, status, waiting from ${session.schema}.backfill
        where environment = $1 and id = $2`,
      [environment, id],
    );
    const [target] = rows;
    // Nothing is recorded for a backfill before it is opened, and none is ever removed.
    if (!target) throw new Error(`usage came for the backfill ${id}, which was never opened`);
    await fillOne(session, { ...target, environment, most }, own);
  }
}

async function fillOne(
  session: FillSession,
  { environment, most, number: backfill, status, waiting }: Target & Bounds,
  placed: readonly PlacedUsage[],
): Promise<void> {
  const known = status === 'open' ? await waitingAmong(session, backfill, placed) : new Map();
  const fresh: string[] = [];
  const refused: string[] = [];
  let repeated = 0;
  const refuse = ({ position, number, event }: PlacedUsage, reason: Refusal): void => {
    const { event_id, timestamp } = event;
    refused.push(copyLine([environment, backfill, position, number, event_id, timestamp, reason]));
  };
  for (const one of placed) {
    const { event, identity } = one;
    const first = known.get(identity.id);
    if (status !== 'open') refuse(one, 'not_open');
    else if (first && isRepetition(first, identity, event)) repeated += 1;
    else if (first) refuse(one, 'conflict');
    else if (waiting + fresh.length >= most) refuse(one, 'limit_reached');
    else {
      known.set(identity.id, { content: identity.content, timestamp: event.timestamp });
      fresh.push(waitingLine(environment, backfill, one));
    }
  }
  await session.copy('waiting_event', waitingColumns, fresh);
  await session.copy('refused_event', refusedColumns, refused);
  await session.query(
    `update ${session.schema}.backfill
        set waiting = waiting + $2, repeated = repeated + $3, refused = refused + $4
      where number = $1`,
    [backfill, fresh.length, repeated, refused.length],
  );
}

async function waitingAmong(
  { query, schema }: FillSession,
  backfill: number,
  placed: readonly PlacedUsage[],
): Promise<Map<string, KnownUsage>> {
  const { rows } = await query<KnownUsage & { readonly id: string }>(
    `select replace(id::text, '-', '') as id, replace(content::text, '-', '') as content, at as timestamp
       from ${schema}.waiting_event where backfill = $1 and id = any($2::uuid[])`,
    [backfill, arrayText(placed.map(({ identity }) => identity.id))],
  );
  return new Map(rows.map(({ id, ...usage }) => [id, usage]));
}

const waitingLine = (
  environment: number,
  backfill: number,
  { event, identity, position, number, properties }: PlacedUsage,
): string =>
  copyLine([
    environment,
    backfill,
    identity.id,
    identity.content,
    event.timestamp,
    position,
    number,
    event.event_name,
    event.external_customer_id,
    event.event_id,
    event.source ?? '',
    properties,
  ]);

const waitingColumns = [
  ...['environment', 'backfill', 'id', 'content', 'at', 'position', 'number', 'name'],
  ...['external_id', 'event_id', 'source', 'properties'],
];
const refusedColumns = [
  ...['environment', 'backfill', 'position', 'number', 'event_id', 'at', 'reason'],
];
