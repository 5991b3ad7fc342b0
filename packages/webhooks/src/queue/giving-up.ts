import type { Connection } from '@counterfoil/engine';
import { endpointPublicEvents } from '../endpoint/public-events.ts';
import type { BreakerPolicy } from './health.ts';
import { type Ended, endedGroups, releaseNext } from './ordering.ts';
import type { Retention } from './upkeep-store.ts';

/** Deliveries that one pass gives up at most. */
const givenUpMaximum = 1_000;

/**
 * Gives up what has not been delivered until its message is too old to be kept, and reports it; what
 * waits for it goes on. Returns how many. To be called under the queue lock.
 */
export async function giveUpOld(
  connection: Connection,
  { messageDays }: Retention,
): Promise<number> {
  const { rows } = await connection.query<GivenUp>(
    `update counterfoil.webhook_deliveries delivery
        set state = 'exhausted', finished_at = now()
      where id in (
        select delivery.id from counterfoil.webhook_messages message
         cross join lateral (
           select id from counterfoil.webhook_deliveries
            where event_id = message.event_id and state in ('pending', 'waiting') offset 0) delivery
         where message.created_at < now() - $1 * interval '1 day'
         order by message.created_at limit ${givenUpMaximum})
        and lower(delivery.state) in ('pending', 'waiting')
     returning id, endpoint_id as "endpointId", ordering_key as "orderingKey",
               release_number as "releaseNumber"`,
    [messageDays],
    { prepared: true },
  );
  return await followGivenUp(connection, rows);
}

/**
 * Gives up what has been held back for longer than the horizon. To be called under the queue lock.
 * Returns how many.
 */
export async function giveUpHeldBack(
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
            limit ${givenUpMaximum}) delivery
         where health.state = 'open' limit ${givenUpMaximum})
        and lower(delivery.state) in ('pending', 'waiting')
     returning id, endpoint_id as "endpointId", ordering_key as "orderingKey",
               release_number as "releaseNumber"`,
    [horizon],
    { prepared: true },
  );
  return await followGivenUp(connection, rows);
}

interface GivenUp extends Ended {
  readonly id: string;
}

/** Reports deliveries that were given up and lets go what waits for them. Returns how many they are. */
async function followGivenUp(connection: Connection, givenUp: readonly GivenUp[]): Promise<number> {
  const ids = givenUp.map(({ id }) => id);
  await reportExhausted(connection, ids);
  await releaseNext(connection, endedGroups(givenUp));
  return givenUp.length;
}

/**
 * Puts deliveries that were given up on the list of what has to be told in the log, unless they
 * were asked for by hand or are such reports themselves.
 */
export async function reportExhausted(
  connection: Connection,
  deliveryIds: readonly string[],
): Promise<void> {
  if (deliveryIds.length === 0) return;
  await connection.query(
    `insert into counterfoil.webhook_reports (environment_id, tenant_id, endpoint_id, message)
     select delivery.environment_id, message.tenant_id, delivery.endpoint_id,
            json_build_object('message_id', message.event_id, 'event_type', message.event_type,
              'resource_id', message.resource_id, 'attempts', delivery.attempt,
              'status_code', attempt.status_code,
              'error', case attempt.outcome when 'lost' then 'lost' else attempt.reason end)
       from counterfoil.webhook_deliveries delivery
       join counterfoil.webhook_messages message using (event_id)
       left join counterfoil.webhook_attempts attempt
         on attempt.delivery_id = delivery.id and attempt.attempt = delivery.attempt
      where delivery.id = any($1) and delivery.trigger in ('scheduled', 'recovery')
        and message.event_type <> all($2)
      order by delivery.id`,
    [deliveryIds, Object.keys(endpointPublicEvents.types)],
    { prepared: true },
  );
}

/** A delivery that was given up and of which the log does not know yet. */
export interface ListedReport {
  /** Its place in the list, which rises. */
  readonly id: string;
  readonly endpointId: string;
  readonly tenantId: string;
  readonly environmentId: string;
  /** JSON text of an `ExhaustedMessage`. */
  readonly message: string;
}

/** Reports that are read at once at most. */
const reportsMaximum = 1_000;

/** Returns what is on the list, oldest first. */
export async function readReports(connection: Connection): Promise<readonly ListedReport[]> {
  const { rows } = await connection.query<ListedReport>(
    `select id, message, endpoint_id as "endpointId", tenant_id as "tenantId",
            environment_id as "environmentId"
       from counterfoil.webhook_reports order by id limit ${reportsMaximum}`,
    [],
    { prepared: true },
  );
  return rows;
}

/** Takes the reports of an endpoint off the list, up to the given one. */
export async function crossOffReports(
  connection: Connection,
  { endpointId, id }: ListedReport,
): Promise<void> {
  await connection.query(
    'delete from counterfoil.webhook_reports where endpoint_id = $1 and id <= $2',
    [endpointId, id],
    { prepared: true },
  );
}
