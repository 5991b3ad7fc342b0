import type { Connection } from '@counterfoil/engine';
import { groupId, type OrderedGroup } from './fan-out-plan.ts';
import { withQueueLock } from './queue-lock.ts';

/** A delivery that has come to its end. */
export interface Ended {
  readonly endpointId: string;
  /** Null when no other delivery waits for it. */
  readonly orderingKey: string | null;
  /** Rises with every delivery that is let go; null when this one was still waiting. */
  readonly releaseNumber: string | null;
}

/** An ordered group in which deliveries have ended. */
export interface EndedGroup extends OrderedGroup {
  /** The greatest release number that has ended; null when only deliveries have that were waiting. */
  readonly lastRelease: string | null;
}

/** The ordered groups of deliveries that have ended, each once. Pure. */
export function endedGroups(ended: readonly Ended[]): readonly EndedGroup[] {
  const groups = new Map<string, EndedGroup>();
  for (const { endpointId, orderingKey, releaseNumber } of ended) {
    if (orderingKey === null) continue;
    const key = groupId({ endpointId, orderingKey });
    const lastRelease = laterRelease(groups.get(key)?.lastRelease ?? null, releaseNumber);
    groups.set(key, { endpointId, orderingKey, lastRelease });
  }
  return [...groups.values()];
}

function laterRelease(left: string | null, right: string | null): string | null {
  if (left === null || right === null) return left ?? right;
  return BigInt(left) > BigInt(right) ? left : right;
}

/**
 * Lets the next delivery of each group go, unless one that was let go later than the one that ended
 * has not ended: then the one that ended had been overtaken, and the group waits for that other. To
 * be called under the queue lock.
 *
 * `between` says that a key is itself in a way that leaves one index for the order: by the id alone
 * the planner might go through everything that was ever delivered.
 */
export async function releaseNext(
  connection: Connection,
  groups: readonly EndedGroup[],
): Promise<void> {
  if (groups.length === 0) return;
  const { rows } = await connection.query<OrderedGroup>(
    `update counterfoil.webhook_deliveries delivery
        set state = 'pending', next_at = now(), release_number = nextval('counterfoil.webhook_release_numbers')
       from (select first_waiting.id
               from unnest($1::text[], $2::text[], $3::bigint[])
                 as ended (endpoint_id, ordering_key, last_release)
              cross join lateral (
                select id from counterfoil.webhook_deliveries d
                 where d.endpoint_id = ended.endpoint_id
                   and d.ordering_key between ended.ordering_key and ended.ordering_key
                   and d.state = 'waiting' order by d.ordering_key, d.event_id limit 1) first_waiting
              where not exists (
                select from counterfoil.webhook_deliveries d
                 where d.endpoint_id = ended.endpoint_id and d.ordering_key = ended.ordering_key
                   and d.state in ('pending', 'sending')
                   and d.release_number > coalesce(ended.last_release, 0)
                 offset 0)) released
      where delivery.id = released.id
     returning delivery.endpoint_id as "endpointId", delivery.ordering_key as "orderingKey"`,
    [
      groups.map(({ endpointId }) => endpointId),
      groups.map(({ orderingKey }) => orderingKey),
      groups.map(({ lastRelease }) => lastRelease),
    ],
    { prepared: true },
  );
  // Where one that waited has ended, another one is now the first that waits.
  await startHeadOfLine(connection, [
    ...rows,
    ...groups.filter(({ lastRelease }) => lastRelease === null),
  ]);
}

/** Deliveries that one pass lets overtake, or puts off, at most. */
const overtakingMaximum = 500;
/** Seconds after which an overtaking that was put off is looked at again, if its time-out is longer. */
const putOffSeconds = 10;

/**
 * Lets deliveries overtake whose head-of-line time-out has passed. Returns how many. To be called under the queue
 * lock.
 *
 * What is overtaken has to have failed and to wait for its next attempt. One that was never tried, is
 * due or is under way waits for a worker, for room, for the rate or for an endpoint that is held back,
 * and so would those behind it: to let them go as well would only put an end to the order. What a
 * recovery has put before a delivery that waits goes first.
 */
