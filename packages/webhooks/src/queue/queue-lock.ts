import { type Connection, transaction } from '@counterfoil/engine';
import { sql } from 'kysely';
import { queue } from './schema.ts';

/**
 * Numbers of the advisory locks. The first number is ours, so that other programs in the same
 * database do not meet it by accident.
 */
const lockFamily = 0x77686b;
const locks = { queue: 1, claims: 2, fanOut: 3, reports: 4 } as const;
/** The name of an advisory lock. */
export type QueueLock = keyof typeof locks;

/**
 * Runs work in a transaction that holds a lock until it is committed.
 *
 * `queue` covers every decision about which delivery waits for which: adding deliveries, finishing
 * them, letting one overtake. Those decisions look at other rows than they write, which row locks
 * would not cover. `claims` covers taking deliveries, so that the bound of an endpoint holds
 * exactly.
 */
export const withQueueLock = <Result>(
  connection: Connection,
  lock: QueueLock,
  work: () => Promise<Result>,
): Promise<Result> =>
  transaction(
    connection,
    work,
    `begin; select pg_advisory_xact_lock(${lockFamily}, ${locks[lock]})`,
  );

/** Takes a lock for as long as the session lasts. False when another session has it. */
export async function tryHold(connection: Connection, lock: QueueLock): Promise<boolean> {
  const held = sql<boolean>`pg_try_advisory_lock(${lockFamily}::integer, ${locks[lock]}::integer)`;
  const { rows } = await connection.run(queue.selectNoFrom(held.as('held')));
  return rows[0]?.held ?? false;
}
