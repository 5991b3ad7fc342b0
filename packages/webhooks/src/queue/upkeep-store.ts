import type { Connection } from '@counterfoil/engine';

/** Rows that one pass changes or removes at most, so that no pass holds others up for long. */
const passMaximum = 1_000;

/**
 * Gives deliveries back whose worker has not been heard of within the lease. The attempt stays on
 * record as lost: whether it reached the receiver nobody knows, so it is made again at once.
 * Returns how many.
 */
export async function reclaimExpired(connection: Connection): Promise<number> {
  const { count } = await connection.query(
    `with expired as (
       select id from counterfoil.webhook_deliveries
        where state = 'sending' and lease_until < now()
        limit ${passMaximum} for update skip locked
     ), reclaimed as (
       update counterfoil.webhook_deliveries delivery
          set state = 'pending', next_at = now(), lease_until = null
         from expired where delivery.id = expired.id
       returning delivery.id, delivery.attempt, delivery.environment_id, delivery.endpoint_id,
                 delivery.event_id, delivery.trigger
     )
     insert into counterfoil.webhook_attempts
       (delivery_id, attempt, environment_id, endpoint_id, event_id, trigger, outcome, detail)
     select reclaimed.*, 'lost', 'The worker ended before it could record the outcome.'
       from reclaimed
     on conflict (delivery_id, attempt) do nothing`,
    [],
    { prepared: true },
  );
  return count;
}

/**
 * Ends what is still to be sent to endpoints that are disabled (skipped) or deleted (cancelled).
 * Only when the read model is as far as the fan-out: before that it may show an endpoint as
 * disabled that has long been enabled again. What waits goes before what it waits for: should the
 * endpoint be enabled again in the midst of it, nothing is left waiting for what has gone. Returns
 * how many. Call it under the queue lock.
 */
export async function dropUnwanted(connection: Connection): Promise<number> {
  const { count } = await connection.query(
    `with recursive open_endpoint (endpoint_id, environment_id) as (
       (select endpoint_id, environment_id from counterfoil.webhook_deliveries
         where state in ('pending', 'waiting', 'sending') order by endpoint_id limit 1)
       union all
       select later.endpoint_id, later.environment_id
         from open_endpoint previous
        cross join lateral (
          select endpoint_id, environment_id from counterfoil.webhook_deliveries
           where state in ('pending', 'waiting', 'sending')
             and endpoint_id > previous.endpoint_id
           order by endpoint_id limit 1) later
     ), unwanted as (
       select delivery.id, endpoint.status
         from open_endpoint
         join counterfoil.webhook_endpoints endpoint
           on endpoint.environment_id = open_endpoint.environment_id
          and endpoint.id = open_endpoint.endpoint_id and not endpoint.enabled
        cross join lateral (
          select id from counterfoil.webhook_deliveries
           where endpoint_id = endpoint.id and state in ('pending', 'waiting')
             and (state = 'waiting' or not exists (
               select from counterfoil.webhook_deliveries
                where endpoint_id = endpoint.id and state = 'waiting' offset 0))
           limit ${passMaximum} for update skip locked) delivery
        where (select position from counterfoil.projection
                where name = 'webhook_endpoints' and serving)
              >= (select position from counterfoil.webhook_position)
        limit ${passMaximum}
     )
     update counterfoil.webhook_deliveries delivery
        set state = case when unwanted.status = 'deleted' then 'cancelled' else 'skipped' end,
            finished_at = now()
       from unwanted where delivery.id = unwanted.id`,
    [],
    { prepared: true },
  );
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

/** Removes some of what is older than it is to be kept. Returns whether there may be more of it. */
export async function removeOld(connection: Connection, retention: Retention): Promise<boolean> {
  const attempts = await connection.query(
    `delete from counterfoil.webhook_attempts
      where ctid = any (array (
        select ctid from counterfoil.webhook_attempts
         where recorded_at < now() - $1 * interval '1 day' limit ${attemptsMaximum}))`,
    [retention.attemptDays],
    { prepared: true },
  );
  const messages = await connection.query(
    `delete from counterfoil.webhook_messages
      where event_id in (
        select event_id from counterfoil.webhook_messages message
         where created_at < now() - $1 * interval '1 day'
           and not exists (select from counterfoil.webhook_deliveries delivery
                            where delivery.event_id = message.event_id
                              and delivery.state in ('pending', 'waiting', 'sending') offset 0)
         order by created_at limit ${messagesMaximum})`,
    [retention.messageDays],
    { prepared: true },
  );
  return attempts.count === attemptsMaximum || messages.count === messagesMaximum;
}
