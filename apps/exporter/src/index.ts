import {
  assertAdmitted,
  createLog,
  createMetrics,
  createServiceServer,
  createStreams,
  eventsOfRecords,
  type HealthCheck,
  type Log,
  migrate,
  migrationsOf,
  openEventStore,
  startLiveFold,
  startParts,
  systemClock,
  watchClock,
} from '@counterfoil/engine';
import { createClocks, modules, secretsFrom, testClock } from '@counterfoil/modules';
import { targetPolicyOf } from '@counterfoil/webhooks';
import type { ExporterConfig } from './config.ts';
import { runExports } from './run-exports.ts';

export { type ExporterConfig, exporterConfigSchema } from './config.ts';

/** A running exporter. */
export interface Exporter {
  /** The port of /healthz, /readyz and /metrics. */
  readonly healthPort: number;
  /** Ends it. Runs under way are broken off, and carried out anew by whoever is next. */
  stop(): Promise<void>;
}

const drainMilliseconds = 1_000;

const close = (thing: { close(): Promise<void> }): Promise<void> => thing.close();
const stop = (part: { stop(): Promise<void> }): Promise<void> => part.stop();

/** Starts to carry out exports. Where that fails, the parts that had been started are stopped. */
export const startExporter = (
  config: ExporterConfig,
  health: readonly HealthCheck[] = [],
  log: Log = createLog({ level: config.LOG_LEVEL, name: 'exporter' }),
): Promise<Exporter> =>
  startParts(async (started) => {
    const { DATABASE_URL: database, CLOCK_SKEW_SECONDS: limitSeconds } = config;
    const metrics = createMetrics();
    const slices = modules({ secrets: null });
    const store = started.add(openEventStore({ url: config.EVENTSTORE_URL }), close);
    await assertAdmitted({ store, database });
    await migrate({ database, migrations: migrationsOf(slices) });
    const aggregates = slices.flatMap((slice) => slice.aggregates);
    const clocks = createClocks(systemClock);
    const time = started.add(watchClock({ store, limitSeconds, log, metrics }), stop);
    // Nobody tells it of the log: it looks at few records, and reads them when it does.
    const streams = createStreams({
      store,
      aggregates,
      clock: clocks,
      doubtOfTime: time.doubt,
    });
    const follow = eventsOfRecords([testClock], (event) => clocks.apply(event));
    const fold = startLiveFold({ store, ...follow, onFailed: thrown });
    started.add(fold, stop);
    await fold.ready;
    const done = metrics.counter({
      name: 'counterfoil_export_attempts_total',
      help: 'Attempts at runs of exports, by outcome',
      labels: ['outcome'],
    });
    const { sealer } = secretsFrom(config.COUNTERFOIL_SECRET_KEY);
    const exporting = runExports({
      database,
      store,
      streams,
      log,
      sealer,
      policy: targetPolicyOf(config),
      folder: config.EXPORT_FOLDER ?? null,
      isRight: () => time.isRight(),
      onOutcome: (outcome) => done.inc({ outcome }),
    });
    const server = createServiceServer({
      health: [
        ...health,
        { name: 'event_store', required: true, check: () => store.ping() },
        { name: 'clock', required: false, check: () => time.check() },
        { name: 'runs', required: true, check: () => exporting.check() },
      ],
      metrics,
      log,
      info: { title: 'Counterfoil exporter', version: '1', description: 'Files of exports' },
    });
    started.add(server, () => server.close(drainMilliseconds));
    started.add(exporting, stop);
    const { port } = await server.listen(config.HEALTH_PORT, config.HOST);
    return { healthPort: port };
  });

const thrown = (error: unknown): never => {
  throw error;
};
