import { setTimeout as pause } from 'node:timers/promises';
import {
  type EventStore,
  grownTree,
  type Log,
  recordsOf,
  type Streams,
  signingKeyFrom,
  systemContext,
} from '@counterfoil/engine';
import type { EnvironmentId, TenantId } from '@counterfoil/kernel';
import {
  type CheckpointTools,
  environment,
  secretsFrom,
  takeCheckpoint,
} from '@counterfoil/modules';

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
  const take = checkpointTaker(options, signal);
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

function checkpointTaker(
  { store, streams, secretKey, log }: CheckpointScheduleOptions,
  signal: AbortSignal,
): () => Promise<void> {
  const key = signingKeyFrom(secretsFrom(secretKey).checkpointSeed);
  const grown: CheckpointTools['grown'] = (prefix, before) => grownTree(store, prefix, before);
  return async () => {
    for await (const { scope, id } of recordsOf(store, environment.name)) {
      if (signal.aborted) return;
      const place = { tenantId: scope as TenantId, environmentId: id as EnvironmentId };
      const context = systemContext(streams, { ...place, correlationId: 'checkpoint' });
      const made = await takeCheckpoint({ context, key, grown }, place);
      if (made) log.info({ checkpoint: made.id, tree_size: made.tree_size }, 'checkpoint taken');
    }
  };
}
