import { setTimeout as pause } from 'node:timers/promises';
import { type EventStore, HeadCache, type Log, type Streams } from '@counterfoil/engine';
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
 * nothing happened gets no checkpoint. What fails is logged and tried again at the next turn, from
 * the last checkpoint on, so nothing is lost but time. Two processes may do this at once: of two
 * checkpoints over the same events only one is made.
 */
export function startCheckpointSchedule(options: CheckpointScheduleOptions): CheckpointSchedule {
  const { intervalSeconds, log } = options;
  const stopping = new AbortController();
  const { signal } = stopping;
  const heads = new HeadCache();
  const take = async (): Promise<void> => {
    for await (const { checkpoint } of takeCheckpoints({ ...options, heads, signal })) {
      const { id, tree_size } = checkpoint;
      log.info({ checkpoint: id, tree_size }, 'checkpoint taken');
    }
  };
  const run = async (): Promise<void> => {
    while (!signal.aborted) {
      await pause(intervalSeconds * 1000, undefined, { signal }).catch(() => undefined);
      if (signal.aborted) return;
      await take().catch((error: unknown) => {
        if (!signal.aborted) log.error({ err: error }, 'no checkpoint could be taken');
      });
    }
  };
  const running = run();
  return {
    async stop() {
      stopping.abort();
      await running;
    },
  };
}
