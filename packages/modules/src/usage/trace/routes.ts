import { newRecord, type Routes, route } from '@counterfoil/engine/define';
import { tracedEvent } from './queries.ts';
import { tracedEventSchema, usageEventTraceSchema } from './schema.ts';

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
    handle: (context, { params }) => tracedEvent(context, params.id),
  }),
  'GET /events/lookup': route({
    ...shared,
    summary: 'Get a usage event by any id',
    description: 'As by its path, for ids that a path cannot hold.',
    operationId: 'lookUpUsageEvent',
    query: tracedEventSchema,
    example: { query: { id: newRecord('usage') } },
    handle: (context, { query }) => tracedEvent(context, query.id),
  }),
} satisfies Routes;
