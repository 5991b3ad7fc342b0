import { type Connection, sleep } from '@counterfoil/engine';
import { readFigures } from '../queue/figures-store.ts';
import { giveUpHeldBack, giveUpOld } from '../queue/giving-up.ts';
import type { BreakerPolicy } from '../queue/health.ts';
import { hasOpen } from '../queue/open-deliveries.ts';
import { releaseOvertaking, releaseStuck } from '../queue/ordering.ts';
import { withQueueLock } from '../queue/queue-lock.ts';
import { dropUnwanted, type Retention, reclaimExpired, removeOld } from '../queue/upkeep-store.ts';
import { type Loop, type LoopOptions, type Session, startLoop, untilNext } from './loop.ts';
import type { WorkerMetrics } from './metrics.ts';

/** The parts of the loops of upkeep and retention. */
export interface UpkeepOptions extends LoopOptions {
  readonly metrics: WorkerMetrics;
  readonly breaker: BreakerPolicy;
  readonly retention: Retention;
  /** Milliseconds between two passes. */
  readonly intervalMs: number;
  /** Called when deliveries have become due. */
  readonly onDue: () => void;
}

/** Passes between two looks at the length of the queue, and at what has been held back for long. */
const passesPerFigures = 5;
const passesPerHeldBack = 30;

/**
 * Starts the work that has to be done from time to time. Several workers may do it at the same
 * time.
 */
export function startUpkeep(options: UpkeepOptions): Loop {
  return startLoop(options, async (session) => {
    for (let pass = 0; !session.signal.aborted; pass += 1) {
      await runPass(options, session, pass);
      session.succeeded();
      await sleep(untilNext(options.intervalMs), session.signal);
    }
  });
}

async function runPass(
  options: UpkeepOptions,
  { connection }: Session,
  pass: number,
): Promise<void> {
  const { metrics, breaker } = options;
  if (await hasOpen(connection)) await mendQueue(options, connection);
  if (pass % passesPerFigures === 0) metrics.figures(await readFigures(connection));
  if (pass % passesPerHeldBack !== 0) return;
  await withQueueLock(connection, 'queue', () => giveUpHeldBack(connection, breaker));
}

/** Lets deliveries go on that a worker or an endpoint has left behind, and ends those that nobody wants. */
async function mendQueue({ metrics, onDue }: UpkeepOptions, connection: Connection): Promise<void> {
  const reclaimed = await reclaimExpired(connection);
  metrics.reclaimed.inc(reclaimed);
  const overtaking = await withQueueLock(connection, 'queue', async () => {
    await dropUnwanted(connection);
    return await releaseOvertaking(connection);
  });
  if (reclaimed + overtaking > 0) onDue();
}

/** Passes of upkeep between two looks for old rows, when there are few. */
const passesPerRetention = 30;
/** Looks for old rows between two looks for groups that are stuck, which cost more. */
const roundsPerStuck = 10;

/** Starts to remove old rows, as fast as they become old, and to let groups go that are stuck. */
export function startRetention({ retention, intervalMs, onDue, ...options }: UpkeepOptions): Loop {
  return startLoop(options, async ({ connection, signal, succeeded }) => {
    for (let round = 0; !signal.aborted; round += 1) {
      const givenUp = await withQueueLock(connection, 'queue', () =>
        giveUpOld(connection, retention),
      );
      const hasMore = await removeOld(connection, retention);
      const released = round % roundsPerStuck === 0 ? await releaseStuck(connection) : 0;
      succeeded();
      if (givenUp + released > 0) onDue();
      if (!hasMore && givenUp === 0) await sleep(passesPerRetention * intervalMs, signal);
    }
  });
}
