import { randomBytes } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import {
  connectNats,
  createLog,
  createMetrics,
  ensureStreams,
  type Metrics,
  migrate,
  type Nats,
  publicStream,
  publicSubject,
  startProjector,
} from '@counterfoil/engine';
import { instantOf, randomId } from '@counterfoil/kernel';
// biome-ignore lint/correctness/noUndeclaredDependencies: only tests import this file.
import { secretsFrom } from '@counterfoil/modules';
// biome-ignore lint/correctness/noUndeclaredDependencies: only tests import this file.
import { MemoryStore } from '@counterfoil/testkit';
// biome-ignore lint/correctness/noUndeclaredDependencies: only tests import this file.
import { headers } from 'nats';
// biome-ignore lint/correctness/noUndeclaredDependencies: only tests import this file.
import { Pool } from 'pg';
import { type Endpoint, sealingContext } from '../endpoint/endpoint.ts';
import { endpointTable, taskTable } from '../projection.ts';
import { webhookMigrations } from '../queue/migrations.ts';
import { startWorker, type Worker, type WorkerConfig, workerDefaults } from './index.ts';
import { TestServers } from './test-servers.ts';

/** A log that writes nothing. */
export const silent = createLog({ level: 'silent', name: 'test' });
const waitMs = 120_000;
/** Nothing in a test waits longer, so that what never comes is told by name. */
const inTime = (): AbortSignal => AbortSignal.timeout(waitMs);
/** Beyond every position that a test publishes: the read model never is what is waited for. */
const farAhead = '1000000000000';

/** Waits until something holds. Fails, with its name, when it does not in time. */
export async function eventually(
  name: string,
  holds: () => boolean | Promise<boolean>,
): Promise<void> {
  const deadline = Date.now() + waitMs;
  while (!(await holds())) {
    if (Date.now() > deadline) throw new Error(`not in time: ${name}`);
    await delay(5);
  }
}

/** The settings of an endpoint that a test may choose; the rest has the usual values. */
export interface EndpointOptions extends Partial<Omit<Endpoint, 'headers' | 'secret'>> {
  readonly url: string;
  readonly environment_id: string;
  readonly createdPosition?: bigint;
  readonly headers?: Readonly<Record<string, string>>;
}

export interface TestEndpoint {
  readonly id: string;
  readonly secret: string;
}

/** A message as a test publishes it. */
export interface TestMessage {
  readonly environment: string;
  readonly type?: string;
  readonly resourceId?: string;
  readonly revision?: number;
  readonly body?: Readonly<Record<string, unknown>>;
  readonly position?: bigint;
}

/** Real servers of its own, with an empty stream and the tables of the worker and the projector. */
export class World {
  readonly servers: TestServers;
  readonly #nats: Nats;
  readonly pool: Pool;
  readonly secretKey = randomBytes(32).toString('hex');
  readonly databaseUrl: string;
  readonly natsUrl: string;
  /** The log, as far as the worker writes into it. */
  readonly store = new MemoryStore();
  #position = 1_000n;
  #workers: Worker[] = [];

  private constructor(servers: TestServers, nats: Nats) {
    this.servers = servers;
    this.#nats = nats;
    this.databaseUrl = servers.databaseUrl;
    this.natsUrl = servers.natsUrl;
    this.pool = new Pool({ connectionString: servers.databaseUrl, max: 4 });
    // A session that ends while it is at rest, and one that ends while it is at work.
    this.pool.on('error', () => undefined);
    this.pool.on('connect', (client) => client.on('error', () => undefined));
  }

  static async start(durable = false): Promise<World> {
    const servers = await TestServers.start(durable);
    const nats = await connectNats({ url: servers.natsUrl, name: 'test', log: silent });
    await ensureStreams(nats, {}, inTime());
    const world = new World(servers, nats);
    await migrate({ database: servers.databaseUrl, migrations: webhookMigrations });
    await world.#makeReadTable();
    return world;
  }

