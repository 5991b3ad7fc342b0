import { type Connection, literals, writtenOnce } from '@counterfoil/engine';
import { sql } from 'kysely';
import type { BreakerState } from './health.ts';
import { queue } from './schema.ts';

/** Figures for operators. */
export interface Figures {
  /** Deliveries that have not ended, by state. */
  readonly deliveries: Readonly<Record<'pending' | 'waiting' | 'sending', number>>;
  /** Seconds since the oldest pending delivery became due; 0 when none is. */
  readonly oldestDueSeconds: number;
  /** Enabled endpoints by the state of their breaker. */
  readonly endpoints: Readonly<Record<BreakerState, number>>;
  /** Messages of the public stream that have not been turned into deliveries. */
  readonly unread: number;
}

const queuedDeliveries = writtenOnce(() =>
  queue
    .selectFrom('webhook_deliveries')
    .select(({ fn }) => [
      fn.countAll<string>().filterWhere('state', '=', sql.lit('pending')).as('pending'),
      fn.countAll<string>().filterWhere('state', '=', sql.lit('waiting')).as('waiting'),
      fn.countAll<string>().filterWhere('state', '=', sql.lit('sending')).as('sending'),
      fn
        .min('next_at')
        .filterWhere('state', '=', sql.lit('pending'))
        .filterWhere('next_at', '>', sql.lit('epoch'))
        .as('oldest'),
      sql<string>`now()`.as('now'),
    ])
    .where('state', 'in', literals('pending', 'waiting', 'sending')),
);

const breakerStates = writtenOnce(() =>
  queue
    .selectFrom('webhook_endpoints as endpoint')
    .leftJoin('webhook_health as health', (join) =>
      join
        .onRef('health.endpoint_id', '=', 'endpoint.id')
        .onRef('health.enabled_at', '=', 'endpoint.enabled_at'),
    )
    .select(({ fn }) => [
      fn.coalesce('health.state', sql.lit<BreakerState>('closed')).as('state'),
      fn.countAll<string>().as('count'),
    ])
    .where('endpoint.enabled', '=', sql.lit(true))
    .groupBy(sql`1`),
);

const readPlaces = writtenOnce(() =>
  queue
    .selectFrom(['relay_checkpoint as relay', 'webhook_position as reader'])
    .select(['relay.sequence as published', 'reader.sequence as read']),
);

/** Reads the figures. How far the relay has published it writes down once a second. */
export async function readFigures(connection: Connection): Promise<Figures> {
  const [queued, breakers, places] = await Promise.all([
    connection.run(queuedDeliveries, { prepared: true }),
    connection.run(breakerStates),
    connection.run(readPlaces),
  ]);
  const { pending, waiting, sending, oldest, now } = queued.rows[0] ?? {};
  const { published = 0, read = 0 } = places.rows[0] ?? {};
  const inState = (state: BreakerState): number =>
    Number(breakers.rows.find((row) => row.state === state)?.count ?? 0);
  const dueFor = oldest && now ? (Date.parse(now) - Date.parse(oldest)) / 1_000 : 0;
  return {
    deliveries: {
      pending: Number(pending ?? 0),
      waiting: Number(waiting ?? 0),
      sending: Number(sending ?? 0),
    },
    oldestDueSeconds: Math.max(0, dueFor),
    endpoints: {
      closed: inState('closed'),
      open: inState('open'),
      half_open: inState('half_open'),
    },
    unread: Math.max(0, Number(published) - Number(read)),
  };
}
