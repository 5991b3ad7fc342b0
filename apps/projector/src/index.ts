import {
  connectNats,
  createLog,
  createMetrics,
  createServiceServer,
  createStreams,
  type HealthCheck,
  migrate,
  migrationsOf,
  natsBroker,
  openEventStore,
  type Projector,
  startDueWork,
  startProjector,
  startRelay,
} from '@counterfoil/engine';
import { modules } from '@counterfoil/modules';
import { type CheckpointSchedule, startCheckpointSchedule } from './checkpoint-schedule.ts';
import type { ProjectorConfig } from './config.ts';
import { keepReaders } from './event-subscriptions.ts';
import { relayCheckpoint } from './relay-checkpoint.ts';

export { type ProjectorConfig, projectorConfigSchema } from './config.ts';

/** A running projector: read models and relay. */
export interface ProjectorApp {
  readonly healthPort: number;
  stop(): Promise<void>;
}

/** How long one wait for the projector lasts before it is looked at again. */
const waitMilliseconds = 5_000;

/** The relay's view of the projector: it stays behind the read models for as long as it takes. */
const behind = (projector: Projector) => ({
  async waitFor(position: bigint, signal: AbortSignal): Promise<void> {
    while (!(await projector.projected.waitFor(position, waitMilliseconds, signal))) {
      signal.throwIfAborted();
    }
  },
});

/** Starts to project and to publish. Resolves as soon as both are under way. */
export async function startProjectorApp(
  config: ProjectorConfig,
  health: readonly HealthCheck[] = [],
): Promise<ProjectorApp> {
  const log = createLog({ level: config.LOG_LEVEL, name: 'projector' });
  const metrics = createMetrics();
  const slices = modules({ secrets: null });
  await migrate({ database: config.DATABASE_URL, migrations: migrationsOf(slices) });
  const store = openEventStore({ url: config.EVENTSTORE_URL });
  const projector = startProjector({
    store,
    database: config.DATABASE_URL,
    tables: slices.flatMap(({ tables }) => tables),
    log,
    metrics,
  });
  const nats = await connectNats({ url: config.NATS_URL, name: 'counterfoil relay', log, metrics });
  const checkpoint = relayCheckpoint(config.DATABASE_URL);
  const relay = startRelay({
    store,
    nats,
    publishers: slices.flatMap(({ publishers }) => publishers),
    projected: behind(projector),
    checkpoint,
    log,
    metrics,
  });
  const readers = keepReaders({ store, broker: natsBroker(nats, log), log });
  const streams = createStreams({
    store,
    aggregates: slices.flatMap(({ aggregates }) => aggregates),
  });
  const dueWork = startDueWork({
    database: config.DATABASE_URL,
    streams,
    work: slices.flatMap((slice) => slice.dueWork ?? []),
    projected: projector.projected,
    isActive: () => projector.status().state === 'running',
    log,
    metrics,
  });
  const { COUNTERFOIL_SECRET_KEY: secretKey, CHECKPOINT_INTERVAL_SECONDS: intervalSeconds } =
    config;
  const checkpoints: CheckpointSchedule | null =
    secretKey === undefined
      ? null
      : startCheckpointSchedule({ store, streams, secretKey, intervalSeconds, log });
  const server = createServiceServer({
    health: [
      ...health,
      { name: 'event_store', required: true, check: () => store.ping() },
      { name: 'projections', required: true, check: () => projector.check() },
      { name: 'relay', required: false, check: async () => assertNoError(relay.status().error) },
    ],
    metrics,
    log,
    info: { title: 'Counterfoil projector', version: '1', description: 'Read models and relay' },
  });
  const { port } = await server.listen(config.HEALTH_PORT, config.HOST);
  return {
    healthPort: port,
    async stop() {
      await server.close(1_000);
      await checkpoints?.stop();
      await dueWork.stop();
      await readers.stop();
      await relay.stop();
      await nats.close();
      await projector.stop();
      await checkpoint.close();
      await store.close();
    },
  };
}

function assertNoError(error: string | null): void {
  if (error) throw new Error(error);
}
