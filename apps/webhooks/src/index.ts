import {
  connectNats,
  createLog,
  createMetrics,
  createServiceServer,
  type EventStore,
  type HealthCheck,
  type Log,
  type Metrics,
  migrate,
  migrationsOf,
  type Nats,
  openEventStore,
  startParts,
} from '@counterfoil/engine';
import { createSender, modules, type Sender, secretsFrom } from '@counterfoil/modules';
import type { WebhooksConfig } from './config.ts';
import { type Dispatcher, startDispatcher } from './dispatcher.ts';
import { createEndpoints, type Endpoints } from './endpoints.ts';
import { type FanOut, type FanOutRole, startFanOut } from './fan-out.ts';
import { createLogWriter, type LogWriter } from './log-writer.ts';
import type { Loop } from './loop.ts';
import { createWorkerMetrics } from './metrics.ts';
import { type Recorder, startRecorder } from './recorder.ts';
import { startRetention } from './retention.ts';
import { startTasks } from './tasks.ts';
import { startReports, startUpkeep } from './upkeep.ts';
import { sleep } from './wake.ts';

export {
  type WebhooksConfig,
  webhooksConfig,
  webhooksDefaults,
  webhooksEnvironment,
} from './config.ts';

/** Where the worker is. */
export interface WebhooksStatus {
  readonly fanOut: {
    readonly role: FanOutRole;
    /** Sequence of the last message of the public stream that has been turned into deliveries. */
    readonly sequence: number | null;
    /** Whether messages wait for the read model, which is behind them. */
    readonly isWaiting: boolean;
  };
  /** Requests of this process that are under way. */
  readonly inFlight: number;
  /** By part of the worker: why it does not get on; null when it does. */
  readonly errors: Readonly<Record<string, string | null>>;
}

export interface Webhooks {
  /** Where /healthz, /readyz and /metrics answer. */
  readonly healthPort: number;
  readonly metrics: Metrics;
  status(): WebhooksStatus;
  /**
   * Takes nothing new, lets what is under way come to its end (as long as an attempt may take),
   * records it and ends.
   */
  stop(): Promise<void>;
}

export interface WebhooksOptions {
  /** Further readiness checks, such as that the process is not stopping. */
  readonly health?: readonly HealthCheck[];
  /** Replaces the event store; for tests. It is closed with the worker. */
  readonly store?: EventStore;
}

interface Worker {
  readonly sender: Sender;
  readonly fanOut: FanOut;
  readonly dispatcher: Dispatcher;
  readonly recorder: Recorder;
  readonly loops: readonly Loop[];
  /** Ends everything but the recorder. */
  readonly taking: AbortController;
  /** Ends the recorder. */
  readonly recording: AbortController;
}

const close = (thing: { close(): Promise<void> }): Promise<void> => thing.close();

/**
 * Starts a delivery worker: brings its tables up to date and begins to read the public stream and
 * to deliver. Any number may run at the same time; one of them reads the stream. Rejects when the
 * database cannot be reached or the secret key is none, and stops what had been started; later
 * failures it survives by itself.
 */
export const startWebhooks = (
  config: WebhooksConfig,
  log: Log = createLog({ level: 'info', name: 'webhooks' }),
  options: WebhooksOptions = {},
): Promise<Webhooks> =>
  startParts(async (started) => {
    const { sealer } = secretsFrom(config.secretKey);
    const metrics = createMetrics();
    const migrations = migrationsOf(modules({ secrets: null }));
    await migrate({ database: config.databaseUrl, migrations });
    const address = { url: config.natsUrl, name: 'counterfoil webhooks' };
    const nats = started.add(await connectNats({ ...address, log, metrics }), close);
    const opened = options.store ?? openEventStore({ url: config.eventStoreUrl });
    const store = started.add(opened, close);
    const endpoints = createEndpoints(sealer);
    const worker = startWorker({ config, nats, store, endpoints, log, metrics });
    started.add(worker, () => stopWorker(worker, config.sendLimits.totalTimeout));
    const server = createServiceServer({
      health: [...(options.health ?? []), natsCheck(nats), ...worker.loops.map(loopCheck)],
      metrics,
      log,
      info: { title: 'Counterfoil webhooks', version: '1', description: 'Delivery of webhooks' },
    });
    started.add(server, () => {
      // Nothing new is taken from here on, also while the last questions are answered.
      worker.taking.abort();
      return server.close(drainMs);
    });
    const { port } = await server.listen(config.healthPort, config.host);
    return { healthPort: port, metrics, status: () => statusOf(worker) };
  });

