import { type RequestContext, type Routes, route } from '@counterfoil/engine/define';
import { eventsWithKeys } from '../queries.ts';
import { metersOf } from '../trace/meters.ts';
import { rejectedCounts } from './counts.ts';
import { rejectionsOf } from './faults.ts';
import {
  type RejectedEvents,
  type RejectedQuery,
  rejectedCountsQuerySchema,
  rejectedCountsSchema,
  rejectedEventsSchema,
  rejectedQuerySchema,
} from './schema.ts';

/** The routes that list and number what is not counted. */
export const rejectedUsageRoutes = {
  'GET /events/rejected': route({
    summary: 'List usage that is not counted',
    description:
      'As things stand: what a new customer or meter makes good is gone from it. Newest first; a page ends where it is ' +
      'full or 10,000 events were looked at.',
    operationId: 'listRejectedUsage',
    tag: 'Usage',
    status: 200,
    permission: 'event:read',
    query: rejectedQuerySchema,
    example: { texts: ['external_customer_id'] },
    response: rejectedEventsSchema,
    handle: (context, { query }) => rejectedEvents(context, query),
  }),
  'GET /events/rejected/counts': route({
    summary: 'Count usage that is not counted',
    description: 'By name and reason, in a span of timestamps, as things stand.',
    operationId: 'countRejectedUsage',
    tag: 'Usage',
    status: 200,
    permission: 'event:read',
    query: rejectedCountsQuerySchema,
    response: rejectedCountsSchema,
    handle: (context, { query }) => rejectedCounts(context, query),
  }),
} satisfies Routes;

/** Events that one page looks at, and one statement reads. */
const lookedAtMaximum = 10_000;
const portion = 1_000;

async function rejectedEvents(
  context: RequestContext,
  { reason, page_size, ...query }: RejectedQuery,
): Promise<RejectedEvents> {
  const found: RejectedEvents['events'] = [];
  let lookedAt = 0;
  let key = query.iter_last_key;
  const dropped = new Set<string>();
  const answer = (has_more: boolean): RejectedEvents => ({
    events: found,
    looked_at: lookedAt,
    has_more,
    ...(key === undefined ? {} : { iter_last_key: key }),
    ...(dropped.size === 0 ? {} : { dropped_months: [...dropped].sort() }),
  });
  for (;;) {
    const place = { iter_last_key: key, page_size: portion, order: 'desc' } as const;
    const page = await eventsWithKeys(context, { ...query, ...place });
    const { listed, has_more, dropped_months = [] } = page;
    for (const month of dropped_months) dropped.add(month);
    const names = new Set(listed.map(({ event }) => event.event_name));
    const meters = await metersOf(context, [...names]);
    for (const [index, { event, key: own }] of listed.entries()) {
      const rejections = rejectionsOf(event, meters);
      const isAsked = rejections.some((each) => reason === undefined || each.reason === reason);
      if (isAsked) found.push({ event, rejections });
      lookedAt += 1;
      key = own;
      const isLast = index === listed.length - 1;
      if (found.length === page_size) return answer(has_more || !isLast);
    }
    if (!has_more || lookedAt >= lookedAtMaximum) return answer(has_more);
  }
}
