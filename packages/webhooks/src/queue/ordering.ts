import {
  type Connection,
  given,
  literals,
  transactionTime,
  writtenOnce,
} from '@counterfoil/engine';
import { sql } from 'kysely';
import { groupId, type OrderedGroup } from './fan-out-plan.ts';
import { withQueueLock } from './queue-lock.ts';
import {
  afterSeconds,
  deliveriesLike,
  givenGroups,
  group,
  nextRelease,
  none,
  queue,
  some,
} from './schema.ts';

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
 */
export async function releaseNext(
  connection: Connection,
  groups: readonly EndedGroup[],
): Promise<void> {
  if (groups.length === 0) return;
  const ended = given('ended', groups, {
    endpoint_id: ['text', ({ endpointId }) => endpointId],
    ordering_key: ['text', ({ orderingKey }) => orderingKey],
    last_release: ['bigint', ({ lastRelease }) => lastRelease],
  });
  const released = queue
    .selectFrom(ended)
    .crossJoinLateral(firstWaiting('ended'))
    .select('first_waiting.id')
    .where(
      none(
        deliveriesLike('ended', group, 'pending', 'sending').where(
          'other.release_number',
          '>',
          sql<string>`coalesce(ended.last_release, 0)`,
        ),
      ),
    );
  const { rows } = await connection.run(
    queue
      .updateTable('webhook_deliveries as delivery')
      .from(released.as('released'))
      .set({ state: 'pending', next_at: transactionTime, release_number: nextRelease })
      .whereRef('delivery.id', '=', 'released.id')
      .returning([
        'delivery.endpoint_id as endpointId',
        sql<string>`delivery.ordering_key`.as('orderingKey'),
      ]),
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

const overtake = writtenOnce(() => {
  const isUnderWay = sql<boolean>`(other.state = 'sending' or other.attempt = 0
    or other.next_at <= now())`;
  const before = deliveriesLike('waiting', group, 'pending', 'sending').where(isUnderWay);
  const first = queue.selectFrom(firstWaiting('waiting')).select('first_waiting.id');
  const passed = queue
    .selectFrom('webhook_deliveries as waiting')
    .select((waiting) => [
      'waiting.id',
      'waiting.head_of_line_seconds',
      waiting.or([some(before), waiting('waiting.id', '<>', first)]).as('is_put_off'),
    ])
    .where('waiting.state', '=', sql.lit('waiting'))
    .where('waiting.next_at', '<=', transactionTime)
    .orderBy('waiting.next_at')
    .limit(sql.lit(overtakingMaximum));
  const putOff = sql<string>`now() + least(passed.head_of_line_seconds, ${sql.lit(putOffSeconds)})
    * interval '1 second'`;
  return queue
    .with('passed', () => passed)
    .updateTable('webhook_deliveries as delivery')
    .from('passed')
    .set({
      state: sql`case when is_put_off then 'waiting' else 'pending' end`,
      release_number: sql`case when is_put_off then null else ${nextRelease} end`,
      next_at: sql`case when is_put_off then ${putOff} else now() end`,
    })
    .whereRef('delivery.id', '=', 'passed.id')
    .returning([
      'delivery.endpoint_id as endpointId',
      sql<string>`delivery.ordering_key`.as('orderingKey'),
      'delivery.state',
    ]);
});

/**
 * Lets deliveries overtake whose head-of-line time-out has passed. Returns how many. To be called
 * under the queue lock.
 *
 * An overtaken delivery has to have failed and to wait for its next attempt. One that was never
 * tried, is due or is under way waits for a worker, for room, for the rate or for an endpoint that
 * is held back, and so would those behind it: to let them go as well would only put an end to the
 * order. Deliveries that a recovery has put before a waiting one go first.
 */
export async function releaseOvertaking(connection: Connection): Promise<number> {
  const { rows } = await connection.run(overtake, { prepared: true });
  const overtaking = rows.filter(({ state }) => state === 'pending');
  await startHeadOfLine(connection, overtaking);
  return overtaking.length;
}

/**
 * Starts the head-of-line time-out of the delivery that now waits first in each group. To be called
 * under the queue lock.
 */
export async function startHeadOfLine(
  connection: Connection,
  groups: readonly OrderedGroup[],
): Promise<void> {
  if (groups.length === 0) return;
  const next = queue
    .selectFrom(givenGroups('open_group', groups))
    .crossJoinLateral(firstWaiting('open_group'))
    .select('first_waiting.id');
  await connection.run(
    queue
      .updateTable('webhook_deliveries as delivery')
      .from(next.as('next'))
      .set(({ ref }) => ({ next_at: afterSeconds(ref('delivery.head_of_line_seconds')) }))
      .whereRef('delivery.id', '=', 'next.id'),
    { prepared: true },
  );
}

/**
 * The delivery that waits first in the group of a row, for a statement that has the row at hand.
 *
 * `between` says that a key is itself in a way that leaves one index for the order: by the id alone
 * the planner might go through everything that was ever delivered.
 */
const firstWaiting = (row: string) =>
  queue
    .selectFrom('webhook_deliveries as first')
    .select('first.id')
    .where('first.endpoint_id', '=', sql.ref<string>(`${row}.endpoint_id`))
    .where((delivery) => {
      const key = sql.ref<string>(`${row}.ordering_key`);
      return delivery.between('first.ordering_key', key, key);
    })
    .where('first.state', '=', sql.lit('waiting'))
    .orderBy('first.ordering_key')
    .orderBy('first.event_id')
    .limit(sql.lit(1))
    .as('first_waiting');

/** Stuck groups that are found at once at most. */
const stuckMaximum = 500;

/**
 * Groups in which deliveries wait although none is due or under way. Every change of the queue is one
 * transaction, so a group that looks like that to a single statement is like that.
 */
export async function stuckGroups(connection: Connection): Promise<readonly OrderedGroup[]> {
  const ordered = queue
    .selectFrom('webhook_deliveries as delivery')
    .select(['delivery.endpoint_id', 'delivery.ordering_key'])
    .where('delivery.state', 'in', literals('pending', 'waiting', 'sending'))
    .where('delivery.ordering_key', 'is not', null)
    .orderBy('delivery.endpoint_id')
    .orderBy('delivery.ordering_key')
    .limit(sql.lit(1));
  const isLater = sql<boolean>`(delivery.endpoint_id, delivery.ordering_key)
    > (previous.endpoint_id, previous.ordering_key)`;
  const { rows } = await connection.run(
    queue
      .withRecursive('open_group(endpoint_id, ordering_key)', (query) =>
        query
          .selectFrom(ordered.as('first'))
          .selectAll()
          .unionAll((union) =>
            union
              .selectFrom('open_group as previous')
              .crossJoinLateral(ordered.where(isLater).as('later'))
              .selectAll('later'),
          ),
      )
      .selectFrom('open_group')
      .select([
        sql<string>`endpoint_id`.as('endpointId'),
        sql<string>`ordering_key`.as('orderingKey'),
      ])
      .where(none(deliveriesLike('open_group', group, 'pending', 'sending')))
      .limit(sql.lit(stuckMaximum)),
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
