import { type Connection, transactionTime, writtenFor } from '@counterfoil/engine';
import { type Selectable, sql } from 'kysely';
import { type BreakerPolicy, type DisableReason, type Health, isNews } from './health.ts';
import { ago, excluded, type HealthTable, insertGiven, interval, queue } from './schema.ts';

/** An endpoint since it was last enabled: anything learnt before does not count any more. */
export interface EndpointEra {
  readonly endpointId: string;
  readonly environmentId: string;
  readonly enabledAt: string;
}

/** The known health of some endpoints, by id, and the time of the database in milliseconds. */
export interface KnownHealth {
  readonly now: number;
  readonly byEndpoint: ReadonlyMap<string, { readonly enabledAt: string; readonly health: Health }>;
}

/** Reads the health of these endpoints. To be called under the queue lock. */
export async function readHealth(
  connection: Connection,
  endpointIds: readonly string[],
): Promise<KnownHealth> {
  const { rows } = await connection.run(
    queue
      .selectFrom(sql<{ now: string }>`(select clock_timestamp() as now)`.as('clock'))
      .leftJoin('webhook_health as health', (join) =>
        join.on(sql<boolean>`health.endpoint_id = any(${endpointIds})`),
      )
      .selectAll(),
    { prepared: true },
  );
  const known = rows.filter(
    (row): row is typeof row & Selectable<HealthTable> => row.endpoint_id !== null,
  );
  return {
    now: Date.parse(rows[0]?.now ?? ''),
    byEndpoint: new Map(
      known.map((row) => [row.endpoint_id, { enabledAt: row.enabled_at, health: healthOf(row) }]),
    ),
  };
}

const milliseconds = (instant: string | null): number | null =>
  instant === null ? null : Date.parse(instant);

const healthOf = (row: Selectable<HealthTable>): Health => ({
  state: row.state,
  failuresInRow: row.failures_in_row,
  windowStartedAt: Date.parse(row.window_started_at),
  windowAttempts: row.window_attempts,
  windowFailures: row.window_failures,
  probes: row.probes,
  nextProbeAt: milliseconds(row.next_probe_at),
  allowance: row.allowance,
  failingSince: milliseconds(row.failing_since),
  lastFailureAt: milliseconds(row.last_failure_at),
  lastSuccessAt: milliseconds(row.last_success_at),
  disableReason: row.disable_reason,
});

/** The health of an endpoint before and after the outcomes of its deliveries. */
export interface HealthChange {
  readonly era: EndpointEra;
  readonly before: Health;
  readonly after: Health;
}

/** That an endpoint is well is written down no more often than this, in milliseconds. */
const successInterval = 60_000;

const instant = (time: number | null): string | null =>
  time === null ? null : new Date(time).toISOString();

/** Writes the changes down. To be called under the queue lock. */
export async function writeHealth(
  connection: Connection,
  changes: readonly HealthChange[],
): Promise<void> {
  const news = changes.filter(({ before, after }) => isNews(before, after, successInterval));
  if (news.length === 0) return;
  const inserted = insertGiven('webhook_health', news, {
    endpoint_id: ['text', ({ era }) => era.endpointId],
    environment_id: ['text', ({ era }) => era.environmentId],
    enabled_at: ['timestamptz', ({ era }) => era.enabledAt],
    state: ['text', ({ after }) => after.state],
    failures_in_row: ['integer', ({ after }) => after.failuresInRow],
    window_started_at: ['timestamptz', ({ after }) => instant(after.windowStartedAt)],
    window_attempts: ['integer', ({ after }) => after.windowAttempts],
    window_failures: ['integer', ({ after }) => after.windowFailures],
    probes: ['integer', ({ after }) => after.probes],
    next_probe_at: ['timestamptz', ({ after }) => instant(after.nextProbeAt)],
    allowance: ['integer', ({ after }) => after.allowance],
    failing_since: ['timestamptz', ({ after }) => instant(after.failingSince)],
    last_failure_at: ['timestamptz', ({ after }) => instant(after.lastFailureAt)],
    last_success_at: ['timestamptz', ({ after }) => instant(after.lastSuccessAt)],
    disable_reason: ['text', ({ after }) => after.disableReason],
  });
  const written = inserted.onConflict((conflict) =>
    conflict
      .column('endpoint_id')
      .doUpdateSet(
        excluded(
          'enabled_at',
          'state',
          'failures_in_row',
          'window_started_at',
          'window_attempts',
          'window_failures',
          'probes',
          'next_probe_at',
          'allowance',
          'failing_since',
          'last_failure_at',
          'last_success_at',
          'disable_reason',
        ),
      ),
  );
  await connection.run(written, { prepared: true });
}

/** Deliveries that one pass moves forward at most; the others come at their own time. */
const forwardMaximum = 10_000;

/**
 * Makes everything due that waits to be tried again: the breaker decides when it goes, and once the
 * endpoint is well again nothing has to wait for hours. To be called under the queue lock.
 */
export async function bringForward(
  connection: Connection,
  endpointIds: readonly string[],
): Promise<void> {
  if (endpointIds.length === 0) return;
  await connection.run(
    queue
      .updateTable('webhook_deliveries')
      .set({ next_at: transactionTime })
      .where('id', 'in', (select) =>
        select
          .selectFrom('webhook_deliveries')
          .select('id')
          .where(sql<boolean>`endpoint_id = any(${endpointIds})`)
          .where('state', '=', sql.lit('pending'))
          .where('next_at', '>', transactionTime)
          .limit(sql.lit(forwardMaximum))
          .forUpdate()
          .skipLocked(),
      ),
    { prepared: true },
  );
}

/** Endpoints that are disabled in one pass at most. */
const failingMaximum = 20;

/** An endpoint that is to be disabled, and why. */
export interface FailingEndpoint {
  readonly endpointId: string;
  readonly tenantId: string;
  readonly environmentId: string;
  readonly reason: DisableReason;
}

const failing = writtenFor(({ disableAfter, disableSpan }: BreakerPolicy) =>
  queue
    .selectFrom('webhook_health as health')
    .innerJoin('webhook_endpoints as endpoint', (join) =>
      join
        .onRef('endpoint.environment_id', '=', 'health.environment_id')
        .onRef('endpoint.id', '=', 'health.endpoint_id')
        .onRef('endpoint.enabled_at', '=', 'health.enabled_at')
        .on('endpoint.enabled', '=', sql.lit(true)),
    )
    .select(({ fn }) => [
      'endpoint.id as endpointId',
      'endpoint.tenant_id as tenantId',
      'endpoint.environment_id as environmentId',
      fn.coalesce('health.disable_reason', sql.lit<DisableReason>('failing')).as('reason'),
    ])
    .where('health.state', '=', sql.lit('open'))
    .where(({ and, eb, or }) =>
      or([
        eb('health.disable_reason', 'is not', null),
        and([
          eb('health.failing_since', '<=', ago('millisecond', disableAfter)),
          eb(
            'health.last_failure_at',
            '>=',
            sql<string>`health.failing_since + ${interval('millisecond', disableSpan)}`,
          ),
        ]),
      ]),
    )
    .limit(sql.lit(failingMaximum)),
);

/** Returns endpoints that asked to be disabled or have failed for days, a few at a time. */
export async function failingEndpoints(
  connection: Connection,
  policy: BreakerPolicy,
): Promise<readonly FailingEndpoint[]> {
  const { rows } = await connection.run(failing(policy), { prepared: true });
  return rows;
}
