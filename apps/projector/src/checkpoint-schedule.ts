import {
  type EventStore,
  HeadCache,
  type Log,
  runForever,
  type Streams,
  sleep,
} from '@counterfoil/engine';
import { takeCheckpoints } from './take-checkpoints.ts';

export interface CheckpointScheduleOptions {
  readonly store: EventStore;
  readonly streams: Streams;
  readonly secretKey: string;
  readonly intervalSeconds: number;
  readonly log: Log;
}

/** Checkpoints that are taken from time to time, until it is stopped. */
export interface CheckpointSchedule {
  stop(): Promise<void>;
}

/**
 * Signs what is new in the wallets of every environment, again and again. An environment in which
 * nothing happened gets no checkpoint. A failure is logged, and the next turn tries again from the
 * last checkpoint on, so nothing is lost but time. Two processes may do this at once: of two
 * checkpoints over the same events only one is made.
 */
export function startCheckpointSchedule(options: CheckpointScheduleOptions): CheckpointSchedule {
  const { intervalSeconds, log } = options;
  const stopping = new AbortController();
  const { signal } = stopping;
  const heads = new HeadCache();
  const interval = intervalSeconds * 1_000;
  const take = async (): Promise<number> => {
    for await (const { checkpoint } of takeCheckpoints({ ...options, heads, signal })) {
      const { id, tree_size } = checkpoint;
      log.info({ checkpoint: id, tree_size }, 'checkpoint taken');
    }
    return interval;
  };
  const run = async (): Promise<void> => {
    await sleep(interval, signal);
    await runForever(take, { name: 'taking checkpoints', log, signal, onFailure: () => interval });
  };
  const running = run();
  return {
    async stop() {
      stopping.abort();
      await running;
    },
  };
}
