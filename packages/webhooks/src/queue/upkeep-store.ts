import {
  type Connection,
  literals,
  transactionTime,
  writtenFor,
  writtenOnce,
} from '@counterfoil/engine';
import { sql } from 'kysely';
import { ago, areEndpointsRead, deliveriesLike, none, openEndpoints, queue } from './schema.ts';

/** Rows that one pass changes or removes at most, so that no pass holds others up for long. */
const passMaximum = 1_000;

const lostDetail = 'The worker ended before it could record the outcome.';

const lostColumns = ['attempt', 'environment_id', 'endpoint_id', 'event_id', 'trigger'] as const;

const reclaiming = writtenOnce(() =>
  queue
    .with('expired', (query) =>
      query
        .selectFrom('webhook_deliveries')
        .select('id')
        .where('state', '=', sql.lit('sending'))
        .where('lease_until', '<', transactionTime)
        .limit(sql.lit(passMaximum))
        .forUpdate()
        .skipLocked(),
    )
    .with('reclaimed', (query) =>
      query
        .updateTable('webhook_deliveries as delivery')
        .from('expired')
        .set({ state: 'pending', next_at: transactionTime, lease_until: null })
        .whereRef('delivery.id', '=', 'expired.id')
        .returning('delivery.id as delivery_id')
        .returning(lostColumns),
    )
    .insertInto('webhook_attempts')
    .columns(['delivery_id', ...lostColumns, 'outcome', 'detail'])
    .expression(({ selectFrom }) =>
      selectFrom('reclaimed')
        .select(['delivery_id', ...lostColumns])
        .select([sql.lit('lost').as('outcome'), sql.lit(lostDetail).as('detail')]),
    )
    .onConflict((conflict) => conflict.columns(['delivery_id', 'attempt']).doNothing()),
);

/**
 * Gives deliveries back whose worker has not been heard of within the lease. The attempt stays on
 * record as lost: whether it reached the receiver nobody knows, so it is made again at once.
 * Returns how many.
 */
export async function reclaimExpired(connection: Connection): Promise<number> {
  const { count } = await connection.run(reclaiming, { prepared: true });
  return count;
}

const dropping = writtenOnce(() => {
  const unwanted = openEndpoints('pending', 'waiting', 'sending')
    .innerJoin('webhook_endpoints as endpoint', (join) =>
      join
        .onRef('endpoint.environment_id', '=', 'open_endpoint.environment_id')
        .onRef('endpoint.id', '=', 'open_endpoint.endpoint_id')
        .on('endpoint.enabled', '=', sql.lit(false)),
    )
    .crossJoinLateral(
      queue
        .selectFrom('webhook_deliveries as delivery')
        .select('delivery.id')
        .where('delivery.endpoint_id', '=', sql.ref<string>('endpoint.id'))
        .where('delivery.state', 'in', literals('pending', 'waiting'))
        .where((delivery) =>
          delivery.or([
            delivery('delivery.state', '=', sql.lit('waiting')),
            none(deliveriesLike('open_endpoint', ['endpoint_id'], 'waiting')),
          ]),
        )
        .limit(sql.lit(passMaximum))
        .forUpdate()
        .skipLocked()
        .as('unsent'),
    )
    .select(['unsent.id', 'endpoint.status'])
    .where(areEndpointsRead)
    .limit(sql.lit(passMaximum));
  return queue
    .with('unwanted', () => unwanted)
    .updateTable('webhook_deliveries as delivery')
    .from('unwanted')
    .set({
      state: sql`case when unwanted.status = 'deleted' then 'cancelled' else 'skipped' end`,
      finished_at: transactionTime,
    })
    .whereRef('delivery.id', '=', 'unwanted.id');
});

/**
 * Ends the deliveries that are still to be sent to endpoints that are disabled (skipped) or deleted
 * (cancelled). Only when the read model is as far as the fan-out: before that it may show an
 * endpoint as disabled that has long been enabled again. A delivery that waits goes before the one
 * that it waits for: should the endpoint be enabled again in the midst of it, none is left waiting
 * for one that has gone. Returns how many. Call it under the queue lock.
 */
export async function dropUnwanted(connection: Connection): Promise<number> {
  const { count } = await connection.run(dropping, { prepared: true });
  return count;
}

/** The time that things are kept, in days. */
export interface Retention {
  readonly attemptDays: number;
  /** Messages go with their deliveries. Those that are not delivered by then are given up. */
  readonly messageDays: number;
}

/** Attempts that one statement removes at most. */
const attemptsMaximum = 5_000;
/** A message goes with all its deliveries and their attempts, which may be many. */
const messagesMaximum = 500;

const removingAttempts = writtenFor(({ attemptDays }: Retention) =>
  queue
    .deleteFrom('webhook_attempts')
    // By their place in the table: no index finds single attempts by their time.
    .where(({ selectFrom }) => {
      const places = selectFrom('webhook_attempts')
        .select(sql`ctid`.as('place'))
        .where('recorded_at', '<', ago('day', attemptDays))
        .limit(sql.lit(attemptsMaximum));
      return sql<boolean>`ctid = any (array ${places})`;
    }),
);

const removingMessages = writtenFor(({ messageDays }: Retention) =>
  queue.deleteFrom('webhook_messages').where('event_id', 'in', ({ selectFrom }) =>
    selectFrom('webhook_messages as message')
      .select('message.event_id')
      .where('message.created_at', '<', ago('day', messageDays))
      .where(none(deliveriesLike('message', ['event_id'], 'pending', 'waiting', 'sending')))
      .orderBy('message.created_at')
      .limit(sql.lit(messagesMaximum)),
  ),
);

/** Removes some of the rows that are too old to be kept. Returns whether there may be more. */
export async function removeOld(connection: Connection, retention: Retention): Promise<boolean> {
  const attempts = await connection.run(removingAttempts(retention), { prepared: true });
  const messages = await connection.run(removingMessages(retention), { prepared: true });
  return attempts.count === attemptsMaximum || messages.count === messagesMaximum;
}
