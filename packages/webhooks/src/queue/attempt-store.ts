import type { Connection } from '@counterfoil/engine';
import { endpointPublicEvents } from '../endpoint/public-events.ts';
import type { Verdict } from '../sending/retry.ts';
import type { Sent } from '../sending/sender.ts';
import type { Claimed } from './claim.ts';
import type { BreakerPolicy } from './health.ts';
import { bringForward, type HealthChange, readHealth, writeHealth } from './health-store.ts';
import { type Ended, lanesOf, releaseNext } from './ordering.ts';
import { withQueueLock } from './queue-lock.ts';
import { judge, type Settlement } from './settlement.ts';

/** The outcome of one claimed delivery. */
export interface Outcome {
  readonly delivery: Claimed;
  readonly sent: Sent;
  readonly verdict: Verdict;
}

/**
 * Records outcomes: the attempts, the states of the deliveries, how their endpoints are doing, and
 * what may follow now. An outcome whose claim has expired is recorded as an attempt only; the
 * delivery belongs to whoever has claimed it since. If nobody has, that it was delivered counts.
 */
export const recordOutcomes = (
  connection: Connection,
  outcomes: readonly Outcome[],
  policy: BreakerPolicy,
): Promise<void> =>
  withQueueLock(connection, 'queue', async () => {
    const endpointIds = [...new Set(outcomes.map(({ delivery }) => delivery.endpointId))];
    const known = await readHealth(connection, endpointIds);
    const { settlements, changes } = judge(outcomes, known, policy);
    const settled = await settleDeliveries(connection, settlements);
    await insertAttempts(connection, outcomes);
    await reportExhausted(connection, exhaustedOf(settled));
    await releaseNext(connection, lanesOf(settled));
    await writeHealth(connection, changes);
    await bringForward(connection, turned(changes));
  });

/** Endpoints that have just come to be held back, or have just come back. */
const turned = (changes: readonly HealthChange[]): readonly string[] =>
  changes
    .filter(({ before, after }) => (before.state === 'open') !== (after.state === 'open'))
    .map(({ era }) => era.endpointId);

interface Settled extends Ended {
  readonly id: string;
  readonly state: Settlement['state'];
}

/** Sets the states. Gives what is finished by it. Why `lower` is in it is told in claim.ts. */
async function settleDeliveries(
  connection: Connection,
  settlements: readonly Settlement[],
): Promise<readonly Settled[]> {
  const { rows } = await connection.query<Settled>(
    `with outcome as (
       select * from unnest($1::bigint[], $2::integer[], $3::text[], $4::bigint[], $5::boolean[])
         as outcome (id, attempt, state, delay_ms, is_counted)
     ), settled as (
       update counterfoil.webhook_deliveries delivery
          set state = outcome.state, lease_until = null,
              failures = failures + case when outcome.is_counted then 1 else 0 end,
              next_at = now() + outcome.delay_ms * interval '1 millisecond',
              finished_at = case when outcome.state <> 'pending' then now() end
         from outcome
        where delivery.id = outcome.id and delivery.attempt = outcome.attempt
          and (lower(delivery.state) = 'sending'
            or outcome.state = 'delivered' and lower(delivery.state) = 'pending')
       returning delivery.id, delivery.endpoint_id, delivery.lane, delivery.turn,
               delivery.state
     )
     select id, endpoint_id as "endpointId", lane, turn, state
       from settled where state <> 'pending' order by id`,
    [
      settlements.map(({ outcome }) => outcome.delivery.id),
      settlements.map(({ outcome }) => outcome.delivery.attempt),
      settlements.map(({ state }) => state),
      settlements.map(({ delayMs }) => delayMs),
      settlements.map(({ isCounted }) => isCounted),
    ],
    { prepared: true },
  );
  return rows;
}

const exhaustedOf = (settled: readonly Settled[]): readonly string[] =>
  settled.filter(({ state }) => state === 'exhausted').map(({ id }) => id);

/**
 * Puts deliveries that were given up on the list of what has to be told in the log, unless they
 * were asked for by hand or are such reports themselves.
 */
async function reportExhausted(
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

/** A delivery that was given up without another attempt. */
export interface GivenUp extends Ended {
  readonly id: string;
}

/** Reports deliveries that were given up and lets go on what waits for them. Returns how many they are. */
export async function followGivenUp(
  connection: Connection,
  givenUp: readonly GivenUp[],
): Promise<number> {
  await reportExhausted(
    connection,
    givenUp.map(({ id }) => id),
  );
  await releaseNext(connection, lanesOf(givenUp));
  return givenUp.length;
}

/** An attempt that was given up as lost and then did come to an end gets its true outcome. */
async function insertAttempts(connection: Connection, outcomes: readonly Outcome[]): Promise<void> {
  const column = (value: (outcome: Outcome) => unknown) => outcomes.map(value);
  await connection.query(
    `insert into counterfoil.webhook_attempts
       (delivery_id, attempt, outcome, status_code, reason, detail, milliseconds, address,
        environment_id, endpoint_id, event_id, trigger)
     select attempt.*, delivery.environment_id, delivery.endpoint_id, delivery.event_id,
            delivery.trigger
       from unnest($1::bigint[], $2::integer[], $3::text[], $4::integer[],
         $5::text[], $6::text[], $7::integer[], $8::text[])
       as attempt (delivery_id, attempt, outcome, status_code, reason, detail, milliseconds, address)
       join counterfoil.webhook_deliveries delivery on delivery.id = attempt.delivery_id
     on conflict (delivery_id, attempt) do update
        set outcome = excluded.outcome, status_code = excluded.status_code,
            reason = excluded.reason, detail = excluded.detail,
            milliseconds = excluded.milliseconds, address = excluded.address`,
    [
      column(({ delivery }) => delivery.id),
      column(({ delivery }) => delivery.attempt),
      column(({ sent }) => sent.result.kind),
      column(({ sent: { result } }) => (result.kind === 'answer' ? result.status : null)),
      column(({ sent: { result } }) => (result.kind === 'failure' ? result.reason : null)),
      column(({ sent }) => sent.detail),
      column(({ sent }) => sent.milliseconds),
      column(({ sent }) => sent.address),
    ],
    { prepared: true },
  );
}
