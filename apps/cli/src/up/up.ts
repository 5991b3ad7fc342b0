import { createHmac, randomBytes } from 'node:crypto';
import { existsSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { apiConfigSchema } from '@counterfoil/api/config';
import {
  gatewayKeys,
  migrate,
  migrationsOf,
  openEventStore,
  parseConfig,
} from '@counterfoil/engine';
import { exporterConfigSchema } from '@counterfoil/exporter/config';
import {
  type DataFolder,
  DataFolderInUseError,
  dataFolder,
  freePort,
  openLogFile,
} from '@counterfoil/local';
import { modules, secretsFrom } from '@counterfoil/modules';
import { projectorConfigSchema } from '@counterfoil/projector/config';
import { webhooksEnvironment } from '@counterfoil/webhook-worker/config';
import { demoTenant, type Seeded, seedTenant } from '../seed.ts';
import {
  type Demo,
  demoFile,
  OperatorError,
  type ServerUrls,
  type Settings,
  secretFile,
  secretKeyOf,
} from '../settings.ts';
import { type ApplicationName, startApplication } from './applications.ts';
import { type Servers, startServers } from './servers.ts';

/** A running installation. */
export interface Installation {
  readonly demo: Demo;
  /** The addresses of all processes of the api, that of the demo first. */
  readonly apiUrls: readonly string[];
  /** Resolves when the processes run, too, that nobody who asks the api waits for. */
  readonly whole: Promise<void>;
  stop(): Promise<void>;
}

const readyMilliseconds = 60_000;
const pollMilliseconds = 50;

/** Local servers may be called back by webhooks of a local installation, and over http. */
const localWebhookPolicy = {
  WEBHOOK_ALLOW_HTTP: 'true',
  WEBHOOK_ALLOWED_CIDRS: '127.0.0.0/8,::1/128',
} as const;

interface InstallationOptions {
  /** Processes of the api; one unless given. The second is called `api-2`, and so on. */
  readonly apiProcesses?: number;
}

/**
 * Starts everything: servers that the settings do not name, then projector, webhooks and api, and
 * a demo tenant. Resolves when a request with the demo key is answered. Throws `OperatorError`.
 */
export async function startInstallation(
  settings: Settings,
  { apiProcesses = 1 }: InstallationOptions = {},
): Promise<Installation> {
  const folder = await takeFolder(settings.COUNTERFOIL_DATA);
  const stops: (() => Promise<void>)[] = [async () => folder.release()];
  const stop = async (): Promise<void> => {
    for (const step of stops.splice(0).reverse()) await step();
  };
  try {
    assertConfigured(settings);
    await assertPortFree(settings.HOST, settings.PORT);
    await assertUsable(settings);
    const log = openLogFile(join(folder.path, 'counterfoil.log'));
    stops.push(async () => log.close());
    const secretKey = keepSecretKey(settings);
    const keys = gatewayKeys(secretsFrom(secretKey).gatewaySeed);
    const servers = await startServers(settings, folder.path, keys, log);
    stops.push(() => servers.stop());
    const operatorKey = settings.OPERATOR_KEY ?? operatorKeyFrom(secretKey);
    const env = {
      SNAPSHOT_FOLDER: join(folder.path, 'snapshots'),
      OPERATOR_PORT: '0',
      EXPORT_FOLDER: join(folder.path, 'exports'),
      ...applicationEnvironment(settings, servers, secretKey),
      OPERATOR_KEY: operatorKey,
    };
    const seeded = await seedTenant(servers.urls.eventStoreUrl, secretKey, demoTenant);
    const start = (kind: ApplicationName, name?: string, port?: string) => {
      const own = port === undefined ? env : { ...env, PORT: port };
      const application = startApplication(kind, own, folder, log, name);
      stops.push(() => application.stop());
      return application.ready;
    };
    const [, , api] = await Promise.all([start('projector'), start('webhooks'), start('api')]);
    // Who uses the service does not wait for it.
    const whole = start('exporter').then(
      () => undefined,
      () => undefined,
    );
    const apiUrls = [`http://${settings.HOST}:${Number(api.readyLine.port)}`];
    for (let number = 2; number <= apiProcesses; number += 1) {
      // A port that stays the same when the process is started again.
      const port = String(await freePort());
      await start('api', `api-${number}`, port);
      apiUrls.push(`http://${settings.HOST}:${port}`);
    }
    const demo = describe(settings, servers.urls, seeded, {
      port: Number(api.readyLine.port),
      operatorPort: Number(api.readyLine.operator_port),
      operatorKey,
    });
    await untilAnswered(demo);
    writeFileSync(demoFile(folder.path), `${JSON.stringify(demo, null, 2)}\n`, { mode: 0o600 });
    return { demo, apiUrls, whole, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

async function takeFolder(path: string): Promise<DataFolder> {
  try {
    return await dataFolder(path);
  } catch (error) {
    throw error instanceof DataFolderInUseError ? new OperatorError(error.message) : error;
  }
}

/** Throws `ConfigError` when a program would refuse its environment, before anything is started. */
function assertConfigured({ COUNTERFOIL_SECRET_KEY: key = '0'.repeat(64) }: Settings): void {
  const urls = { EVENTSTORE_URL: 'x', DATABASE_URL: 'x', NATS_URL: 'x' };
  const environment = { ...process.env, ...urls, HEALTH_PORT: '0', COUNTERFOIL_SECRET_KEY: key };
  parseConfig(apiConfigSchema, environment);
  parseConfig(projectorConfigSchema, environment);
  parseConfig(exporterConfigSchema, environment);
  parseConfig(webhooksEnvironment, environment, { ownPrefix: 'WEBHOOK_' });
}

/** Throws what is wrong with the servers that the settings name, before others are started: away, a wrong password, missing rights. */
async function assertUsable({ EVENTSTORE_URL, DATABASE_URL }: Settings): Promise<void> {
  if (EVENTSTORE_URL) {
    const store = openEventStore({ url: EVENTSTORE_URL });
    await store.ping().finally(() => store.close());
  }
  if (DATABASE_URL) {
    const migrations = migrationsOf(modules({ secrets: null }));
    await migrate({ database: DATABASE_URL, migrations });
  }
}

function keepSecretKey(settings: Settings): string {
  const file = secretFile(settings.COUNTERFOIL_DATA);
  if (!settings.COUNTERFOIL_SECRET_KEY && !existsSync(file)) {
    writeFileSync(file, `${randomBytes(32).toString('hex')}\n`, { mode: 0o600, flag: 'wx' });
  }
  return secretKeyOf(settings);
}

const applicationEnvironment = (
  settings: Settings,
  { urls, eventGatewayUrl }: Servers,
  secretKey: string,
): NodeJS.ProcessEnv => ({
  ...localWebhookPolicy,
  ...process.env,
  HOST: settings.HOST,
  PORT: String(settings.PORT),
  HEALTH_PORT: '0',
  EVENTSTORE_URL: urls.eventStoreUrl,
  DATABASE_URL: urls.databaseUrl,
  NATS_URL: urls.natsUrl,
  ...(eventGatewayUrl === undefined ? {} : { EVENT_GATEWAY_URL: eventGatewayUrl }),
  COUNTERFOIL_SECRET_KEY: secretKey,
});

/** The key of the operator API, which no one needs to keep: it follows from the secret key. */
const operatorKeyFrom = (secretKey: string): string =>
  createHmac('sha256', secretKey).update('operator key').digest('hex');

interface Listening {
  readonly port: number;
  readonly operatorPort: number;
  readonly operatorKey: string;
}

const describe = (
  settings: Settings,
  urls: ServerUrls,
  seeded: Seeded,
  { port, operatorPort, operatorKey }: Listening,
): Demo => ({
  base_url: `http://${settings.HOST}:${port}`,
  api_key: seeded.apiKey,
  tenant_id: seeded.tenantId,
  environment_id: seeded.environmentId,
  user_id: seeded.userId,
  operator_url: `http://127.0.0.1:${operatorPort}`,
  operator_key: operatorKey,
  nats_url: urls.natsUrl,
  database_url: urls.databaseUrl,
  eventstore_url: urls.eventStoreUrl,
  pid: process.pid,
});

/** A read that needs all tables, by the demo key; without one a read of the operator. */
const firstRead = ({ base_url, api_key, tenant_id, operator_url, operator_key }: Demo) =>
  api_key === null
    ? { url: `${operator_url}/v1/tenants/${tenant_id}/users?limit=1`, key: operator_key }
    : { url: `${base_url}/v1/webhooks/endpoints?limit=1`, key: api_key };

/** Waits until the API knows the demo key and the read models answer. */
async function untilAnswered(demo: Demo): Promise<void> {
  const deadline = Date.now() + readyMilliseconds;
  const { url, key } = firstRead(demo);
  let last = 'no answer';
  while (Date.now() < deadline) {
    const answer = await fetch(url, { headers: { 'x-api-key': key } }).catch(String);
    // The user of the demo key may have lost the right to read since.
    if (typeof answer !== 'string' && (answer.ok || answer.status === 403)) return;
    last = typeof answer === 'string' ? answer : await answer.text();
    await pause(pollMilliseconds);
  }
  throw new OperatorError(`The installation did not become ready: ${last}`);
}

/** Throws a one-sentence error early when the port is taken. Port 0 takes a free one. */
function assertPortFree(host: string, port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    const probe = createServer();
    probe.once('error', () =>
      reject(
        new OperatorError(
          `Port ${port} on ${host} is taken. Stop what uses it, or choose another: PORT=4001 npm start`,
        ),
      ),
    );
    probe.listen({ host, port }, () => probe.close(() => resolve()));
  });
}
