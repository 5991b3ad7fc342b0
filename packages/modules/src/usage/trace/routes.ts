import { newRecord, type Routes, route } from '@counterfoil/engine/define';
import { tracedEvent } from './queries.ts';
import { lookedUpEventSchema, tracedEventSchema, usageEventTraceSchema } from './schema.ts';

const shared = {
  tag: 'Usage',
  status: 200,
  permission: 'event:read',
  response: usageEventTraceSchema,
} as const;

/** The routes that tell what was made of one event. */
export const usageTraceRoutes = {
  'GET /events/{id}': route({
    ...shared,
    summary: 'Get a usage event, and what counts it',
    description: 'Each meter of its name with the value that it takes, or why it takes none.',
    operationId: 'getUsageEvent',
    params: tracedEventSchema,
    example: { params: { id: newRecord('usage') } },
    handle: (context, { params }) => tracedEvent(context, params),
  }),
  'GET /events/lookup': route({
    ...shared,
    summary: 'Get a usage event by any id',
    description:
      'As by its path, for ids that a path cannot hold. 404 for one of another customer or time.',
    operationId: 'lookUpUsageEvent',
    query: lookedUpEventSchema,
    example: { query: { id: newRecord('usage') }, texts: ['external_customer_id'] },
    handle: (context, { query }) => tracedEvent(context, query),
  }),
} satisfies Routes;
