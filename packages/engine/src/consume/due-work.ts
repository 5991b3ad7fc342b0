import { instantOf } from '@counterfoil/kernel';
import { type Connection, connect } from '../database/database.ts';
import { planByIndex } from '../database/statements.ts';
import type { Clocks } from '../define/clock.ts';
import type { DueWork } from '../define/due-work.ts';
import type { Position } from '../log/types.ts';
import type { ProjectedPosition } from '../projection/projected-position.ts';
import { type DueRow, dueRows, dueRowsMaximum } from './due-rows.ts';
import type { RunDueWork } from './due-run.ts';
import { inParallel } from './run-forever.ts';
import { FailedWork, keepRounds, readTogether, type WorkRoundsOptions } from './work-rounds.ts';

/** Commands under way at once, and rows that may be waiting after a failure. */
export const dueWorkLimits = { concurrency: 32, failed: 10_000 } as const;
/** The time that one round waits for the read model to show what it did. */
const settleMilliseconds = 10_000;
/** A row whose work failed is tried again after this. */
const retryMilliseconds = 30_000;

export interface DueWorkOptions extends WorkRoundsOptions {
  readonly database: string;
  readonly work: readonly DueWork[];
  readonly run: RunDueWork;
  readonly clocks: Pick<Clocks, 'testClocks'>;
  readonly projected: ProjectedPosition;
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
  const failed = new FailedWork(dueWorkLimits.failed, retryMilliseconds);

  const runOne = async (work: DueWork, row: DueRow): Promise<Position> => {
    const outcome = await options.run(work, row);
    if (outcome.kind === 'failed') failed.note(work, row.id);
    return outcome.kind === 'done' ? (outcome.position ?? 0n) : 0n;
  };

  /** One round over all kinds of work. Returns whether there may be more at once. */
  const round = async (connection: Connection): Promise<boolean> => {
    let hasMore = false;
    let furthest: Position = 0n;
    const times = { now: instantOf(Date.now()), testClocks: options.clocks.testClocks() };
    // Most rounds find nothing, so all kinds are asked in one round trip and one transaction. What the work of one brings
    // about for another is found by the next round.
    const found = await readTogether(connection, options.work, async (work) => ({
      work,
      rows: await dueRows(connection, work, times, failed.of(work)),
    }));
    for (const { work, rows } of found) {
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

  const connect = () => connected(options.database);
  const running = keepRounds(options, { name: 'due work', connect, round }, stopping.signal);
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
