import {
  assertAdmitted,
  connectNats,
  createLog,
  createMetrics,
  createServiceServer,
  type HealthCheck,
  type Log,
  migrate,
  migrationsOf,
  openEventStore,
  startParts,
} from '@counterfoil/engine';
import { modules, secretsFrom } from '@counterfoil/modules';
import { startWorker, type WorkerStatus } from '@counterfoil/webhooks/worker';
import type { WebhooksConfig } from './config.ts';

export {
  type WebhooksConfig,
  webhooksConfig,
  webhooksDefaults,
  webhooksEnvironment,
} from './config.ts';

/** A running delivery worker with its health server. */
export interface Webhooks {
  /** The port of /healthz, /readyz and /metrics. */
  readonly healthPort: number;
  status(): WorkerStatus;
  /** Lets requests under way come to their end, records them and ends. */
  stop(): Promise<void>;
}

const drainMs = 1_000;

const close = (thing: { close(): Promise<void> }): Promise<void> => thing.close();

/**
 * Starts the delivery worker with its connections and its health server, after bringing the tables
 * up to date. Rejects when the database cannot be reached or the secret key is none, and stops the
 * parts that had been started.
 */
export const startWebhooks = (
  config: WebhooksConfig,
  log: Log = createLog({ level: 'info', name: 'webhooks' }),
  health: readonly HealthCheck[] = [],
): Promise<Webhooks> =>
  startParts(async (started) => {
    const { sealer } = secretsFrom(config.secretKey);
    const metrics = createMetrics();
    const migrations = migrationsOf(modules({ secrets: null }));
    const store = started.add(openEventStore({ url: config.eventStoreUrl }), close);
    await assertAdmitted({ store, database: config.databaseUrl });
    await migrate({ database: config.databaseUrl, migrations });
    const address = { url: config.natsUrl, name: 'counterfoil webhooks' };
    const nats = started.add(await connectNats({ ...address, log, metrics }), close);
    const worker = startWorker({ config, nats, store, sealer, log, metrics });
    const server = createServiceServer({
      health: [
        ...health,
        // Without NATS nothing new comes in, but what has come in is still delivered.
        { name: 'nats', required: false, check: nats.check },
        ...worker.health,
      ],
      metrics,
      log,
      info: { title: 'Counterfoil webhooks', version: '1', description: 'Delivery of webhooks' },
    });
    started.add(server, () => server.close(drainMs));
    // Last started and first stopped: it takes nothing new while the server still answers.
    started.add(worker, () => worker.stop());
    const { port } = await server.listen(config.healthPort, config.host);
    return { healthPort: port, status: worker.status };
  });
