import type { Connection } from '@counterfoil/engine';
import { reportExhausted } from './giving-up.ts';
import type { BreakerPolicy } from './health.ts';
import { bringForward, type HealthChange, readHealth, writeHealth } from './health-store.ts';
import { type Ended, endedGroups, releaseNext } from './ordering.ts';
import { withQueueLock } from './queue-lock.ts';
import { type Outcome, type Settlement, settle } from './settlement.ts';

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
    const { settlements, healthChanges } = settle(outcomes, known, policy);
    const settled = await settleDeliveries(connection, settlements);
    await insertAttempts(connection, outcomes);
    await reportExhausted(connection, exhaustedOf(settled));
    await releaseNext(connection, endedGroups(settled));
    await writeHealth(connection, healthChanges);
    await bringForward(connection, switched(healthChanges));
  });

/** The endpoints whose breaker has just opened, or has just let deliveries go again. */
const switched = (changes: readonly HealthChange[]): readonly string[] =>
  changes
    .filter(({ before, after }) => (before.state === 'open') !== (after.state === 'open'))
    .map(({ era }) => era.endpointId);

interface Settled extends Ended {
  readonly id: string;
  readonly state: Settlement['state'];
}

/** Sets the states. Returns the deliveries that have ended. claim.ts tells why `lower` is there. */
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
       returning delivery.id, delivery.endpoint_id, delivery.ordering_key, delivery.release_number,
               delivery.state
     )
     select id, endpoint_id as "endpointId", ordering_key as "orderingKey",
            release_number as "releaseNumber", state
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
