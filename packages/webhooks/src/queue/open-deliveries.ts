import { type Connection, literals, writtenOnce } from '@counterfoil/engine';
import { type Compilable, sql } from 'kysely';
import { queue, some } from './schema.ts';

const look = (...states: readonly ('pending' | 'waiting' | 'sending')[]) =>
  writtenOnce(() =>
    queue.selectNoFrom(
      some(
        queue
          .selectFrom('webhook_deliveries')
          .select('id')
          .where('state', 'in', literals(...states))
          .limit(sql.lit(1)),
      ).as('is_there'),
    ),
  );

const pending = look('pending');
const open = look('pending', 'waiting', 'sending');

/**
 * Tells whether any delivery is still to be sent, now or later. One statement without a lock, for loops that
 * mostly find an empty queue: what comes in meanwhile is found by the next look.
 */
export const hasPending = (connection: Connection): Promise<boolean> =>
  isThere(connection, pending);

/** Tells whether any delivery has not ended. */
export const hasOpen = (connection: Connection): Promise<boolean> => isThere(connection, open);

async function isThere(
  connection: Connection,
  statement: Compilable<{ is_there: boolean }>,
): Promise<boolean> {
  const { rows } = await connection.run(statement, { prepared: true });
  return rows[0]?.is_there ?? false;
}
