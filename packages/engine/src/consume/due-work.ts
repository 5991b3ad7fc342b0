import { instantOf } from '@counterfoil/kernel';
import { LRUCache } from 'lru-cache';
import { type Connection, connect } from '../database/database.ts';
import { planByIndex } from '../database/statements.ts';
import type { Clocks } from '../define/clock.ts';
import type { DueWork } from '../define/due-work.ts';
import type { Position } from '../log/types.ts';
import type { Log } from '../operations/log.ts';
import type { TrustedTime } from '../operations/trusted-time.ts';
import type { ProjectedPosition } from '../projection/projected-position.ts';
import { type DueRow, dueRows, dueRowsMaximum } from './due-rows.ts';
import type { RunDueWork } from './due-run.ts';
import { inParallel, runForever } from './run-forever.ts';

/** Commands under way at once, and rows that may be waiting after a failure. */
export const dueWorkLimits = { concurrency: 32, failed: 10_000 } as const;
const defaultTickMilliseconds = 500;
/** The time that one round waits for the read model to show what it did. */
const settleMilliseconds = 10_000;
/** A row whose work failed is tried again after this. */
const retryMilliseconds = 30_000;

export interface DueWorkOptions {
  readonly database: string;
  readonly work: readonly DueWork[];
  readonly run: RunDueWork;
  readonly clocks: Pick<Clocks, 'testClocks'>;
  readonly projected: ProjectedPosition;
  /** Tells whether this process does the work; the others stand by. */
  readonly isActive: () => boolean;
  /** Nothing is done while the clock of this process is wrong. */
  readonly time?: Pick<TrustedTime, 'isRight'>;
  readonly log: Log;
  readonly tickMilliseconds?: number;
}

export interface DueWorkLoop {
  stop(): Promise<void>;
}

/**
 * Looks again and again for rows whose time has come, by the clock of their environment, and runs their
 * work. Running twice changes nothing, so neither a crash nor a second process needs care: what is left is
 * found again.
 */
export function startDueWork(options: DueWorkOptions): DueWorkLoop {
  const stopping = new AbortController();
  const failed = new LRUCache<string, true>({ max: dueWorkLimits.failed, ttl: retryMilliseconds });

  const failedOf = ({ name }: DueWork): readonly string[] =>
    [...failed.keys()]
      .filter((key) => key.startsWith(`${name} `))
      .map((key) => key.slice(name.length + 1));

  const runOne = async (work: DueWork, row: DueRow): Promise<Position> => {
    const outcome = await options.run(work, row);
    if (outcome.kind === 'failed') failed.set(`${work.name} ${row.id}`, true);
    return outcome.kind === 'done' ? (outcome.position ?? 0n) : 0n;
  };

  /** One round over all kinds of work. Returns whether there may be more at once. */
  const round = async (connection: Connection): Promise<boolean> => {
    let hasMore = false;
    let furthest: Position = 0n;
    for (const work of options.work) {
      const times = { now: instantOf(Date.now()), testClocks: options.clocks.testClocks() };
      const rows = await dueRows(connection, work, times, failedOf(work));
      hasMore ||= rows.length >= dueRowsMaximum;
      await inParallel(rows, dueWorkLimits.concurrency, async (row) => {
        if (stopping.signal.aborted) return;
        const position = await runOne(work, row);
        if (position > furthest) furthest = position;
      });
      if (stopping.signal.aborted) return false;
    }
    // Rows that the read model does not show as done yet would only be looked at in vain.
    await options.projected.waitFor(furthest, settleMilliseconds, stopping.signal);
    // A full round that changed nothing looked at rows that the read model still shows as due.
    return hasMore && furthest > 0n;
  };

  const running = keepRounds(options, round, stopping.signal);
  return {
    async stop() {
      stopping.abort();
      await running;
    },
  };
}

async function connected(database: string): Promise<Connection> {
  const connection = await connect(database, { application: 'counterfoil due work' });
  await connection.query(planByIndex);
  return connection;
}

async function keepRounds(
  options: DueWorkOptions,
  round: (connection: Connection) => Promise<boolean>,
  signal: AbortSignal,
): Promise<void> {
  const tick = options.tickMilliseconds ?? defaultTickMilliseconds;
  let connection: Connection | null = null;
  const takeTurn = async (): Promise<number> => {
    if (!options.isActive() || (await options.time?.isRight()) === false) return tick;
    connection ??= await connected(options.database);
    try {
      return (await round(connection)) ? 0 : tick;
    } catch (error) {
      await connection.close();
      connection = null;
      throw error;
    }
  };
  await runForever(takeTurn, { name: 'due work', log: options.log, signal });
  await (connection as Connection | null)?.close();
}
