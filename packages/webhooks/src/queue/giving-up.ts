import {
  type Connection,
  literals,
  transactionTime,
  writtenFor,
  writtenOnce,
} from '@counterfoil/engine';
import { type Expression, sql } from 'kysely';
import { jsonBuildObject } from 'kysely/helpers/postgres';
import { endpointPublicEvents } from '../endpoint/public-events.ts';
import type { BreakerPolicy } from './health.ts';
import { endedGroups, releaseNext } from './ordering.ts';
import { ago, deliveriesLike, queue, stateOf } from './schema.ts';
import type { Retention } from './upkeep-store.ts';

/** Deliveries that one pass gives up at most. */
const givenUpMaximum = 1_000;

const ending = (ids: Expression<{ readonly id: string }>) =>
  queue
    .updateTable('webhook_deliveries as delivery')
    .set({ state: 'exhausted', finished_at: transactionTime })
    .where(sql<boolean>`delivery.id in ${ids}`)
    .where(stateOf('delivery'), 'in', literals('pending', 'waiting'))
    .returning([
      'delivery.id',
      'delivery.endpoint_id as endpointId',
      'delivery.ordering_key as orderingKey',
      'delivery.release_number as releaseNumber',
    ]);

const endingOld = writtenFor(({ messageDays }: Retention) =>
  ending(
    queue
      .selectFrom('webhook_messages as message')
      .crossJoinLateral(deliveriesLike('message', ['event_id'], 'pending', 'waiting').as('unsent'))
      .select('unsent.id')
      .where('message.created_at', '<', ago('day', messageDays))
      .orderBy('message.created_at')
      .limit(sql.lit(givenUpMaximum)),
  ),
);

const endingHeldBack = writtenFor(({ horizon }: BreakerPolicy) =>
  ending(
    queue
      .selectFrom('webhook_health as health')
      .crossJoinLateral(
        deliveriesLike('health', ['endpoint_id'], 'pending', 'waiting')
          .where('other.queued_at', '<', ago('millisecond', horizon))
          .limit(sql.lit(givenUpMaximum))
          .as('unsent'),
      )
      .select('unsent.id')
      .where('health.state', '=', sql.lit('open'))
      .limit(sql.lit(givenUpMaximum)),
  ),
);

/**
 * Gives up deliveries whose messages are too old to be kept, and reports them; those that wait for
 * them may then go. Returns how many. To be called under the queue lock.
 */
export const giveUpOld = (connection: Connection, retention: Retention): Promise<number> =>
  giveUp(connection, endingOld(retention));

/**
 * Gives up deliveries that have been held back for longer than the horizon. To be called under the
 * queue lock. Returns how many.
 */
export const giveUpHeldBack = (connection: Connection, policy: BreakerPolicy): Promise<number> =>
  giveUp(connection, endingHeldBack(policy));

/**
 * Ends deliveries, reports them and lets those go that wait for them. Returns how many they are.
 */
async function giveUp(
  connection: Connection,
  statement: ReturnType<typeof endingOld>,
): Promise<number> {
  const { rows } = await connection.run(statement, { prepared: true });
  await reportExhausted(
    connection,
    rows.map(({ id }) => id),
  );
  await releaseNext(connection, endedGroups(rows));
  return rows.length;
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
  const exhausted = queue
    .selectFrom('webhook_deliveries as delivery')
    .innerJoin('webhook_messages as message', 'message.event_id', 'delivery.event_id')
    .leftJoin('webhook_attempts as attempt', (join) =>
      join
        .onRef('attempt.delivery_id', '=', 'delivery.id')
        .onRef('attempt.attempt', '=', 'delivery.attempt'),
    )
    .select(['delivery.environment_id', 'message.tenant_id', 'delivery.endpoint_id'])
    .select(({ ref }) =>
      jsonBuildObject({
        message_id: ref('message.event_id'),
        event_type: ref('message.event_type'),
        resource_id: ref('message.resource_id'),
        attempts: ref('delivery.attempt'),
        status_code: ref('attempt.status_code'),
        error: sql`case attempt.outcome when 'lost' then 'lost' else attempt.reason end`,
      }).as('message'),
    )
    .where(sql<boolean>`delivery.id = any(${deliveryIds})`)
    .where('delivery.trigger', 'in', literals('scheduled', 'recovery'))
    .where('message.event_type', 'not in', Object.keys(endpointPublicEvents.types))
    .orderBy('delivery.id');
  await connection.run(
    queue
      .insertInto('webhook_reports')
      .columns(['environment_id', 'tenant_id', 'endpoint_id', 'message'])
      .expression(exhausted),
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

const listed = writtenOnce(() =>
  queue
    .selectFrom('webhook_reports')
    .select([
      'id',
      'message',
      'endpoint_id as endpointId',
      'tenant_id as tenantId',
      'environment_id as environmentId',
    ])
    .orderBy('id')
    .limit(reportsMaximum),
);

/** Returns what is on the list, oldest first. */
export async function readReports(connection: Connection): Promise<readonly ListedReport[]> {
  const { rows } = await connection.run(listed, { prepared: true });
  return rows;
}

/** Takes the reports of an endpoint off the list, up to the given one. */
export async function crossOffReports(
  connection: Connection,
  { endpointId, id }: ListedReport,
): Promise<void> {
  await connection.run(
    queue.deleteFrom('webhook_reports').where('endpoint_id', '=', endpointId).where('id', '<=', id),
    { prepared: true },
  );
}
