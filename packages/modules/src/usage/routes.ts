import { newText, type Routes, route } from '@counterfoil/engine/define';
import { conflicting, type Ingesting, ingest } from './ingestion.ts';
import { listEvents } from './queries.ts';
import {
  bulkIngestionSchema,
  eventsQuerySchema,
  ingestedBulkSchema,
  ingestedEventSchema,
  ingestionSchema,
  queryEventsSchema,
  usageEventsSchema,
  usageLimits,
} from './schema.ts';

const tag = 'Usage';
const message = 'Recorded.';
/** The pointer to an event of a bulk. */
const inBulk = (index: number): string => `/events/${index}`;

/** The routes that record usage, for a process that remembers what it has recorded last. */
export const ingestionRoutes = (ingesting: Ingesting) =>
  ({
    'POST /events': route({
      summary: 'Record usage',
      description:
        'Answered when the event is durable. The same `event_id` with the same contents counts once, for ever; ' +
        'with other contents it is refused (409).',
      operationId: 'ingestEvent',
      tag,
      status: 202,
      permission: 'event:write',
      body: ingestedEventSchema,
      response: ingestionSchema,
      example: {
        body: {
          event_name: 'tokens',
          external_customer_id: 'acme',
          event_id: newText('event'),
          properties: { model: 'large', count: 1200 },
        },
        // Nothing of it need be known: usage may come before its customer.
        texts: ['external_customer_id', 'customer_id', 'event_id'],
      },
      handle: async (context, { body }) => {
        const { events, conflicts } = await ingest(context, ingesting, [body], () => '');
        const event_id = events[0]?.event_id ?? '';
        if (conflicts.length > 0) throw conflicting(event_id);
        return { message, event_id };
      },
    }),
    'POST /events/bulk': route({
      summary: 'Record usage, many events at once',
      description:
        'A malformed event refuses all of them. Events whose id is known are counted as repetitions or named as ' +
        'conflicts; the others are recorded.',
      operationId: 'ingestEvents',
      tag,
      status: 202,
      permission: 'event:write',
      bodyLimitBytes: usageLimits.bulkBytes,
      bodyContents: usageLimits.bulkContents,
      body: ingestedBulkSchema,
      response: bulkIngestionSchema,
      example: {
        body: {
          events: [
            {
              event_name: 'tokens',
              external_customer_id: 'acme',
              event_id: newText('event'),
              properties: { model: 'large', count: 1200 },
            },
          ],
        },
        texts: ['external_customer_id', 'customer_id', 'event_id'].map(
          (name) => `events.0.${name}`,
        ),
      },
      handle: async (context, { body }) => {
        const { accepted, repeated, conflicts } = await ingest(
          context,
          ingesting,
          body.events,
          inBulk,
        );
        return { message, accepted, repeated, conflicts: [...conflicts] };
      },
    }),
  }) satisfies Routes;

/** The routes that list usage. */
export const usageListRoutes = {
  'GET /events': route({
    summary: 'List usage events',
    description: 'Newest first. `iter_last_key` of a page, sent back, gives the next one.',
    operationId: 'listUsageEvents',
    tag,
    status: 200,
    permission: 'event:read',
    query: eventsQuerySchema,
    example: { texts: ['external_customer_id'] },
    response: usageEventsSchema,
    handle: (context, { query }) => listEvents(context, { ...query, order: 'desc' }),
  }),
  'POST /events/query': route({
    summary: 'Search usage events',
    operationId: 'queryUsageEvents',
    description: 'As the list, with filters by properties and in either order.',
    tag,
    status: 200,
    permission: 'event:read',
    example: {
      body: { event_name: 'tokens', property_filters: { model: ['large'] } },
      texts: ['external_customer_id', 'event_id'],
    },
    body: queryEventsSchema,
    bodyOptional: true,
    response: usageEventsSchema,
    handle: (context, { body }) => listEvents(context, body),
  }),
} satisfies Routes;
