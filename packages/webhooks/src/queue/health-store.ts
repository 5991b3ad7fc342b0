import type { Connection } from '@counterfoil/engine';
import {
  type BreakerPolicy,
  type BreakerState,
  type DisableReason,
  type Health,
  isNews,
} from './health.ts';

/** An endpoint since it was last enabled: what was learnt before does not count any more. */
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

interface HealthRow {
  readonly endpoint_id: string;
  readonly enabled_at: string;
  readonly state: BreakerState;
  readonly failures_in_row: number;
  readonly window_started_at: string;
  readonly window_attempts: number;
  readonly window_failures: number;
  readonly probes: number;
  readonly next_probe_at: string | null;
  readonly allowance: number | null;
  readonly failing_since: string | null;
  readonly last_failure_at: string | null;
  readonly last_success_at: string | null;
  readonly disable_reason: DisableReason | null;
}

/** Reads what the tables know of these endpoints. To be called under the queue lock. */
export async function readHealth(
  connection: Connection,
  endpointIds: readonly string[],
): Promise<KnownHealth> {
  const { rows } = await connection.query<HealthRow & { readonly now: string }>(
    `select clock_timestamp() as now, health.*
       from (select) always left join counterfoil.webhook_health health
         on health.endpoint_id = any($1)`,
    [endpointIds],
    { prepared: true },
  );
  const known = rows.filter(({ endpoint_id }) => endpoint_id !== null);
  return {
    now: Date.parse(rows[0]?.now ?? ''),
    byEndpoint: new Map(
      known.map((row) => [row.endpoint_id, { enabledAt: row.enabled_at, health: healthOf(row) }]),
    ),
  };
}

const milliseconds = (instant: string | null): number | null =>
  instant === null ? null : Date.parse(instant);

const healthOf = (row: HealthRow): Health => ({
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

/** The health of an endpoint before and after what has just come of its deliveries. */
export interface HealthChange {
  readonly era: EndpointEra;
  readonly before: Health;
  readonly after: Health;
}

/** That an endpoint is well is written down no more often than this, in milliseconds. */
const successInterval = 60_000;

const instant = (time: number | null): string | null =>
  time === null ? null : new Date(time).toISOString();

/** Writes down what has changed. To be called under the queue lock. */
export async function writeHealth(
  connection: Connection,
  changes: readonly HealthChange[],
): Promise<void> {
  const news = changes.filter(({ before, after }) => isNews(before, after, successInterval));
  if (news.length === 0) return;
  const column = (value: (change: HealthChange) => unknown) => news.map(value);
  await connection.query(
    `insert into counterfoil.webhook_health
       (endpoint_id, environment_id, enabled_at, state, failures_in_row, window_started_at,
        window_attempts, window_failures, probes, next_probe_at, allowance, failing_since,
        last_failure_at, last_success_at, disable_reason)
     select * from unnest($1::text[], $2::text[], $3::timestamptz[], $4::text[], $5::integer[],
       $6::timestamptz[], $7::integer[], $8::integer[], $9::integer[], $10::timestamptz[],
       $11::integer[], $12::timestamptz[], $13::timestamptz[], $14::timestamptz[], $15::text[])
     on conflict (endpoint_id) do update
        set enabled_at = excluded.enabled_at, state = excluded.state,
            failures_in_row = excluded.failures_in_row,
            window_started_at = excluded.window_started_at,
            window_attempts = excluded.window_attempts,
            window_failures = excluded.window_failures, probes = excluded.probes,
            next_probe_at = excluded.next_probe_at, allowance = excluded.allowance,
            failing_since = excluded.failing_since, last_failure_at = excluded.last_failure_at,
            last_success_at = excluded.last_success_at, disable_reason = excluded.disable_reason`,
    [
      column(({ era }) => era.endpointId),
      column(({ era }) => era.environmentId),
      column(({ era }) => era.enabledAt),
      column(({ after }) => after.state),
      column(({ after }) => after.failuresInRow),
      column(({ after }) => instant(after.windowStartedAt)),
      column(({ after }) => after.windowAttempts),
      column(({ after }) => after.windowFailures),
      column(({ after }) => after.probes),
      column(({ after }) => instant(after.nextProbeAt)),
      column(({ after }) => after.allowance),
      column(({ after }) => instant(after.failingSince)),
      column(({ after }) => instant(after.lastFailureAt)),
      column(({ after }) => instant(after.lastSuccessAt)),
      column(({ after }) => after.disableReason),
    ],
    { prepared: true },
  );
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
  await connection.query(
    `update counterfoil.webhook_deliveries set next_at = now()
      where id in (select id from counterfoil.webhook_deliveries
                    where endpoint_id = any($1) and state = 'pending' and next_at > now()
                    limit ${forwardMaximum} for update skip locked)`,
    [endpointIds],
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

/** Returns endpoints that asked to be disabled or have failed for days, a few at a time. */
export async function failingEndpoints(
  connection: Connection,
  { disableAfter, disableSpan }: BreakerPolicy,
): Promise<readonly FailingEndpoint[]> {
  const { rows } = await connection.query<FailingEndpoint>(
    `select endpoint.id as "endpointId", endpoint.tenant_id as "tenantId",
            endpoint.environment_id as "environmentId",
            coalesce(health.disable_reason, 'failing') as reason
       from counterfoil.webhook_health health
       join counterfoil.webhook_endpoints endpoint
         on endpoint.environment_id = health.environment_id and endpoint.id = health.endpoint_id
        and endpoint.enabled and endpoint.enabled_at = health.enabled_at
      where health.state = 'open' and (health.disable_reason is not null
         or (health.failing_since <= now() - $1 * interval '1 millisecond'
             and health.last_failure_at >= health.failing_since + $2 * interval '1 millisecond'))
      limit ${failingMaximum}`,
    [disableAfter, disableSpan],
    { prepared: true },
  );
  return rows;
}
