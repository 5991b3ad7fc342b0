import { type RequestContext, type Routes, route } from '@counterfoil/engine/define';
import type { Instant, Span } from '@counterfoil/kernel';
import { sql } from 'kysely';
import { windowStartsOf } from '../analytics/limits.ts';
import { askedSpan } from '../asked-span.ts';
import { readKept } from '../retention/refuse-dropped.ts';
import { usageTables } from '../tables.ts';
import {
  type MonitoringQuery,
  monitoringQuerySchema,
  monitoringSchema,
  type UsageMonitoring,
} from './schema.ts';

/** The route that tells how much usage came, and whether all of it can be read. */
export const usageMonitoringRoutes = {
  'GET /events/monitoring': route({
    summary: 'Count usage events, and those that cannot be read yet',
    description:
      'By timestamp. Waits for nothing: `position` and `log_position` are equal when all that was recorded can be read.',
    operationId: 'monitorUsage',
    tag: 'Usage',
    status: 200,
    permission: 'event:read',
    query: monitoringQuerySchema,
    response: monitoringSchema,
    handle: (context, { query }) => usageMonitoring(context, query),
  }),
} satisfies Routes;

const day = 86_400_000;

async function usageMonitoring(
  context: RequestContext,
  { window_size: size, ...asked }: MonitoringQuery,
): Promise<UsageMonitoring> {
  const span = askedSpan(context.now, asked, day);
  const starts = size === undefined ? [span.start] : windowStartsOf({ size, zone: 'UTC' }, span);
  const { head, shown, missing } = await context.facts.progress(usageTables);
  const about = { eventName: null, spans: [span] };
  const counts = await readKept(context, about, () => countEvents(context, span, starts));
  const points = counts.map(({ window, events }) => ({
    timestamp: starts[window - 1] ?? span.start,
    event_count: Number(events),
  }));
  return {
    total_count: points.reduce((total, { event_count }) => total + event_count, 0),
    ...(size === undefined ? {} : { points }),
    consumption_lag: missing,
    post_processing_lag: 0,
    position: shown,
    log_position: head,
  };
}

/** The events of each window that has some, which are numbered from 1 on. */
const countEvents = (
  { facts, principal }: RequestContext,
  { start, end }: Span,
  starts: readonly Instant[],
) =>
  facts.queryAtOnce(usageTables, (from) =>
    from
      .selectFrom('event')
      .select([
        sql<number>`width_bucket(event.at, ${sql.val(starts)}::timestamptz[])`.as('window'),
        (row) => row.fn.countAll<string>().as('events'),
      ])
      .where('event.environment', '=', (environment) =>
        environment
          .selectFrom('environment')
          .select('environment.number')
          .where('environment.environment_id', '=', principal.environmentId),
      )
      .where('event.at', '>=', start)
      .where('event.at', '<', end)
      .groupBy(sql`1`)
      .orderBy(sql`1`)
      .limit(starts.length),
  );
