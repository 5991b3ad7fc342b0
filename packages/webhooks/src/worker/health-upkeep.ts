import type { Connection } from '@counterfoil/engine';
import type { ExhaustedMessage } from '../endpoint/endpoint.ts';
import { followGivenUp, type GivenUp } from '../queue/attempt-store.ts';
import type { BreakerPolicy, DisableReason } from '../queue/health.ts';
import type { EndpointAddress, LogWriter } from './log-writer.ts';

/** Endpoints that one pass disables, and reports that it writes, at most. */
const endpointsMaximum = 20;
/** Messages in one event of the log at most. */
const messagesMaximum = 50;
/** Deliveries that one pass gives up at most. */
const expiredMaximum = 1_000;

/** Disables endpoints that asked for it, and those that have failed for days. */
export async function disableFailing(
  connection: Connection,
  writer: LogWriter,
  { disableAfter, disableSpan }: BreakerPolicy,
): Promise<void> {
  const { rows } = await connection.query<EndpointAddress & { readonly reason: DisableReason }>(
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
      limit ${endpointsMaximum}`,
    [disableAfter, disableSpan],
    { prepared: true },
  );
  for (const { reason, ...address } of rows) await writer.disable(address, reason);
}

interface ListedReport extends EndpointAddress {
  readonly id: string;
  /** JSON text. */
  readonly message: string;
}

/** Tells in the log what was given up, oldest first, and crosses it off the list. */
export async function writeReports(connection: Connection, writer: LogWriter): Promise<void> {
  const { rows } = await connection.query<ListedReport>(
    `select id, message, endpoint_id as "endpointId", tenant_id as "tenantId",
            environment_id as "environmentId"
       from counterfoil.webhook_reports order by id
      limit ${endpointsMaximum * messagesMaximum}`,
    [],
    { prepared: true },
  );
  for (const reports of batchesOf(rows)) {
    const [address] = reports;
    const last = reports.at(-1)?.id;
    if (!address || last === undefined) continue;
    const messages = reports.map(({ message }) => JSON.parse(message) as ExhaustedMessage);
    await writer.report(address, last, messages);
    await connection.query(
      'delete from counterfoil.webhook_reports where endpoint_id = $1 and id <= $2',
      [address.endpointId, last],
      { prepared: true },
    );
  }
}

/** The reports of each endpoint, cut to what one event may hold. */
function batchesOf(rows: readonly ListedReport[]): readonly (readonly ListedReport[])[] {
  const byEndpoint = new Map<string, ListedReport[]>();
  for (const row of rows) {
    const listed = byEndpoint.get(row.endpointId) ?? [];
    if (listed.length < messagesMaximum) listed.push(row);
    byEndpoint.set(row.endpointId, listed);
  }
  return [...byEndpoint.values()];
}

/**
 * Gives up what has been held back for longer than the horizon. To be called under the queue lock.
 * Returns how many.
 */
export async function expireHeldBack(
  connection: Connection,
  { horizon }: BreakerPolicy,
): Promise<number> {
  const { rows } = await connection.query<GivenUp>(
    `update counterfoil.webhook_deliveries delivery
        set state = 'exhausted', finished_at = now()
      where id in (
        select delivery.id from counterfoil.webhook_health health
         cross join lateral (
           select id from counterfoil.webhook_deliveries
            where endpoint_id = health.endpoint_id and state in ('pending', 'waiting')
              and queued_at < now() - $1 * interval '1 millisecond'
            limit ${expiredMaximum}) delivery
         where health.state = 'open' limit ${expiredMaximum})
        and lower(delivery.state) in ('pending', 'waiting')
     returning id, endpoint_id as "endpointId", lane, turn`,
    [horizon],
    { prepared: true },
  );
  return await followGivenUp(connection, rows);
}
