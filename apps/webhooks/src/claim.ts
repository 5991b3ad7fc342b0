import type { Connection } from '@counterfoil/engine';
import type { EndpointVersion } from './endpoints.ts';
import { withQueueLock } from './queue-lock.ts';

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
  /** The text form of bytea: `\x` and hexadecimal digits. */
  readonly body: string;
}

/**
 * Endpoints with pending deliveries are found by skipping through the index from one to the next,
 * so that neither the length of a queue nor the number of idle endpoints matters.
 *
 * Each endpoint gives its due deliveries up to its own bound of what is in flight. Of all those the
 * endpoints with the least in flight come first: when the worker has less room than there is
 * work, one that hangs cannot take the room of one that answers.
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
    select due.id, endpoint.revision
      from open_endpoint
      join counterfoil.webhook_endpoints endpoint
        on endpoint.environment_id = open_endpoint.environment_id
       and endpoint.id = open_endpoint.endpoint_id and endpoint.enabled
     cross join lateral (
       select count(*) as sending from counterfoil.webhook_deliveries
        where state = 'sending' and endpoint_id = endpoint.id) busy
     cross join lateral (
       select id, row_number() over (order by next_at, id) as place
         from (select id, next_at from counterfoil.webhook_deliveries
                where state = 'pending' and endpoint_id = endpoint.id and next_at <= now()
                order by next_at, id
                limit greatest(0, endpoint.max_in_flight - busy.sending)) first_due) due
     where (select position from counterfoil.projection
             where name = 'webhook_endpoints' and serving)
           >= (select position from counterfoil.webhook_position)
     order by busy.sending + due.place, endpoint.id
     limit $1
  ), claimed as (
    update counterfoil.webhook_deliveries delivery
       set state = 'sending', attempt = attempt + 1,
           lease_until = now() + $2 * interval '1 millisecond'
      from candidate
     where delivery.id = candidate.id and delivery.state = 'pending'
    returning delivery.id, delivery.event_id, delivery.endpoint_id, delivery.environment_id,
              delivery.attempt, delivery.failures, candidate.revision
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
      name: 'webhook_claim',
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
  endpoint: {
    id: row.endpoint_id,
    environmentId: row.environment_id,
    revision: row.revision,
  },
});
