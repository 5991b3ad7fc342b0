import type { Connection } from '@counterfoil/engine';
import type { BreakerState } from './health.ts';

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

/** The figures of the queue. */
export interface QueueFigures {
  readonly pending: number;
  readonly waiting: number;
  readonly sending: number;
  /** Seconds since the oldest pending delivery became due; 0 when none is. */
  readonly oldestDueSeconds: number;
}

/** The figures of the endpoints' health, and of the reading of the public stream. */
export interface StateFigures {
  /** Enabled endpoints by the state of their breaker. */
  readonly endpoints: Readonly<Record<BreakerState, number>>;
  /** Messages of the public stream that have not been turned into deliveries. */
  readonly unread: number;
}

/** Reads figures for operators. What the relay has published it writes down once a second. */
export async function readStateFigures(connection: Connection): Promise<StateFigures> {
  const { rows } = await connection.query<Record<BreakerState | 'unread', string>>(
    `select count(*) filter (where state = 'open') as open,
            count(*) filter (where state = 'half_open') as half_open,
            count(*) filter (where state = 'closed') as closed,
            coalesce((select greatest(0, relay.sequence - reader.sequence)
                        from counterfoil.relay_checkpoint relay, counterfoil.webhook_position reader
                       limit 1), 0) as unread
       from (select coalesce(health.state, 'closed') as state
               from counterfoil.webhook_endpoints endpoint
               left join counterfoil.webhook_health health
                 on health.endpoint_id = endpoint.id and health.enabled_at = endpoint.enabled_at
              where endpoint.enabled) endpoints`,
  );
  const figure = (name: BreakerState | 'unread'): number => Number(rows[0]?.[name] ?? 0);
  return {
    endpoints: {
      closed: figure('closed'),
      open: figure('open'),
      half_open: figure('half_open'),
    },
    unread: figure('unread'),
  };
}

export async function readFigures(connection: Connection): Promise<QueueFigures> {
  const { rows } = await connection.query<Record<keyof QueueFigures, string>>(
    `select count(*) filter (where state = 'pending') as pending,
            count(*) filter (where state = 'waiting') as waiting,
            count(*) filter (where state = 'sending') as sending,
            coalesce(greatest(0, extract(epoch from
              now() - min(next_at) filter (where state = 'pending' and next_at > 'epoch'))), 0) as "oldestDueSeconds"
       from counterfoil.webhook_deliveries where state in ('pending', 'waiting', 'sending')`,
    [],
    { prepared: true },
  );
  const figure = (name: keyof QueueFigures): number => Number(rows[0]?.[name] ?? 0);
  return {
    pending: figure('pending'),
    waiting: figure('waiting'),
    sending: figure('sending'),
    oldestDueSeconds: figure('oldestDueSeconds'),
  };
}
