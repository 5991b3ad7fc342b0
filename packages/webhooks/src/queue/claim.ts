import type { Connection } from '@counterfoil/engine';
import { withQueueLock } from './queue-lock.ts';

/** One state of one endpoint. */
export interface EndpointVersion {
  readonly id: string;
  readonly environmentId: string;
  readonly revision: string;
}

/** A delivery that this worker, and no other, is to send now. */
export interface Claimed {
  readonly id: string;
  readonly eventId: string;
  readonly endpointId: string;
  /** Number of this attempt, from 1; also the proof, later, that the claim has not expired. */
  readonly attempt: number;
  /** Attempts that have failed before. */
  readonly failures: number;
  readonly body: Buffer;
  readonly occurredAt: string;
  /** The trigger of the delivery. */
  readonly trigger: 'scheduled' | 'recovery' | 'resend' | 'test';
  /** The time at which it came into the queue. */
  readonly queuedAt: string;
  /** True when it is sent to see if the endpoint is well again, while the others are held back. */
  readonly isProbe: boolean;
  /** Since when the endpoint has been enabled. */
  readonly enabledAt: string;
  readonly endpoint: EndpointVersion;
}

interface ClaimOptions {
  readonly limit: number;
  /** Milliseconds after which the delivery goes to another worker. */
  readonly leaseMs: number;
}

interface ClaimedRow {
  readonly id: string;
  readonly event_id: string;
  readonly endpoint_id: string;
  readonly environment_id: string;
  readonly attempt: number;
  readonly failures: number;
  readonly revision: string;
  readonly occurred_at: string;
  readonly trigger: Claimed['trigger'];
  readonly queued_at: string;
  readonly is_probe: boolean;
  readonly enabled_at: string;
  /** The text form of bytea: `\x` and hexadecimal digits. */
  readonly body: string;
}

/**
 * Endpoints with pending deliveries are found by skipping through the index from one to the next,
 * so that neither the length of a queue nor the number of idle endpoints matters.
 *
 * Each endpoint gives its due deliveries up to its own bound of what is in flight, up to what its
 * rate still allows in this second, and while it is held back none, or one as a probe. What was
 * asked for by hand is due since 1970 and passes by that. Of all those the endpoints with the
 * least in flight come first: when the worker has less room than there is work, one that hangs
 * cannot take the room of one that answers.
 *
 * The last look at the state is written so that the planner cannot take an index of the queue for
 * it. Its figures may be from a moment when the queue was empty; it would then read the whole queue
 * once for each claimed delivery.
 */
const claimStatement = `
  with recursive open_endpoint (endpoint_id, environment_id) as (
    (select endpoint_id, environment_id from counterfoil.webhook_deliveries
      where state = 'pending' order by endpoint_id limit 1)
    union all
    select later.endpoint_id, later.environment_id
      from open_endpoint previous
     cross join lateral (
       select endpoint_id, environment_id from counterfoil.webhook_deliveries
        where state = 'pending' and endpoint_id > previous.endpoint_id
        order by endpoint_id limit 1) later
  ), candidate as (
    select due.id, endpoint.revision, endpoint.enabled_at, endpoint.id as endpoint_id,
           endpoint.rate_limit, breaker.is_open, rate.used_until
      from open_endpoint
      join counterfoil.webhook_endpoints endpoint
        on endpoint.environment_id = open_endpoint.environment_id
       and endpoint.id = open_endpoint.endpoint_id and endpoint.enabled
      left join counterfoil.webhook_health health
        on health.endpoint_id = endpoint.id and health.enabled_at = endpoint.enabled_at
     cross join lateral (
       select coalesce(health.state = 'open', false) as is_open,
              coalesce(health.state = 'open'
                and coalesce(health.next_probe_at > now(), true), false) as is_held_back) breaker
     cross join lateral (
       select greatest(now(), (select used_until from counterfoil.webhook_rates
                                where endpoint_id = endpoint.id)) as used_until) rate
     cross join lateral (
       select count(*) as sending from counterfoil.webhook_deliveries
        where state = 'sending' and endpoint_id = endpoint.id) busy
     cross join lateral (
       select least(
         least(endpoint.max_in_flight, case when breaker.is_open then 1 else health.allowance end)
           - busy.sending,
         floor(endpoint.rate_limit * (1.000001 - extract(epoch from rate.used_until - now())))
       ) as free) room
     cross join lateral (
       select id, row_number() over (order by next_at, id) as place
         from (select id, next_at from counterfoil.webhook_deliveries
                where state = 'pending' and endpoint_id = endpoint.id
                  and next_at <= case when breaker.is_held_back then 'epoch' else now() end
                order by next_at, id
                limit greatest(0, room.free)::bigint) first_due) due
     where (select position from counterfoil.projection
             where name = 'webhook_endpoints' and serving)
           >= (select position from counterfoil.webhook_position)
     order by busy.sending + due.place, endpoint.id
     limit $1
  ), paced as (
    insert into counterfoil.webhook_rates (endpoint_id, used_until)
    select endpoint_id, max(used_until) + count(*) / max(rate_limit)::float * interval '1 second'
      from candidate where rate_limit is not null group by endpoint_id
    on conflict (endpoint_id) do update set used_until = excluded.used_until
  ), claimed as (
    update counterfoil.webhook_deliveries delivery
       set state = 'sending', attempt = attempt + 1,
           lease_until = now() + $2 * interval '1 millisecond'
      from candidate
     where delivery.id = candidate.id and lower(delivery.state) = 'pending'
    returning delivery.id, delivery.event_id, delivery.endpoint_id, delivery.environment_id,
              delivery.attempt, delivery.failures, delivery.trigger, delivery.queued_at,
              candidate.revision, candidate.enabled_at, candidate.is_open as is_probe
  )
  select claimed.*, message.occurred_at, message.body
    from claimed join counterfoil.webhook_messages message using (event_id)`;

/**
 * Takes deliveries that are due. The endpoints must be as far as the fan-out: while a lost read
 * model is being filled again it shows endpoints as they once were, and nothing may go there.
 */
export const claimDeliveries = (
  connection: Connection,
  { limit, leaseMs }: ClaimOptions,
): Promise<readonly Claimed[]> =>
  withQueueLock(connection, 'claims', async () => {
    const { rows } = await connection.query<ClaimedRow>(claimStatement, [limit, leaseMs], {
      prepared: true,
    });
    return rows.map(claimedOf);
  });

const claimedOf = (row: ClaimedRow): Claimed => ({
  id: row.id,
  eventId: row.event_id,
  endpointId: row.endpoint_id,
  attempt: row.attempt,
  failures: row.failures,
  body: Buffer.from(row.body.slice(2), 'hex'),
  occurredAt: row.occurred_at,
  trigger: row.trigger,
  queuedAt: row.queued_at,
  isProbe: row.is_probe,
  enabledAt: row.enabled_at,
  endpoint: {
    id: row.endpoint_id,
    environmentId: row.environment_id,
    revision: row.revision,
  },
});