  /** The projector makes the table, so that it is the real one; tests fill it themselves. */
  async #makeReadTable(): Promise<void> {
    const projector = startProjector({
      store: new MemoryStore(),
      database: this.databaseUrl,
      tables: [endpointTable, taskTable],
      log: silent,
    });
    await eventually('the read table is there', async () => {
      const rows = await this.query('select 1 from counterfoil.projection where serving');
      return rows.length === 2;
    });
    await projector.stop();
    await this.setReadModelPosition(farAhead);
  }

  async setReadModelPosition(position: string): Promise<void> {
    await this.query('update counterfoil.projection set position = $1', [position]);
  }

  async query<Row extends Record<string, unknown>>(
    text: string,
    values: readonly unknown[] = [],
  ): Promise<Row[]> {
    return (await this.pool.query(text, [...values])).rows as Row[];
  }

  /** Puts an endpoint into the read table, as the projector would. */
  async addEndpoint(options: EndpointOptions): Promise<TestEndpoint> {
    const now = instantOf(Date.now());
    const id = options.id ?? randomId('webhook', now);
    const secret = `whsec_${randomBytes(32).toString('base64')}`;
    const { createdPosition = 0n, headers: ownHeaders, ...given } = options;
    const { sealer } = secretsFrom(this.secretKey);
    const seal = (text: string, what: 'secret' | 'headers') =>
      sealer.seal(text, sealingContext(id, what));
    const endpoint: Endpoint = {
      description: null,
      event_types: null,
      order_mode: 'resource_fifo',
      order_guard_seconds: 300,
      max_in_flight: 8,
      rate_limit_per_second: null,
      payload: 'full',
      signature: 'hmac',
      metadata: {},
      tenant_id: 'tenant_1',
      created_at: now,
      created_by: 'system',
      updated_at: now,
      updated_by: 'system',
      status: 'published',
      enabled: true,
      disabled_reason: null,
      disabled_at: null,
      enabled_at: now,
      former_secrets: [],
      last_report: null,
      ...given,
      id,
      headers: ownHeaders
        ? {
            names: Object.keys(ownHeaders),
            sealed: seal(JSON.stringify(ownHeaders), 'headers'),
          }
        : null,
      secret: seal(secret, 'secret'),
    };
    await this.#putEndpoint(endpoint, createdPosition, 0);
    return { id, secret };
  }

  async #putEndpoint(endpoint: Endpoint, position: bigint, revision: number): Promise<void> {
    const row = { endpoint, created_position: String(position) };
    const columns = Object.entries(endpointTable.columns).map(
      ([name, column]) => [name, column.of(endpointTable.view(row), row)] as const,
    );
    await this.query(
      `insert into counterfoil.webhook_endpoints_v2 (id, tenant_id, environment_id, status,
         created_at, updated_at, revision, position, state, resource,
         ${columns.map(([name]) => name).join(', ')})
       values ($1, $2, $3, $4, now(), now(), $5, $6, $7, $8,
         ${columns.map((_, index) => `$${index + 9}`).join(', ')})
       on conflict (environment_id, id) do update set status = excluded.status,
         revision = excluded.revision, state = excluded.state,
         ${columns.map(([name]) => `${name} = excluded.${name}`).join(', ')}`,
      [
        endpoint.id,
        endpoint.tenant_id,
        endpoint.environment_id,
        endpoint.status,
        revision,
        String(position),
        JSON.stringify(row),
        JSON.stringify(endpointTable.view(row)),
        ...columns.map(([, value]) => value),
      ],
    );
  }

  /** Changes an endpoint in the read table. */
  async changeEndpoint(id: string, changes: Partial<Endpoint>): Promise<void> {
    const [row] = await this.query<{
      revision: string;
      state: { endpoint: Endpoint; created_position: string };
    }>('select revision, state from counterfoil.webhook_endpoints_v2 where id = $1', [id]);
    if (!row) throw new Error(`there is no endpoint ${id}`);
    const { endpoint, created_position } = row.state;
    const revision = Number(row.revision) + 1;
    await this.#putEndpoint({ ...endpoint, ...changes }, BigInt(created_position), revision);
  }

  /** Publishes a message as the relay does. Gives its id. */
  async publish(message: TestMessage): Promise<string> {
    const { environment, type = 'customer.updated', resourceId = 'cust_1', body = {} } = message;
    this.#position += 10n;
    const position = message.position ?? this.#position;
    const id = `evt_${position.toString().padStart(13, '0')}_0`;
    const head = headers();
    const values = {
      'ce-id': id,
      'ce-type': type,
      'ce-subject': resourceId,
      'ce-time': instantOf(Date.now()),
      'Billing-Position': String(position),
      'Billing-Index': '0',
      'Billing-Count': '1',
      'Billing-Stream': `customer-${environment}.${resourceId}`,
      'Billing-Revision': String(message.revision ?? 0),
      'Billing-Correlation': 'req_1',
    };
    for (const [name, value] of Object.entries(values)) head.set(name, value);
    const subject = publicSubject({
      tenantId: 'tenant_1',
      environmentId: environment,
      type,
      resourceId,
    });
    const { connection } = await this.#nats.session(inTime());
    const bytes = Buffer.from(JSON.stringify({ event_type: type, ...body }));
    await connection.jetstream().publish(subject, bytes, { headers: head });
    return id;
  }

  /** Publishes into the stream what no relay publishes. */
  async publishStray(): Promise<void> {
    const { connection } = await this.#nats.session(inTime());
    await connection.jetstream().publish('billing.v1.stray', Buffer.from('not the relay'));
  }

  /** Throws the stream away, with everything in it, and makes an empty one. */
  async recreateStream(): Promise<void> {
    const { connection } = await this.#nats.session(inTime());
    const manager = await connection.jetstreamManager({ checkAPI: false });
    await manager.streams.delete(publicStream);
    await ensureStreams(this.#nats, {}, inTime());
  }

  config(overrides: Partial<WorkerConfig> = {}): WorkerConfig {
    return {
      ...workerDefaults,
      databaseUrl: this.databaseUrl,
      policy: { allowHttp: true, allowedCidrs: ['127.0.0.0/8'], deniedCidrs: [] },
      retry: { ladder: [20, 20, 20], slowDown: 0, retryAfterMaximum: 0, blockedAttempts: 3 },
      pollMs: 20,
      upkeepMs: 50,
      ...overrides,
    };
  }

  startWorker(
    overrides: Partial<WorkerConfig> = {},
    secretKey = this.secretKey,
  ): Worker & { readonly metrics: Metrics } {
    const metrics = createMetrics();
    const worker = startWorker({
      config: this.config(overrides),
      nats: this.#nats,
      store: this.store,
      sealer: secretsFrom(secretKey).sealer,
      log: silent,
      metrics,
    });
    this.#workers.push(worker);
    return { ...worker, metrics };
  }

  async stopWorkers(): Promise<void> {
    await Promise.all(this.#workers.splice(0).map((worker) => worker.stop()));
  }

  /** The states of an endpoint's deliveries, in order. */
  async states(endpointId: string): Promise<readonly string[]> {
    const rows = await this.query<{ state: string }>(
      'select state from counterfoil.webhook_deliveries where endpoint_id = $1 order by id',
      [endpointId],
    );
    return rows.map(({ state }) => state);
  }

  async stop(): Promise<void> {
    await this.stopWorkers();
    await this.#nats.close();
    await this.pool.end();
    await this.servers.stop();
  }
}
