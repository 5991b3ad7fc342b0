import { Problem } from '@counterfoil/kernel';
import { Pool, type PoolClient, type QueryConfig } from 'pg';
import { exactTypes, type QueryResult, sessionSettings } from '../database/database.ts';
import { isUnavailable, readProblem } from '../database/database-errors.ts';
import type { Place } from '../define/context.ts';
import type { Log } from '../operations/log.ts';
import { readerRole, scopeSettings } from '../projection/table-shape.ts';
import { SessionShare } from './session-share.ts';
import { SharedReads } from './shared-reads.ts';

export interface PoolOptions {
  readonly url: string;
  readonly log: Log;
  /** Sessions at most. */
  readonly connections: number;
  /** Milliseconds after which Postgres gives a statement up. */
  readonly statementTimeoutMs: number;
  /** Milliseconds that a read may wait for a free session. */
  readonly checkoutTimeoutMs: number;
  /**
   * True where statements are planned once for all values. Left to itself Postgres goes on planning each anew that reads a
   * part of a partitioned table, because it takes a plan for all parts to be dearer: planning is then most of the work.
   */
  readonly plansOnce?: boolean;
  /** True where work asks the same of many records at once, such as how far a table is: then one answer serves all who wait for it. */
  readonly sharesReads?: boolean;
}

/**
 * Pages are in memory, or on a disk that finds any of them as fast as the next. By its own figure, of turning disks, Postgres
 * reads a whole month with all its processes rather than the tenth of it that an index finds.
 */
const pageCost = ' -c random_page_cost=1.1';

const planOnce = ' -c plan_cache_mode=force_generic_plan';

/** Grace for the answer to travel before the session counts as dead. */
const readGraceMs = 2_000;

/**
 * Sessions that can only read, as the reader role and for one tenant and environment at a time, so that
 * row-level security shows no row of anybody else, whatever the statement says.
 */
export class ScopedPool {
  readonly #pool: Pool;
  readonly #share: SessionShare;
  readonly #shared: SharedReads<QueryResult<unknown>> | null;
  readonly #log: Log;
  readonly #places = new WeakMap<PoolClient, Place>();

  constructor(options: PoolOptions) {
    this.#log = options.log;
    this.#shared = options.sharesReads ? new SharedReads() : null;
    this.#share = new SessionShare({
      perTenant: Math.ceil(options.connections / 2),
      waitMs: options.checkoutTimeoutMs,
    });
    this.#pool = new Pool({
      connectionString: options.url,
      application_name: 'counterfoil api',
      options: `${sessionSettings} -c default_transaction_read_only=on${pageCost}${options.plansOnce ? planOnce : ''}`,
      types: exactTypes,
      max: options.connections,
      connectionTimeoutMillis: options.checkoutTimeoutMs,
      statement_timeout: options.statementTimeoutMs,
      query_timeout: options.statementTimeoutMs + readGraceMs,
      idleTimeoutMillis: 60_000,
      keepAlive: true,
    });
    // A session that breaks is replaced by the pool. Without listeners, the pool's for idle ones
    // and the session's own while it is at work, its loss would end the process.
    this.#pool.on('error', () => undefined);
    this.#pool.on('connect', (client) => client.on('error', () => undefined));
  }

  /**
   * Runs one statement for this tenant and environment. Throws a `Problem`: service_unavailable when Postgres
   * cannot answer now, too_many_requests when other reads of the tenant take their time.
   */
  query<Row>(place: Place, statement: QueryConfig): Promise<QueryResult<Row>> {
    const read = () => this.#share.run(place.tenantId, () => this.#read<Row>(place, statement));
    if (!this.#shared) return read();
    return this.#shared.run(questionOf(place, statement), read) as Promise<QueryResult<Row>>;
  }

  async #read<Row>(place: Place, statement: QueryConfig): Promise<QueryResult<Row>> {
    let client: PoolClient;
    try {
      client = await this.#pool.connect();
    } catch (error) {
      throw readProblem(error);
    }
    let isUsable = await this.#enter(client, place);
    try {
      if (!isUsable) throw notReady();
      const { rows, rowCount } = await client.query(statement);
      return { rows: rows as Row[], count: rowCount ?? 0 };
    } catch (error) {
      // A session that timed out may still give the answer, to the next question.
      isUsable &&= !isUnavailable(error);
      throw readProblem(error);
    } finally {
      client.release(!isUsable);
    }
  }

  /** Binds the session to its tenant. False when that failed: then nothing may be read in it. */
  async #enter(client: PoolClient, { tenantId, environmentId }: Place): Promise<boolean> {
    const current = this.#places.get(client);
    if (current?.tenantId === tenantId && current.environmentId === environmentId) return true;
    this.#places.delete(client);
    try {
      await client.query({
        name: 'enter_scope',
        text: `select set_config('role', '${readerRole}', false),
                      set_config('${scopeSettings.tenant}', $1, false),
                      set_config('${scopeSettings.environment}', $2, false)`,
        values: [tenantId, environmentId],
      });
    } catch (error) {
      this.#log.error({ err: error }, `a database session cannot read as ${readerRole}`);
      return false;
    }
    this.#places.set(client, { tenantId, environmentId });
    return true;
  }

  async close(): Promise<void> {
    await this.#pool.end();
  }
}

/** The same text for the same statement with the same values in the same place, and for nothing else. */
const questionOf = ({ tenantId, environmentId }: Place, { text, values }: QueryConfig): string =>
  JSON.stringify([tenantId, environmentId, text, values ?? []], (_name, value: unknown) =>
    typeof value === 'bigint' ? { bigint: String(value) } : value,
  );

const notReady = (): Problem =>
  new Problem('service_unavailable', 'The read models are not ready yet. Retry shortly.', {
    retryAfterSeconds: 2,
  });
