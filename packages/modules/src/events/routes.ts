import {
  type FeedEvent,
  type FeedPage,
  type FeedScope,
  type PublicFeed,
  type Routes,
  route,
} from '@counterfoil/engine/define';
import { notFound } from '@counterfoil/kernel';
import { z } from 'zod';
import { bodySchema, type EventTypes, schemaUrl } from './event-type.ts';
import {
  eventTypeListSchema,
  type FeedQuery,
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

/** The events that are looked through for those about one customer, in one request. */
const examinedMaximum = 1_000;

async function pageOf(
  feed: PublicFeed,
  scope: FeedScope,
  {
    after_position,
    limit,
    event_type: type,
    resource_id: resourceId,
    customer_id: customerId,
  }: FeedQuery,
): Promise<FeedPage> {
  const request = { after: after_position ?? null, type, resourceId };
  if (customerId === undefined) return feed.read(scope, { ...request, limit });
  const page = await feed.read(scope, { ...request, limit: examinedMaximum });
  const events = page.events.filter((event) => isAbout(event, customerId));
  const following = events.findIndex(
    ({ position }, place) => place >= limit && position !== events[place - 1]?.position,
  );
  if (following < 0) return { ...page, events };
  const kept = events.slice(0, following);
  return { events: kept, nextPosition: kept.at(-1)?.position ?? page.nextPosition, hasMore: true };
}

/** Tells whether an event shows the customer itself or a record of it. */
const isAbout = ({ body }: FeedEvent, customerId: string): boolean =>
  Object.entries(body).some(([name, value]) => {
    const record = z
      .object({ id: z.unknown(), customer_id: z.unknown() })
      .partial()
      .safeParse(value).data;
    return (
      record !== undefined && (name === 'customer' ? record.id : record.customer_id) === customerId
    );
  });

/** The routes of the feed, for systems that follow events by asking. */
export const eventRoutes = (types: EventTypes, feed: PublicFeed) =>
  ({
    'GET /feed': route({
      summary: 'Read public events in order',
      description:
        'In the order of the log, without gaps. To follow them, ask again with `next_position` and the same filters. To start from a list, take the `Counterfoil-Position` of its answer.',
      tag,
      status: 200,
      permission: 'public_event:read',
      query: feedQuerySchema(new Set(types.keys())),
      response: feedPageSchema,
      example: { names: { resource_id: 'cust', customer_id: 'cust' } },
      handle: async ({ principal }, { query }) => {
        const page = await pageOf(feed, principal, query);
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
        items: [...types].map(([name, { summary, kind = 'state' }]) => ({
          event_type: name,
          summary,
          kind,
          schema_url: schemaUrl(name),
        })),
      }),
    }),

    'GET /event-types/{event_type}/schema': route({
      summary: 'Get the JSON Schema of a type of event',
      description: 'Of its body.',
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
