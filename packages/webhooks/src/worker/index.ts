import {
  type EventStore,
  type HealthCheck,
  type Log,
  type Metrics,
  type Nats,
  sleep,
} from '@counterfoil/engine';
import type { Sealer } from '../endpoint/sealing.ts';
import { createSender } from '../sending/sender.ts';
import { startAttemptWriter } from './attempt-writer.ts';
import type { WorkerConfig } from './config.ts';
import { startDispatcher } from './dispatcher.ts';
import { createEndpointCache } from './endpoint-cache.ts';
import { type FanOutStatus, startFanOut } from './fan-out.ts';
import type { Loop } from './loop.ts';
import { createWorkerMetrics } from './metrics.ts';
import { startReports } from './reports.ts';
import { startTasks } from './tasks.ts';
import { startRetention, startUpkeep } from './upkeep.ts';

export { type WorkerConfig, workerConfig, workerDefaults, workerVariables } from './config.ts';

/** The state of a worker. */
export interface WorkerStatus {
  readonly fanOut: FanOutStatus;
  /** Requests of this process that are under way. */
  readonly inFlight: number;
  /** By part of the worker: the reason why it is stuck; null while it is not. */
  readonly errors: Readonly<Record<string, string | null>>;
}

/** A running delivery worker. */
export interface Worker {
  /** One readiness check per part. */
  readonly health: readonly HealthCheck[];
  status(): WorkerStatus;
  /**
   * Takes nothing new, lets requests under way come to their end (as long as an attempt may take),
   * records them and ends.
   */
  stop(): Promise<void>;
}

/** The connections stay the caller's and have to outlive the worker. */
export interface WorkerOptions {
  readonly config: WorkerConfig;
  readonly nats: Nats;
  /** Receives the events that the worker itself causes. */
  readonly store: EventStore;
  /** Opens the secrets of endpoints. */
  readonly sealer: Sealer;
  readonly log: Log;
  readonly metrics: Metrics;
}

/** Beyond the longest attempt: for a database that is slow to take the outcomes. */
const recordMs = 5_000;

/**
 * Starts a delivery worker: it reads the public stream and delivers. Any number may run at the
 * same time; one of them reads the stream. The tables of the queue must be there. It survives
 * every failure by itself.
 */
export function startWorker({ config, nats, store, sealer, log, metrics }: WorkerOptions): Worker {
  const taking = new AbortController();
  const recording = new AbortController();
  const sender = createSender({ policy: config.policy, limits: config.sendLimits });
  const { databaseUrl: database, breaker, upkeepMs: intervalMs } = config;
  const endpoints = createEndpointCache(sealer);
  const common = { database, log, metrics: createWorkerMetrics(metrics), endpoints, breaker };
  const loop = (name: string) => ({ ...common, name, signal: taking.signal });
  const onDue = (): void => dispatcher.notify();
  const writer = startAttemptWriter({ ...loop('attempt-writer'), signal: recording.signal }, onDue);
  const dispatcher = startDispatcher({ ...config, ...loop('dispatcher'), sender, writer });
  const fanOut = startFanOut({ ...loop('fan-out'), nats, onDue });
  const upkeep = { intervalMs, retention: config.retention, onDue };
  const loops: readonly Loop[] = [
    fanOut.loop,
    dispatcher.loop,
    startUpkeep({ ...loop('upkeep'), ...upkeep }),
    startRetention({ ...loop('retention'), ...upkeep }),
    startReports({ ...loop('reports'), intervalMs, store }),
    startTasks({ ...loop('tasks'), intervalMs, onDue }),
  ];
  const all = [...loops, writer.loop];
  return {
    health: all.map(loopCheck),
    status: () => ({
      fanOut: fanOut.status(),
      inFlight: dispatcher.inFlight(),
      errors: Object.fromEntries(all.map(({ name, error }) => [name, error()])),
    }),
    stop: async () => {
      taking.abort();
      await Promise.all(loops.map(({ ended }) => ended));
      const drained = new AbortController();
      // A database that is away must not keep the process: deliveries that it cannot record will be
      // sent again.
      const patience = sleep(config.sendLimits.totalTimeout + recordMs, drained.signal);
      await Promise.race([dispatcher.drained(), patience]);
      drained.abort();
      recording.abort();
      await writer.loop.ended;
      await sender.close();
    },
  };
}

const loopCheck = ({ name, error }: Loop): HealthCheck => ({
  name: `webhooks ${name}`,
  // Deliveries continue while the reports about them wait for the event store.
  required: name !== 'reports',
  check: async () => {
    const reason = error();
    if (reason !== null) throw new Error(reason);
  },
});
