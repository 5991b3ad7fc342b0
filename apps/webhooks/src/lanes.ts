import type { Connection } from '@counterfoil/engine';
import type { Lane } from './fan-out-plan.ts';

/** A lane in which a delivery has been finished. */
export interface FinishedLane extends Lane {
  /** The last delivery that was finished. */
  readonly lastId: string;
}

/**
 * Lets the next delivery of each lane go, unless one that was sent later than the finished one is
 * still under way: then the finished one had been overtaken, and the lane waits for that other.
 * To be called under the queue lock.
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
    `update counterfoil.webhook_deliveries delivery set state = 'pending', next_at = now()
       from (select first_waiting.id
               from unnest($1::text[], $2::text[], $3::bigint[])
                 as finished (endpoint_id, lane, last_id)
              cross join lateral (
                select id from counterfoil.webhook_deliveries d
                 where d.endpoint_id = finished.endpoint_id
                   and d.lane between finished.lane and finished.lane
                   and d.state = 'waiting' order by d.lane, d.id limit 1) first_waiting
              where not exists (
                select from counterfoil.webhook_deliveries d
                 where d.endpoint_id = finished.endpoint_id and d.lane = finished.lane
                   and d.state in ('pending', 'sending') and d.id > finished.last_id
                 offset 0)) released
      where delivery.id = released.id
     returning delivery.endpoint_id as "endpointId", delivery.lane`,
    [
      lanes.map(({ endpointId }) => endpointId),
      lanes.map(({ lane }) => lane),
      lanes.map(({ lastId }) => lastId),
    ],
    { name: 'webhook_release_next' },
  );
  await startGuard(connection, rows);
}

/** Deliveries that one pass lets overtake at most. */
const overtakingMaximum = 500;

/**
 * Lets deliveries overtake whose guard has passed. Gives how many. To be called under the queue
 * lock.
 */
export async function releaseOvertaking(connection: Connection): Promise<number> {
  const { rows } = await connection.query<Lane>(
    `update counterfoil.webhook_deliveries set state = 'pending', next_at = now()
      where id in (select id from counterfoil.webhook_deliveries
                    where state = 'waiting' and next_at <= now()
                    order by next_at limit ${overtakingMaximum})
     returning endpoint_id as "endpointId", lane`,
    [],
    { name: 'webhook_release_overtaking' },
  );
  await startGuard(connection, rows);
  return rows.length;
}

/** Starts the guard of what waits first in each lane now: from now on it waits for the one before. */
async function startGuard(connection: Connection, lanes: readonly Lane[]): Promise<void> {
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
                   and d.state = 'waiting' order by d.lane, d.id limit 1) first_waiting) next
      where delivery.id = next.id`,
    [lanes.map(({ endpointId }) => endpointId), lanes.map(({ lane }) => lane)],
    { name: 'webhook_start_guard' },
  );
}
