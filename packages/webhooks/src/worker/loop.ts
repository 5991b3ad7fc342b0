import {
  type Connection,
  connect,
  type Log,
  messageOf,
  planByIndex,
  runForever,
  sleep,
} from '@counterfoil/engine';
import { sql } from 'kysely';
import { queue } from '../queue/schema.ts';

/** The options that all loops have in common. */
export interface LoopOptions {
  readonly name: string;
  readonly database: string;
  /** Ends the loop. */
  readonly signal: AbortSignal;
  readonly log: Log;
}

/** A part of the worker that runs for ever, with a database session of its own. */
export interface Loop {
  readonly name: string;
  /** The reason why it is stuck at present; null while it is not, as far as it knows. */
  readonly error: () => string | null;
  /** Resolves when the loop has ended. */
  readonly ended: Promise<void>;
}

/** A database session for the work of a loop. */
export interface Session {
  readonly connection: Connection;
  /** Aborts when the loop is to end and when the session is lost. */
  readonly signal: AbortSignal;
  /** Reports progress, which ends the report of an earlier error. */
  readonly succeeded: () => void;
  /** Reports why work is stuck that goes on trying by itself; null when it is not any more. */
  readonly stuck: (reason: unknown) => void;
}

const backOff = { firstMilliseconds: 100, lastMilliseconds: 5_000 };
const readModelMs = 200;

/**
 * Runs work again and again until the signal aborts: opens a session, works, and after any failure
 * starts over with a new session, waiting a little longer each time. Work that has to remember
 * something beyond a failure keeps it in the database.
 */
export function startLoop(
  { name, database, signal, log }: LoopOptions,
  work: (session: Session) => Promise<void>,
): Loop {
  let error: string | null = null;
  const turn = async (progressed: () => void): Promise<number> => {
    const connection = await connect(database, { application: `counterfoil webhooks ${name}` });
    try {
      await connection.query(planByIndex);
      const lasting = AbortSignal.any([signal, connection.lost]);
      await waitForReadModel(connection, lasting);
      await work({
        connection,
        signal: lasting,
        succeeded: () => {
          error = null;
          progressed();
        },
        stuck: (reason) => {
          error = reason === null ? null : messageOf(reason);
        },
      });
      if (!signal.aborted && connection.lost.aborted) throw connection.lost.reason;
      return 0;
    } finally {
      await connection.close();
    }
  };
  const onFailure = (failure: unknown): undefined => {
    error = messageOf(failure);
  };
  const ended = runForever(turn, { name: `webhooks: ${name}`, log, signal, backOff, onFailure });
  return { name, error: () => error, ended };
}

/**
 * Milliseconds until the next whole interval since the process began. Loops that rest until then wake the process
 * together, and not one after the other.
 */
export const untilNext = (intervalMs: number): number =>
  intervalMs - (performance.now() % intervalMs);

/**
 * Waits until the projector has made the read tables of endpoints and tasks; in a new installation
 * it may start after the worker. Returns early when the signal aborts.
 */
async function waitForReadModel(connection: Connection, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    const { rows } = await connection.run(
      queue.selectNoFrom(
        sql<boolean>`to_regclass('counterfoil.webhook_endpoints') is not null
          and to_regclass('counterfoil.webhook_tasks') is not null`.as('exists'),
      ),
    );
    if (rows[0]?.exists) return;
    await sleep(readModelMs, signal);
  }
}
