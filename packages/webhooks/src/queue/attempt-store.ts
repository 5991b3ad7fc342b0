import { type Connection, given } from '@counterfoil/engine';
import { sql } from 'kysely';
import { reportExhausted } from './giving-up.ts';
import type { BreakerPolicy } from './health.ts';
import { bringForward, type HealthChange, readHealth, writeHealth } from './health-store.ts';
import { type Ended, endedGroups, releaseNext } from './ordering.ts';
import { withQueueLock } from './queue-lock.ts';
import { type DeliveryState, excluded, queue, stateOf } from './schema.ts';
import { type Outcome, type Settlement, settle } from './settlement.ts';

/**
 * Records outcomes: the attempts, the states of the deliveries, the health of their endpoints, and
 * the deliveries that may follow now. An outcome whose claim has expired is recorded as an attempt
 * only; the delivery belongs to the worker that has claimed it since. If none has, a success
 * counts.
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
  readonly state: DeliveryState;
}

/** Sets the states. Returns the deliveries that have ended. claim.ts tells why `lower` is there. */
async function settleDeliveries(
  connection: Connection,
  settlements: readonly Settlement[],
): Promise<readonly Settled[]> {
  const outcomes = given('outcome', settlements, {
    id: ['bigint', ({ outcome }) => outcome.delivery.id],
    attempt: ['integer', ({ outcome }) => outcome.delivery.attempt],
    state: ['text', ({ state }) => state],
    delay_ms: ['bigint', ({ delayMs }) => delayMs],
    is_counted: ['boolean', ({ isCounted }) => isCounted],
  });
  const settled = queue
    .updateTable('webhook_deliveries as delivery')
    .from(outcomes)
    .set(({ ref }) => ({
      state: ref('outcome.state'),
      lease_until: null,
      failures: sql<number>`failures + outcome.is_counted::integer`,
      next_at: sql<string>`now() + outcome.delay_ms * interval '1 millisecond'`,
      finished_at: sql<string>`case when outcome.state <> 'pending' then now() end`,
    }))
    .whereRef('delivery.id', '=', 'outcome.id')
    .whereRef('delivery.attempt', '=', 'outcome.attempt')
    .where(({ and, eb, or }) =>
      or([
        eb(stateOf('delivery'), '=', sql.lit('sending')),
        and([
          eb('outcome.state', '=', sql.lit('delivered')),
          eb(stateOf('delivery'), '=', sql.lit('pending')),
        ]),
      ]),
    )
    .returning([
      'delivery.id',
      'delivery.endpoint_id as endpointId',
      'delivery.ordering_key as orderingKey',
      'delivery.release_number as releaseNumber',
      'delivery.state',
    ]);
  const { rows } = await connection.run(
    queue
      .with('settled', () => settled)
      .selectFrom('settled')
      .selectAll()
      .where('state', '<>', sql.lit('pending'))
      .orderBy('id'),
    { prepared: true },
  );
  return rows;
}

const exhaustedOf = (settled: readonly Settled[]): readonly string[] =>
  settled.filter(({ state }) => state === 'exhausted').map(({ id }) => id);

/** An attempt that was given up as lost and then did come to an end gets its true outcome. */
async function insertAttempts(connection: Connection, outcomes: readonly Outcome[]): Promise<void> {
  const ended = given('ended', outcomes, {
    delivery_id: ['bigint', ({ delivery }) => delivery.id],
    attempt: ['integer', ({ delivery }) => delivery.attempt],
    outcome: ['text', ({ sent }) => sent.result.kind],
    status_code: [
      'integer',
      ({ sent: { result } }) => (result.kind === 'answer' ? result.status : null),
    ],
    reason: ['text', ({ sent: { result } }) => (result.kind === 'failure' ? result.reason : null)],
    detail: ['text', ({ sent }) => sent.detail],
    milliseconds: ['integer', ({ sent }) => sent.milliseconds],
    address: ['text', ({ sent }) => sent.address],
  });
  const own = ['outcome', 'status_code', 'reason', 'detail', 'milliseconds', 'address'] as const;
  const copied = ['environment_id', 'endpoint_id', 'event_id', 'trigger'] as const;
  await connection.run(
    queue
      .insertInto('webhook_attempts')
      .columns(['delivery_id', 'attempt', ...own, ...copied])
      .expression(
        queue
          .selectFrom(ended)
          .innerJoin('webhook_deliveries as delivery', 'delivery.id', 'ended.delivery_id')
          .select(['ended.delivery_id', 'ended.attempt', ...own, ...copied]),
      )
      .onConflict((conflict) =>
        conflict.columns(['delivery_id', 'attempt']).doUpdateSet(excluded(...own)),
      ),
    { prepared: true },
  );
}
