import type { Connection } from '@counterfoil/engine';
import type { BreakerState } from './health.ts';

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

/** Reads the figures. How far the relay has published it writes down once a second. */
export async function readFigures(connection: Connection): Promise<Figures> {
  const { rows: queued } = await connection.query<Record<string, string>>(
    `select count(*) filter (where state = 'pending') as pending,
            count(*) filter (where state = 'waiting') as waiting,
            count(*) filter (where state = 'sending') as sending,
            coalesce(greatest(0, extract(epoch from
              now() - min(next_at) filter (where state = 'pending' and next_at > 'epoch'))), 0) as oldest
       from counterfoil.webhook_deliveries where state in ('pending', 'waiting', 'sending')`,
    [],
    { prepared: true },
  );
  const { rows: endpoints } = await connection.query<Record<string, string>>(
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
  const figures = { ...queued[0], ...endpoints[0] };
  const figure = (name: string): number => Number(figures[name] ?? 0);
  return {
    deliveries: {
      pending: figure('pending'),
      waiting: figure('waiting'),
      sending: figure('sending'),
    },
    oldestDueSeconds: figure('oldest'),
    endpoints: {
      closed: figure('closed'),
      open: figure('open'),
      half_open: figure('half_open'),
    },
    unread: figure('unread'),
  };
}
