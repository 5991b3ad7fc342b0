import { type Routes, route } from '@counterfoil/engine/define';
import type { ChargesOf } from './charged-usage.ts';
import { analyticsQuestionSchema, analyticsSchema } from './schema.ts';
import { usageAnalytics } from './usage-analytics.ts';

/** The route that breaks usage down. */
export const analyticsRoutes = (chargesOf: ChargesOf) =>
  ({
    'POST /events/analytics': route({
      summary: 'Break usage down',
      description:
        'By feature, and by source and properties where asked, with what it costs a customer by its subscriptions.',
      operationId: 'getUsageAnalytics',
      tag: 'Usage',
      status: 200,
      permission: 'event:read',
      body: analyticsQuestionSchema,
      bodyOptional: true,
      response: analyticsSchema,
      example: {
        body: { group_by: ['properties.model'], window_size: 'DAY' },
        names: { customer_id: 'cust' },
        texts: ['external_customer_id', 'feature_ids', 'meter_ids'],
      },
      handle: (context, { body }) => usageAnalytics(context, chargesOf, body),
    }),
  }) satisfies Routes;
