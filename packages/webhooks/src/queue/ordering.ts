import type { Connection } from '@counterfoil/engine';
import type { Lane } from './fan-out-plan.ts';

/** A delivery that has come to its end. */
export interface Ended {
  readonly endpointId: string;
  /** Null when no other delivery waits for it. */
  readonly lane: string | null;
  /** Its number among the lane's deliveries that were let go; null when it was still waiting. */
  readonly turn: string | null;
}

/** A lane in which deliveries have ended. */
export interface FinishedLane extends Lane {
  /** The last turn that has ended; null when only deliveries have that were waiting. */
  readonly lastTurn: string | null;
}

/** The lanes of deliveries that have ended, each once. Pure. */
export function lanesOf(ended: readonly Ended[]): readonly FinishedLane[] {
  const lanes = new Map<string, FinishedLane>();
  for (const { endpointId, lane, turn } of ended) {
    if (lane === null) continue;
    const key = `${endpointId}\n${lane}`;
    const lastTurn = laterTurn(lanes.get(key)?.lastTurn ?? null, turn);
    lanes.set(key, { endpointId, lane, lastTurn });
  }
  return [...lanes.values()];
}

function laterTurn(left: string | null, right: string | null): string | null {
  if (left === null || right === null) return left ?? right;
  return BigInt(left) > BigInt(right) ? left : right;
}

/**
 * Lets the next delivery of each lane go, unless one that was let go later than the finished one has
 * not ended: then the finished one had been overtaken, and the lane waits for that other. To be
 * called under the queue lock.
 *
 * `between` says that a lane is itself in a way that leaves one index for the order: by the id alone
 * the planner might go through everything that was ever delivered.
 */
export async function releaseNext(
  connection: Connection,
  lanes: readonly FinishedLane[],
): Promise<void> {
  if (lanes.length === 0) return;
  const { rows } = await connection.query<Lane>(
    `update counterfoil.webhook_deliveries delivery
        set state = 'pending', next_at = now(), turn = nextval('counterfoil.webhook_turns')
       from (select first_waiting.id
               from unnest($1::text[], $2::text[], $3::bigint[])
                 as finished (endpoint_id, lane, last_turn)
              cross join lateral (
                select id from counterfoil.webhook_deliveries d
                 where d.endpoint_id = finished.endpoint_id
                   and d.lane between finished.lane and finished.lane
                   and d.state = 'waiting' order by d.lane, d.event_id limit 1) first_waiting
              where not exists (
                select from counterfoil.webhook_deliveries d
                 where d.endpoint_id = finished.endpoint_id and d.lane = finished.lane
                   and d.state in ('pending', 'sending')
                   and d.turn > coalesce(finished.last_turn, 0)
                 offset 0)) released
      where delivery.id = released.id
     returning delivery.endpoint_id as "endpointId", delivery.lane`,
    [
      lanes.map(({ endpointId }) => endpointId),
      lanes.map(({ lane }) => lane),
      lanes.map(({ lastTurn }) => lastTurn),
    ],
    { prepared: true },
  );
  // Where one that waited has ended, another one is now the first that waits.
  await startGuard(connection, [...rows, ...lanes.filter(({ lastTurn }) => lastTurn === null)]);
}

/** Deliveries that one pass lets overtake, or puts off, at most. */
const overtakingMaximum = 500;
/** Seconds after which an overtaking that was put off is looked at again, if the guard is longer. */
const putOffSeconds = 10;

/**
 * Lets deliveries overtake whose guard has passed. Gives how many. To be called under the queue
 * lock.
 *
 * What is overtaken has to have failed and to wait for its next attempt. One that was never tried, is
 * due or is under way waits for a worker, for room, for the rate or for an endpoint that is held back,
 * and so would those behind it: to let them go as well would only put an end to the order. What a
 * recovery has put before a delivery that waits goes first.
 */
export async function releaseOvertaking(connection: Connection): Promise<number> {
  const { rows } = await connection.query<Lane & { readonly state: string }>(
    `with passed as (
       select id, guard_seconds, exists (
                select from counterfoil.webhook_deliveries d
                 where d.endpoint_id = w.endpoint_id and d.lane = w.lane
                   and d.state in ('pending', 'sending')
                   and (d.state = 'sending' or d.attempt = 0 or d.next_at <= now())
                 offset 0)
              or w.id <> (
                select id from counterfoil.webhook_deliveries d
                 where d.endpoint_id = w.endpoint_id and d.lane between w.lane and w.lane
                   and d.state = 'waiting' order by d.lane, d.event_id limit 1) as is_put_off
         from counterfoil.webhook_deliveries w
        where state = 'waiting' and next_at <= now()
        order by next_at limit ${overtakingMaximum})
     update counterfoil.webhook_deliveries delivery
        set state = case when is_put_off then 'waiting' else 'pending' end,
            turn = case when is_put_off then null else nextval('counterfoil.webhook_turns') end,
            next_at = case when is_put_off
              then now() + least(passed.guard_seconds, ${putOffSeconds}) * interval '1 second'
              else now() end
       from passed where delivery.id = passed.id
     returning endpoint_id as "endpointId", lane, state`,
    [],
    { prepared: true },
  );
  const overtaking = rows.filter(({ state }) => state === 'pending');
  await startGuard(connection, overtaking);
  return overtaking.length;
}

/**
 * Starts the guard of what waits first in each lane now: from now on it waits for the one before. To
 * be called under the queue lock.
 */
export async function startGuard(connection: Connection, lanes: readonly Lane[]): Promise<void> {
  if (lanes.length === 0) return;
  await connection.query(
    `update counterfoil.webhook_deliveries delivery
        set next_at = coalesce(now() + guard_seconds * interval '1 second', 'infinity')
       from (select first_waiting.id
               from unnest($1::text[], $2::text[]) as open_lane (endpoint_id, lane)
              cross join lateral (
                select id from counterfoil.webhook_deliveries d
                 where d.endpoint_id = open_lane.endpoint_id
                   and d.lane between open_lane.lane and open_lane.lane
                   and d.state = 'waiting' order by d.lane, d.event_id limit 1) first_waiting) next
      where delivery.id = next.id`,
    [lanes.map(({ endpointId }) => endpointId), lanes.map(({ lane }) => lane)],
    { prepared: true },
  );
}

/** Stuck lanes that are found at once at most. */
const stuckMaximum = 500;

/**
 * Lanes in which deliveries wait although none is due or under way. Every change of the queue is one
 * transaction, so a lane that looks like that to a single statement is like that.
 */
export async function stuckLanes(connection: Connection): Promise<readonly Lane[]> {
  const { rows } = await connection.query<Lane>(
    `with recursive open_lane (endpoint_id, lane) as (
       (select endpoint_id, lane from counterfoil.webhook_deliveries
         where state in ('pending', 'waiting', 'sending') and lane is not null
         order by endpoint_id, lane limit 1)
       union all
       select later.endpoint_id, later.lane
         from open_lane previous
        cross join lateral (
          select endpoint_id, lane from counterfoil.webhook_deliveries
           where state in ('pending', 'waiting', 'sending') and lane is not null
             and (endpoint_id, lane) > (previous.endpoint_id, previous.lane)
           order by endpoint_id, lane limit 1) later
     )
     select endpoint_id as "endpointId", lane from open_lane
      where not exists (select from counterfoil.webhook_deliveries d
                         where d.endpoint_id = open_lane.endpoint_id and d.lane = open_lane.lane
                           and d.state in ('pending', 'sending') offset 0)
      limit ${stuckMaximum}`,
    [],
    { prepared: true },
  );
  return rows;
}