interface WorkerOptions {
  readonly config: WebhooksConfig;
  readonly nats: Nats;
  readonly store: EventStore;
  readonly endpoints: Endpoints;
  readonly log: Log;
  readonly metrics: Metrics;
}

function startWorker({ config, nats, store, endpoints, log, metrics }: WorkerOptions): Worker {
  const taking = new AbortController();
  const recording = new AbortController();
  const sender = createSender({ policy: config.policy, limits: config.sendLimits });
  const common = {
    database: config.databaseUrl,
    log,
    metrics: createWorkerMetrics(metrics),
    endpoints,
    breaker: config.breaker,
  };
  const writer: LogWriter = createLogWriter(store);
  const loop = (name: string) => ({ ...common, name, signal: taking.signal });
  const notify = (): void => dispatcher.notify();
  const recorder = startRecorder({ ...loop('recorder'), signal: recording.signal }, notify);
  const dispatcher = startDispatcher({ ...config, ...loop('dispatcher'), sender, recorder });
  const fanOut = startFanOut({ ...loop('fan-out'), nats, onDeliveries: notify });
  const often = { intervalMs: config.upkeepMs, writer, onDue: notify };
  const upkeep = startUpkeep({ ...loop('upkeep'), ...often });
  const reports = startReports({ ...loop('reports'), ...often });
  const retention = startRetention({
    ...loop('retention'),
    intervalMs: retentionPasses * config.upkeepMs,
    retention: config.retention,
    onDue: notify,
  });
  const tasks = startTasks({
    ...loop('tasks'),
    intervalMs: config.upkeepMs,
    onDeliveries: notify,
  });
  const loops = [fanOut.loop, dispatcher.loop, recorder.loop, upkeep, retention, reports, tasks];
  return { sender, fanOut, dispatcher, recorder, loops, taking, recording };
}

/** Passes of upkeep between two looks for what is old, when there is little of it. */
const retentionPasses = 30;

const drainMs = 1_000;
/** Beyond the longest attempt: for a database that is slow to take the outcomes. */
const recordMs = 5_000;

async function stopWorker(worker: Worker, longestAttemptMs: number): Promise<void> {
  const { sender, dispatcher, recorder, loops, taking, recording } = worker;
  taking.abort();
  await Promise.all(loops.filter((loop) => loop !== recorder.loop).map(({ ended }) => ended));
  const drained = new AbortController();
  // A database that is away must not keep the process: what it cannot record will be sent again.
  const patience = sleep(longestAttemptMs + recordMs, drained.signal);
  await Promise.race([dispatcher.drained(), patience]);
  drained.abort();
  recording.abort();
  await recorder.loop.ended;
  await sender.close();
}

const statusOf = ({ fanOut, dispatcher, loops }: Worker): WebhooksStatus => ({
  fanOut: {
    role: fanOut.role(),
    sequence: fanOut.position()?.sequence ?? null,
    isWaiting: fanOut.isWaiting(),
  },
  inFlight: dispatcher.inFlight(),
  errors: Object.fromEntries(loops.map((loop) => [loop.name, loop.error()])),
});

const loopCheck = (loop: Loop): HealthCheck => ({
  name: `webhooks ${loop.name}`,
  // Deliveries go on while what is told of them has to wait for the event store.
  required: loop.name !== 'reports',
  check: async () => {
    const error = loop.error();
    if (error !== null) throw new Error(error);
  },
});

/** Without NATS nothing new comes in, but what has come in goes on being delivered. */
const natsCheck = (nats: Nats): HealthCheck => ({
  name: 'nats',
  required: false,
  check: async () => {
    const { connected, error } = nats.status();
    if (!connected) throw new Error(error ?? 'not connected yet');
  },
});
