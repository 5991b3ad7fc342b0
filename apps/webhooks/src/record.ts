import type { Connection } from '@counterfoil/engine';
import type { Sent, Verdict } from '@counterfoil/modules';
import type { Claimed } from './claim.ts';
import { type FinishedLane, releaseNext } from './lanes.ts';
import { withQueueLock } from './queue-lock.ts';

/** What came of one claimed delivery. */
export interface Outcome {
  readonly delivery: Claimed;
  readonly sent: Sent;
  readonly verdict: Verdict;
}

const stateOf = { delivered: 'delivered', retry: 'pending', exhausted: 'exhausted' } as const;

/**
 * Records outcomes: the attempts, the states of the deliveries, and what may follow now. An
 * outcome whose claim has expired is recorded as an attempt only; the delivery belongs to
 * whoever has claimed it since.
 */
export const recordOutcomes = (
  connection: Connection,
  outcomes: readonly Outcome[],
): Promise<void> =>
  withQueueLock(connection, 'queue', async () => {
    const lanes = await settleDeliveries(connection, outcomes);
    await insertAttempts(connection, outcomes);
    await releaseNext(connection, lanes);
  });

interface Settled {
  readonly id: string;
  readonly endpointId: string;
  readonly resourceId: string;
}

/** Sets the states. Gives the lanes of the deliveries that are finished by it. */
async function settleDeliveries(
  connection: Connection,
  outcomes: readonly Outcome[],
): Promise<readonly FinishedLane[]> {
  const { rows } = await connection.query<Settled>(
    `with outcome as (
       select * from unnest($1::bigint[], $2::integer[], $3::text[], $4::bigint[])
         as outcome (id, attempt, state, delay_ms)
     ), settled as (
       update counterfoil.webhook_deliveries delivery
          set state = outcome.state, lease_until = null,
              failures = failures + case when outcome.state = 'delivered' then 0 else 1 end,
              next_at = now() + outcome.delay_ms * interval '1 millisecond',
              finished_at = case when outcome.state <> 'pending' then now() end
         from outcome
        where delivery.id = outcome.id and delivery.attempt = outcome.attempt
          and delivery.state = 'sending'
       returning delivery.id, delivery.endpoint_id, delivery.resource_id, delivery.state
     )
     select id, endpoint_id as "endpointId", resource_id as "resourceId"
       from settled where state <> 'pending' order by id`,
    [
      outcomes.map(({ delivery }) => delivery.id),
      outcomes.map(({ delivery }) => delivery.attempt),
      outcomes.map(({ verdict }) => stateOf[verdict.kind]),
      outcomes.map(({ verdict }) => (verdict.kind === 'retry' ? verdict.delay : 0)),
    ],
    { name: 'webhook_settle' },
  );
  const lanes = new Map<string, FinishedLane>();
  for (const { id, endpointId, resourceId } of rows) {
    lanes.set(`${endpointId}\n${resourceId}`, { endpointId, resourceId, lastId: id });
  }
  return [...lanes.values()];
}

/** An attempt that was given up as lost and then did come to an end gets its true outcome. */
async function insertAttempts(connection: Connection, outcomes: readonly Outcome[]): Promise<void> {
  const column = (value: (outcome: Outcome) => unknown) => outcomes.map(value);
  await connection.query(
    `insert into counterfoil.webhook_attempts
       (delivery_id, attempt, outcome, status_code, reason, detail, milliseconds)
     select attempt.* from unnest($1::bigint[], $2::integer[], $3::text[], $4::integer[],
         $5::text[], $6::text[], $7::integer[])
       as attempt (delivery_id, attempt, outcome, status_code, reason, detail, milliseconds)
       join counterfoil.webhook_deliveries delivery on delivery.id = attempt.delivery_id
     on conflict (delivery_id, attempt) do update
        set outcome = excluded.outcome, status_code = excluded.status_code,
            reason = excluded.reason, detail = excluded.detail,
            milliseconds = excluded.milliseconds`,
    [
      column(({ delivery }) => delivery.id),
      column(({ delivery }) => delivery.attempt),
      column(({ sent }) => sent.result.kind),
      column(({ sent: { result } }) => (result.kind === 'answer' ? result.status : null)),
      column(({ sent: { result } }) => (result.kind === 'failure' ? result.reason : null)),
      column(({ sent }) => sent.detail),
      column(({ sent }) => sent.milliseconds),
    ],
    { name: 'webhook_insert_attempts' },
  );
}
