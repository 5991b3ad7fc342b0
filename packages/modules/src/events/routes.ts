import { type FeedEvent, type PublicFeed, type Routes, route } from '@counterfoil/engine/define';
import { notFound } from '@counterfoil/kernel';
import { z } from 'zod';
import { bodySchema, type EventTypes, schemaUrl } from './event-type.ts';
import {
  eventTypeListSchema,
  type feedEventSchema,
  feedPageSchema,
  feedQuerySchema,
  jsonSchemaSchema,
} from './schema.ts';

const tag = 'Events';

const eventView = (event: FeedEvent): z.output<typeof feedEventSchema> => ({
  id: event.id,
  event_type: event.type,
  resource_id: event.resourceId,
  occurred_at: event.occurredAt,
  position: event.position,
  revision: event.revision,
  data: event.body,
});

/** The routes of the feed, for systems that follow events by asking. */
export const eventRoutes = (types: EventTypes, feed: PublicFeed) =>
  ({
    'GET /feed': route({
      summary: 'Read public events in order',
      description:
        'The events of this environment in the order of the log, without gaps. To follow them, ask ' +
        'again with `next_position`. To start from a list, take the `Counterfoil-Position` of its ' +
        'answer.',
      tag,
      status: 200,
      permission: 'public_event:read',
      query: feedQuerySchema,
      response: feedPageSchema,
      handle: async ({ principal }, { query }) => {
        const after = query.after_position ?? null;
        const page = await feed.read(principal, after, query.limit);
        return {
          items: page.events.map(eventView),
          next_position: page.nextPosition,
          has_more: page.hasMore,
        };
      },
    }),

    'GET /event-types': route({
      summary: 'List the types of public events',
      tag,
      status: 200,
      permission: null,
      response: eventTypeListSchema,
      handle: async () => ({
        items: [...types].map(([name, { summary }]) => ({
          event_type: name,
          summary,
          schema_url: schemaUrl(name),
        })),
      }),
    }),

    'GET /event-types/{event_type}/schema': route({
      summary: 'Get the JSON Schema of the body of a type of event',
      tag,
      status: 200,
      permission: null,
      params: z.object({ event_type: z.string().max(64) }),
      response: jsonSchemaSchema,
      example: { params: { event_type: 'customer.created' }, texts: ['event_type'] },
      handle: async (_context, { params: { event_type: name } }) => {
        const type = types.get(name);
        if (!type) throw notFound('event type', name);
        return { ...bodySchema(name, type) };
      },
    }),
  }) satisfies Routes;
