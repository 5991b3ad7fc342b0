import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Api, type ApiConfig, startApi } from '@counterfoil/api';
import {
  createLog,
  createStreams,
  type EventStore,
  gatewayConfiguration,
  gatewayKeys,
  openEventStore,
  systemContext,
} from '@counterfoil/engine';
import type { EnvironmentId, TenantId } from '@counterfoil/kernel';
import {
  type LocalNats,
  type LocalServer,
  startEventGateway,
  startEventStore,
  startNats,
  startPostgres,
} from '@counterfoil/local';
import { firstTenant, modules, secretsFrom } from '@counterfoil/modules';
import { startProjectorApp } from '@counterfoil/projector';
import { startWebhooks, type WebhooksConfig, webhooksDefaults } from '@counterfoil/webhook-worker';
import { type Caller, caller } from './caller.ts';
import { type Part, startPart } from './part.ts';
import { openedTogether } from './run/at-end.ts';
import { type ListeningStripe, listeningStripe } from './stripe-server/listening.ts';
import { type Openings, openings } from './system/openings.ts';

/** A tenant of a test, with a key that may do everything in it. */
export interface TestTenant extends Caller {
  readonly tenantId: TenantId;
  readonly environmentId: EnvironmentId;
  readonly apiKey: string;
}

/** The parts of the service, each of which can be away for a while. */
export type PartName =
  | 'eventStore'
  | 'postgres'
  | 'nats'
  | 'eventGateway'
  | 'projector'
  | 'webhooks'
  | 'api';

/** The whole service on throw-away servers. Everything is real; only fsync of Postgres is off. */
export interface Stack {
  readonly baseUrl: string;
  readonly eventStoreUrl: string;
  readonly databaseUrl: string;
  readonly natsUrl: string;
  readonly eventGatewayUrl: string;
  readonly secretKey: string;
  /** The folder of the servers' data. */
  readonly directory: string;
  readonly store: EventStore;
  /** The server in the place of Stripe, by which environments take money that have set an account. */
  readonly stripe: ListeningStripe;
  /** The parts that the test may stop and start again. */
  readonly parts: Readonly<Record<PartName, Part>>;
  /** A tenant of its own; the same seed gives the same one. */
  tenant(seed: string): Promise<TestTenant>;
  stop(): Promise<void>;
}

/** A stack that several test files use, each with tenants of its own. */
export type SharedStack = Omit<Stack, 'stop'>;

interface StackOptions {
  readonly api?: Partial<ApiConfig>;
  /** Waits after failed deliveries, in milliseconds. */
  readonly retryLadder?: readonly number[];
  /** Further settings of the delivery worker. */
  readonly webhooks?: Partial<WebhooksConfig>;
  /** The interval at which the ledger is signed by itself; by default not within a test. */
  readonly checkpointIntervalSeconds?: number;
  /** The interval at which the whole log is verified by itself; by default once within a test. */
  readonly verificationIntervalSeconds?: number;
}

const loopback = ['127.0.0.0/8'];

/**
 * Starts the stack in about three seconds. When a part fails, those that have been started are
 * stopped.
 */
export async function startStack(options: StackOptions = {}): Promise<Stack> {
  const opened = openings();
  try {
    return await openStack(options, opened);
  } catch (error) {
    await opened.closeAll().catch(() => undefined);
    throw error;
  }
}

let shared: Promise<Stack> | undefined;
/** The tenants of the shared stack, each with the share to which it belongs. */
const shares = new Map<string, SharedStack>();

/**
 * Gives the stack that the test files of this process share: the runner puts files that call this into one process,
 * which starts it once and stops it after the last file. It is for files that look at nothing but their own tenants.
 * A part that a file has stopped runs again before the next file gets the stack.
 *
 * @returns the stack, in which a tenant that another file has made is refused
 */
export async function sharedStack(): Promise<SharedStack> {
  shared ??= startStack().then((started) => openedTogether.add(started, (one) => one.stop()));
  const stack = await shared;
  for (const part of Object.values(stack.parts)) await part.start();
  const share: SharedStack = {
    ...stack,
    async tenant(seed) {
      const owner = shares.get(seed) ?? share;
      if (owner !== share) throw new Error(`another test file has a tenant of the name ${seed}`);
      shares.set(seed, share);
      return await stack.tenant(seed);
    },
  };
  return share;
}

async function openStack(options: StackOptions, opened: Openings): Promise<Stack> {
  const directory = opened.add(mkdtempSync(join(tmpdir(), 'counterfoil-stack-')), async (path) =>
    rmSync(path, { recursive: true, force: true }),
  );
  const secretKey = randomBytes(32).toString('hex');
  const servers = await startServers(directory, secretKey, opened);
  const { EVENTSTORE_URL: eventStoreUrl, DATABASE_URL: databaseUrl } = servers.urls;
  const store = opened.add(openEventStore({ url: eventStoreUrl }), (opening) => opening.close());
  const stripe = opened.add(await listeningStripe(), (server) => server.close());
  const tools = { secretKey, options, stripe };
  const applications = await startApplications(servers.urls, tools, opened);
  const { baseUrl } = applications;
  const secrets = secretsFrom(secretKey);
  const streams = createStreams({
    store,
    aggregates: modules({ secrets }).flatMap(({ aggregates }) => aggregates),
  });
  return {
    baseUrl,
    eventStoreUrl,
    databaseUrl,
    natsUrl: servers.urls.NATS_URL,
    eventGatewayUrl: servers.urls.EVENT_GATEWAY_URL,
    secretKey,
    directory,
    ...{ store, stripe },
    parts: { ...servers.parts, ...applications.parts },
    async tenant(seed) {
      const plan = firstTenant(tenantOf(seed), secrets.keyMaterial);
      const context = systemContext(streams, { ...plan, correlationId: 'test' });
      for (const create of plan.creations) await create(context);
      const call = caller(baseUrl, plan.apiKey);
      await call.untilKnown();
      return { ...plan, ...call };
    },
    stop: opened.closeAll,
  };
}

