import { newRecord, pageSchema, type RequestContext, route } from '@counterfoil/engine/define';
import { type Instant, invalidField, notFound, shiftedBy } from '@counterfoil/kernel';
import { loadEndpoint } from '../endpoint/decisions.ts';
import { endpointPathSchema } from '../endpoint/schema.ts';
import type { WebhookOptions } from '../options.ts';
import { findPublished } from './published-message.ts';
import {
  endpointStats,
  findMessage,
  listAttempts,
  listMessages,
  type StoredMessage,
} from './queries.ts';
import {
  attemptListSchema,
  attemptSchema,
  messageListSchema,
  messagePathSchema,
  messageSchema,
  statsQuerySchema,
  statsSchema,
  wholeMessageSchema,
} from './schema.ts';
import { wholeBodyOf } from './whole-body.ts';

const tag = 'Webhook deliveries';
const dayMs = 86_400_000;

/** The message; 404 when there is none, or none any more. */
export async function requireMessage(context: RequestContext, id: string): Promise<StoredMessage> {
  const found = await findMessage(context, id);
  if (!found) throw notFound('webhook message', id);
  return found;
}

/** The body as it is delivered, or the whole of one that was too long for that. */
async function bodyOf(
  { publicEvents }: Pick<WebhookOptions, 'publicEvents'>,
  context: RequestContext,
  { resource, body, stream, revision }: StoredMessage,
): Promise<unknown> {
  const delivered: unknown = JSON.parse(body);
  const isTruncated =
    typeof delivered === 'object' && delivered !== null && 'truncated' in delivered;
  if (!isTruncated) return delivered;
  const { event_type: type, resource_id: resourceId } = resource;
  const origin = { stream, revision, type, resourceId };
  return (await wholeBodyOf(publicEvents, context, origin)) ?? delivered;
}

function period(
  now: Instant,
  asked: { readonly since?: Instant | undefined; readonly until?: Instant | undefined },
): { since: Instant; until: Instant } {
  const until = asked.until ?? now;
  const since = asked.since ?? shiftedBy(until, -dayMs);
  if (until < since) throw invalidField('/until', 'must not be before since');
  return { since, until };
}

/** Reads of messages, attempts and figures. They show the queue as it is, not as the log is. */
export const deliveryRoutes = (options: Pick<WebhookOptions, 'publicEvents' | 'feed'>) => ({
  'GET /webhooks/messages': route({
    summary: 'List messages and where their deliveries stand',
    description:
      'Kept for 90 days unless configured otherwise, from the first endpoint of an environment on.',
    tag,
    status: 200,
    permission: 'webhook:read',
    query: messageListSchema,
    response: pageSchema(messageSchema),
    example: { names: { resource_id: 'cust', endpoint_id: 'webhook' } },
    handle: (context, { query }) => listMessages(context, query),
  }),
  'GET /webhooks/messages/{id}': route({
    summary: 'Get a message with its body',
    description:
      'What the header ce-dataref of a shortened event names. One that no endpoint was to have is found as long as the public stream keeps it.',
    tag,
    status: 200,
    permission: 'webhook:read',
    params: messagePathSchema,
    response: wholeMessageSchema,
    example: { params: { id: newRecord('msg') } },
    handle: async (context, { params: { id } }) => {
      const message =
        (await findMessage(context, id)) ?? (await findPublished(options.feed, context, id));
      if (!message) throw notFound('webhook message', id);
      return { ...message.resource, body: await bodyOf(options, context, message) };
    },
  }),
  'GET /webhooks/messages/{id}/attempts': route({
    summary: 'List the attempts to deliver a message',
    tag,
    status: 200,
    permission: 'webhook:read',
    params: messagePathSchema,
    query: attemptListSchema,
    response: pageSchema(attemptSchema),
    example: { params: { id: newRecord('msg') } },
    handle: async (context, { params: { id }, query }) => {
      await requireMessage(context, id);
      return listAttempts(context, { kind: 'message', id }, query);
    },
  }),
  'GET /webhooks/endpoints/{id}/attempts': route({
    summary: 'List the attempts to deliver to an endpoint',
    tag,
    status: 200,
    permission: 'webhook:read',
    params: endpointPathSchema,
    query: attemptListSchema,
    response: pageSchema(attemptSchema),
    handle: async (context, { params: { id }, query }) => {
      await loadEndpoint(context, id);
      return listAttempts(context, { kind: 'endpoint', id }, query);
    },
  }),
  'GET /webhooks/endpoints/{id}/stats': route({
    summary: 'Get figures of an endpoint',
    description: 'Deliveries, answer times and the breaker.',
    tag,
    status: 200,
    permission: 'webhook:read',
    params: endpointPathSchema,
    query: statsQuerySchema,
    response: statsSchema,
    handle: async (context, { params: { id }, query }) => {
      await loadEndpoint(context, id);
      return endpointStats(context, id, period(context.receivedAt, query));
    },
  }),
});