export async function releaseOvertaking(connection: Connection): Promise<number> {
  const { rows } = await connection.query<OrderedGroup & { readonly state: string }>(
    `with passed as (
       select id, head_of_line_seconds, exists (
                select from counterfoil.webhook_deliveries d
                 where d.endpoint_id = w.endpoint_id and d.ordering_key = w.ordering_key
                   and d.state in ('pending', 'sending')
                   and (d.state = 'sending' or d.attempt = 0 or d.next_at <= now())
                 offset 0)
              or w.id <> (
                select id from counterfoil.webhook_deliveries d
                 where d.endpoint_id = w.endpoint_id and d.ordering_key between w.ordering_key and w.ordering_key
                   and d.state = 'waiting' order by d.ordering_key, d.event_id limit 1) as is_put_off
         from counterfoil.webhook_deliveries w
        where state = 'waiting' and next_at <= now()
        order by next_at limit ${overtakingMaximum})
     update counterfoil.webhook_deliveries delivery
        set state = case when is_put_off then 'waiting' else 'pending' end,
            release_number = case when is_put_off then null else nextval('counterfoil.webhook_release_numbers') end,
            next_at = case when is_put_off
              then now() + least(passed.head_of_line_seconds, ${putOffSeconds}) * interval '1 second'
              else now() end
       from passed where delivery.id = passed.id
     returning endpoint_id as "endpointId", ordering_key as "orderingKey", state`,
    [],
    { prepared: true },
  );
  const overtaking = rows.filter(({ state }) => state === 'pending');
  await startHeadOfLine(connection, overtaking);
  return overtaking.length;
}

/**
 * Starts the head-of-line time-out of what now waits first in each group. To be called under the queue
 * lock.
 */
export async function startHeadOfLine(
  connection: Connection,
  groups: readonly OrderedGroup[],
): Promise<void> {
  if (groups.length === 0) return;
  await connection.query(
    `update counterfoil.webhook_deliveries delivery
        set next_at = coalesce(now() + head_of_line_seconds * interval '1 second', 'infinity')
       from (select first_waiting.id
               from unnest($1::text[], $2::text[]) as open_group (endpoint_id, ordering_key)
              cross join lateral (
                select id from counterfoil.webhook_deliveries d
                 where d.endpoint_id = open_group.endpoint_id
                   and d.ordering_key between open_group.ordering_key and open_group.ordering_key
                   and d.state = 'waiting' order by d.ordering_key, d.event_id limit 1) first_waiting) next
      where delivery.id = next.id`,
    [groups.map(({ endpointId }) => endpointId), groups.map(({ orderingKey }) => orderingKey)],
    { prepared: true },
  );
}

/** Stuck groups that are found at once at most. */
const stuckMaximum = 500;

/**
 * Groups in which deliveries wait although none is due or under way. Every change of the queue is one
 * transaction, so a group that looks like that to a single statement is like that.
 */
export async function stuckGroups(connection: Connection): Promise<readonly OrderedGroup[]> {
  const { rows } = await connection.query<OrderedGroup>(
    `with recursive open_group (endpoint_id, ordering_key) as (
       (select endpoint_id, ordering_key from counterfoil.webhook_deliveries
         where state in ('pending', 'waiting', 'sending') and ordering_key is not null
         order by endpoint_id, ordering_key limit 1)
       union all
       select later.endpoint_id, later.ordering_key
         from open_group previous
        cross join lateral (
          select endpoint_id, ordering_key from counterfoil.webhook_deliveries
           where state in ('pending', 'waiting', 'sending') and ordering_key is not null
             and (endpoint_id, ordering_key) > (previous.endpoint_id, previous.ordering_key)
           order by endpoint_id, ordering_key limit 1) later
     )
     select endpoint_id as "endpointId", ordering_key as "orderingKey" from open_group
      where not exists (select from counterfoil.webhook_deliveries d
                         where d.endpoint_id = open_group.endpoint_id and d.ordering_key = open_group.ordering_key
                           and d.state in ('pending', 'sending') offset 0)
      limit ${stuckMaximum}`,
    [],
    { prepared: true },
  );
  return rows;
}

/**
 * Lets groups go on in which deliveries wait for nothing. There should be none; but a group that is
 * stuck is deliveries lost, so they are looked for. Returns how many there were.
 */
export async function releaseStuck(connection: Connection): Promise<number> {
  const stuck = await stuckGroups(connection);
  if (stuck.length === 0) return 0;
  await withQueueLock(connection, 'queue', () =>
    releaseNext(
      connection,
      stuck.map((group) => ({ ...group, lastRelease: null })),
    ),
  );
  return stuck.length;
}