/** Starts a part and sees to it that it is stopped in the end. */
async function open<Running extends { stop(): Promise<unknown> }>(
  opened: Openings,
  launch: (former: Running | null) => Promise<Running>,
) {
  const started = await startPart(launch);
  opened.add(started.part, (part) => part.stop());
  return started;
}

interface Urls {
  readonly EVENTSTORE_URL: string;
  readonly DATABASE_URL: string;
  readonly NATS_URL: string;
  readonly EVENT_GATEWAY_URL: string;
}

/** The servers. Each comes back on its port and folder, so that its address stays the same. */
async function startServers(directory: string, secretKey: string, opened: Openings) {
  const place = (name: string, former: { readonly port: number } | null) => ({
    directory: join(directory, name),
    ...(former ? { port: former.port } : {}),
  });
  const starting = [
    open<LocalServer>(opened, (former) => startEventStore(place('eventstore', former))),
    open<LocalServer>(opened, (former) =>
      startPostgres({ ...place('postgres', former), durable: false }),
    ),
    open<LocalNats>(opened, (former) =>
      startNats({ ...place('nats', former), ...(former ? { leafPort: former.leafPort } : {}) }),
    ),
  ] as const;
  // One that fails must not leave behind another one that is still coming up.
  await Promise.allSettled(starting);
  const [eventStore, postgres, nats] = await Promise.all(starting);
  const gateway = await open<LocalServer>(opened, (former) =>
    startEventGateway({
      ...place('event-gateway', former),
      configuration: (at) =>
        gatewayConfiguration(gatewayKeys(secretsFrom(secretKey).gatewaySeed), {
          ...at,
          leafUrl: `nats-leaf://127.0.0.1:${nats.first.leafPort}`,
        }),
    }),
  );
  const urls: Urls = {
    EVENTSTORE_URL: eventStore.first.url,
    DATABASE_URL: postgres.first.url,
    NATS_URL: nats.first.url,
    EVENT_GATEWAY_URL: gateway.first.url,
  };
  return {
    urls,
    parts: {
      eventStore: eventStore.part,
      postgres: postgres.part,
      nats: nats.part,
      eventGateway: gateway.part,
    },
  };
}

async function startApplications(
  urls: Urls,
  {
    secretKey,
    options,
    stripe,
  }: {
    readonly secretKey: string;
    readonly options: StackOptions;
    readonly stripe: ListeningStripe;
  },
  opened: Openings,
) {
  const common = {
    ...{ HOST: '127.0.0.1', LOG_LEVEL: 'silent' as const, CLOCK_SKEW_SECONDS: 5 },
    ...{ PAYMENT_PROVIDER: 'stripe' as const, STRIPE_API_URL: stripe.url },
  };
  const { retryLadder } = options;
  const projector = await open(opened, () =>
    startProjectorApp({
      ...urls,
      ...common,
      HEALTH_PORT: 0,
      COUNTERFOIL_SECRET_KEY: secretKey,
      WEBHOOK_ALLOW_HTTP: true,
      WEBHOOK_ALLOWED_CIDRS: loopback,
      WEBHOOK_DENIED_CIDRS: [],
      CHECKPOINT_INTERVAL_SECONDS: options.checkpointIntervalSeconds ?? 3_600,
      VERIFICATION_INTERVAL_SECONDS: options.verificationIntervalSeconds ?? 3_600,
      VERIFICATION_EVENTS_PER_SECOND: 100_000,
    }),
  );
  const webhooks = await open(opened, () =>
    startWebhooks(
      {
        ...webhooksDefaults,
        databaseUrl: urls.DATABASE_URL,
        natsUrl: urls.NATS_URL,
        eventStoreUrl: urls.EVENTSTORE_URL,
        secretKey,
        policy: { allowHttp: true, allowedCidrs: loopback, deniedCidrs: [] },
        retry: { ...webhooksDefaults.retry, ...(retryLadder ? { ladder: retryLadder } : {}) },
        ...options.webhooks,
      },
      createLog({ level: 'silent', name: 'webhooks' }),
    ),
  );
  const api = await open<Api>(opened, (former) =>
    startApi({
      ...urls,
      ...common,
      COUNTERFOIL_SECRET_KEY: secretKey,
      PORT: former?.port ?? 0,
      OPERATOR_HOST: '127.0.0.1',
      OPERATOR_PORT: 0,
      RATE_LIMIT_PER_SECOND: 1_000_000,
      UNKNOWN_NAMES: 'refuse',
      CORS_ORIGINS: [],
      WEBHOOK_ALLOW_HTTP: true,
      WEBHOOK_ALLOWED_CIDRS: loopback,
      WEBHOOK_DENIED_CIDRS: [],
      ...options.api,
    }),
  );
  return {
    baseUrl: `http://127.0.0.1:${api.first.port}`,
    parts: { projector: projector.part, webhooks: webhooks.part, api: api.part },
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
