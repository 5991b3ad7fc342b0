import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type ApiConfig, startApi } from '@counterfoil/api';
import { createStreams, type EventStore, openEventStore, systemContext } from '@counterfoil/engine';
import type { EnvironmentId, TenantId } from '@counterfoil/kernel';
import { startEventStore, startNats, startPostgres } from '@counterfoil/local';
import { firstTenant, modules, secretsFrom } from '@counterfoil/modules';
import { startProjectorApp } from '@counterfoil/projector';
import { startWebhooks, webhooksDefaults } from '@counterfoil/webhooks';
import { type Caller, caller } from './caller.ts';

/** A tenant of a test, with a key that may do everything in it. */
export interface TestTenant extends Caller {
  readonly tenantId: TenantId;
  readonly environmentId: EnvironmentId;
  readonly apiKey: string;
}

/** The whole service on throw-away servers. Everything is real; only fsync of Postgres is off. */
export interface Stack {
  readonly baseUrl: string;
  readonly eventStoreUrl: string;
  readonly databaseUrl: string;
  readonly natsUrl: string;
  readonly secretKey: string;
  /** Where the servers keep their data. */
  readonly directory: string;
  readonly store: EventStore;
  /** A tenant of its own; the same seed gives the same one. */
  tenant(seed: string): Promise<TestTenant>;
  stop(): Promise<void>;
}

interface StackOptions {
  readonly api?: Partial<ApiConfig>;
  /** Waits after failed deliveries, in milliseconds. */
  readonly retryLadder?: readonly number[];
}

const loopback = ['127.0.0.0/8'];

/** Starts the stack in about three seconds. */
export async function startStack({
  api: apiOptions,
  retryLadder,
}: StackOptions = {}): Promise<Stack> {
  const directory = mkdtempSync(join(tmpdir(), 'counterfoil-stack-'));
  const secretKey = randomBytes(32).toString('hex');
  const [eventStore, postgres, nats] = await Promise.all([
    startEventStore({ directory: join(directory, 'eventstore') }),
    startPostgres({ directory: join(directory, 'postgres'), durable: false }),
    startNats({ directory: join(directory, 'nats') }),
  ]);
  const urls = { EVENTSTORE_URL: eventStore.url, DATABASE_URL: postgres.url, NATS_URL: nats.url };
  const common = { HOST: '127.0.0.1', LOG_LEVEL: 'silent' as const };
  const projector = await startProjectorApp({ ...urls, ...common, HEALTH_PORT: 0 });
  const webhooks = await startWebhooks({
    ...webhooksDefaults,
    databaseUrl: postgres.url,
    natsUrl: nats.url,
    secretKey,
    policy: { allowHttp: true, allowedCidrs: loopback, deniedCidrs: [] },
    retry: { ...webhooksDefaults.retry, ...(retryLadder ? { ladder: retryLadder } : {}) },
  });
  const api = await startApi({
    ...urls,
    ...common,
    COUNTERFOIL_SECRET_KEY: secretKey,
    PORT: 0,
    RATE_LIMIT_PER_SECOND: 1_000_000,
    WEBHOOK_ALLOW_HTTP: true,
    WEBHOOK_ALLOWED_CIDRS: loopback,
    ...apiOptions,
  });
  const store = openEventStore({ url: eventStore.url });
  const baseUrl = `http://127.0.0.1:${api.port}`;
  const secrets = secretsFrom(secretKey);
  const streams = createStreams({
    store,
    aggregates: modules({ secrets }).flatMap(({ aggregates }) => aggregates),
  });
  return {
    baseUrl,
    eventStoreUrl: eventStore.url,
    databaseUrl: postgres.url,
    natsUrl: nats.url,
    secretKey,
    directory,
    store,
    async tenant(seed) {
      const plan = firstTenant(tenantOf(seed), secrets.keyMaterial);
      const context = systemContext(streams, { ...plan, correlationId: 'test' });
      for (const create of plan.creations) await create(context);
      const call = caller(baseUrl, plan.apiKey);
      await call.untilKnown();
      return { ...plan, ...call };
    },
    async stop() {
      await api.stop();
      await webhooks.stop();
      await projector.stop();
      await store.close();
      await Promise.all([eventStore.stop(), postgres.stop(), nats.stop()]);
      rmSync(directory, { recursive: true, force: true });
    },
  };
}

const tenantOf = (seed: string) =>
  ({
    seed,
    tenantName: `Tenant ${seed}`,
    environmentName: 'Test',
    environmentType: 'development',
    userName: `Owner of ${seed}`,
    email: `owner@${seed}.example.com`,
    keyName: 'Test key',
  }) as const;
