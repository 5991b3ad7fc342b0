import { type Connection, connect, type Log } from '@counterfoil/engine';
import { sleep } from './wake.ts';

export interface LoopOptions {
  readonly name: string;
  readonly database: string;
  /** Ends the loop. */
  readonly signal: AbortSignal;
  readonly log: Log;
}

/** A part of the worker that goes on for ever, with a database session of its own. */
export interface Loop {
  readonly name: string;
  /** Why it does not get on at present; null when it does, as far as it knows. */
  readonly error: () => string | null;
  /** Resolves when the loop has ended. */
  readonly ended: Promise<void>;
}

/** What the work of a loop is given. */
export interface Turn {
  readonly connection: Connection;
  /** Aborts when the loop is to end and when the session is lost. */
  readonly signal: AbortSignal;
  /** Says that the work gets on, which ends the report of an earlier error. */
  readonly succeeded: () => void;
}

/**
 * Every statement on the queue names few rows by an index. Prepared while the tables are as good as
 * empty, it would be planned to read them as a whole, and go on doing so while they fill.
 */
export const planning =
  'set enable_seqscan = off; set enable_hashjoin = off; set enable_mergejoin = off';

const firstPauseMs = 100;
const longestPauseMs = 5_000;

/**
 * Runs work again and again until the signal aborts: opens a session, works, and after any failure
 * starts over with a new session, waiting a little longer each time. Work that has to remember
 * something beyond a failure keeps it in the database.
 */
export function startLoop(options: LoopOptions, work: (turn: Turn) => Promise<void>): Loop {
  let error: string | null = null;
  let pauseMs = firstPauseMs;
  const succeeded = (): void => {
    error = null;
    pauseMs = firstPauseMs;
  };
  const run = async (): Promise<void> => {
    while (!options.signal.aborted) {
      try {
        await turn(options, work, succeeded);
      } catch (failure) {
        if (options.signal.aborted) break;
        const message = failure instanceof Error ? failure.message : String(failure);
        // One line per kind of failure: a database that is down for an hour fills no disk.
        if (message !== error) {
          const { log, name } = options;
          log.error({ err: failure, part: name }, 'webhooks: a part fails and tries again');
        }
        error = message;
        await sleep(pauseMs, options.signal);
        pauseMs = Math.min(2 * pauseMs, longestPauseMs);
      }
    }
  };
  return { name: options.name, error: () => error, ended: run() };
}

async function turn(
  { name, database, signal }: LoopOptions,
  work: (turn: Turn) => Promise<void>,
  succeeded: () => void,
): Promise<void> {
  const connection = await connect(database, { application: `counterfoil webhooks ${name}` });
  try {
    await connection.query(planning);
    await work({ connection, signal: AbortSignal.any([signal, connection.lost]), succeeded });
    if (!signal.aborted && connection.lost.aborted) throw connection.lost.reason;
  } finally {
    await connection.close();
  }
}
