import { sleep } from '@counterfoil/engine';
import type { BreakerPolicy } from '../queue/health.ts';
import { releaseOvertaking } from '../queue/ordering.ts';
import { tryHold, withQueueLock } from '../queue/queue-lock.ts';
import {
  dropUnwanted,
  readFigures,
  readStateFigures,
  reclaimExpired,
} from '../queue/upkeep-store.ts';
import { disableFailing, expireHeldBack, writeReports } from './health-upkeep.ts';
import type { LogWriter } from './log-writer.ts';
import { type Loop, type LoopOptions, type Session, startLoop } from './loop.ts';
import type { WorkerMetrics } from './metrics.ts';

export interface UpkeepOptions extends LoopOptions {
  readonly metrics: WorkerMetrics;
  readonly breaker: BreakerPolicy;
  readonly writer: LogWriter;
  /** Milliseconds between two passes. */
  readonly intervalMs: number;
  /** Called when deliveries have become due. */
  readonly onDue: () => void;
}

/** Passes between two looks at the length of the queue, and at what has been held back for long. */
const passesPerFigures = 5;
const passesPerHeldBack = 30;

/**
 * Starts to write what the log has to know: endpoints that are disabled, messages that were given
 * up. It has a loop of its own, because the queue must go on while the event store is away. One of all
 * workers does it: two that took different parts of the list at the same time would tell some twice.
 */
export function startReports({ writer, breaker, intervalMs, ...options }: UpkeepOptions): Loop {
  return startLoop(options, async ({ connection, signal, succeeded }) => {
    while (!signal.aborted && !(await tryHold(connection, 'reports'))) {
      succeeded();
      await sleep(intervalMs, signal);
    }
    while (!signal.aborted) {
      await disableFailing(connection, writer, breaker);
      await writeReports(connection, writer);
      succeeded();
      await sleep(intervalMs, signal);
    }
  });
}

/** Starts what has to be done from time to time. Several workers may do it at the same time. */
export function startUpkeep(options: UpkeepOptions): Loop {
  return startLoop(options, async (session) => {
    for (let pass = 0; !session.signal.aborted; pass += 1) {
      await runPass(options, session, pass);
      session.succeeded();
      await sleep(options.intervalMs, session.signal);
    }
  });
}

async function runPass(
  { metrics, breaker, onDue }: UpkeepOptions,
  { connection }: Session,
  pass: number,
): Promise<void> {
  const reclaimed = await reclaimExpired(connection);
  metrics.reclaimed.inc(reclaimed);
  const overtaking = await withQueueLock(connection, 'queue', async () => {
    await dropUnwanted(connection);
    return await releaseOvertaking(connection);
  });
  if (reclaimed + overtaking > 0) onDue();
  if (pass % passesPerFigures === 0) {
    metrics.queue(await readFigures(connection));
    metrics.state(await readStateFigures(connection));
  }
  if (pass % passesPerHeldBack !== 0) return;
  await withQueueLock(connection, 'queue', () => expireHeldBack(connection, breaker));
}
