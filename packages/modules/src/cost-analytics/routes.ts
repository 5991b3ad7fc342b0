import { type Routes, route } from '@counterfoil/engine/define';
import { costAnalytics } from './analytics.ts';
import { costAnalyticsQuestionSchema, costAnalyticsSchema } from './schema.ts';

export const costAnalyticsRoutes = {
  'POST /costs/analytics': route({
    operationId: 'getDetailedCostAnalytics',
    summary: 'See what customers bring and what they cost',
    description:
      'Revenue of final invoices, cost of the usage by the active costsheet, and the margin: by customer, plan and feature, in each currency. Nothing is written.',
    tag: 'Costsheets',
    status: 200,
    permission: 'cost:read',
    body: costAnalyticsQuestionSchema,
    response: costAnalyticsSchema,
    example: {
      needs: ['cost'],
      body: {
        start_time: '2026-01-01T00:00:00.000Z' as never,
        end_time: '2026-02-01T00:00:00.000Z' as never,
      },
      names: { customer_id: 'cust', external_customer_id: 'cust.external_id' },
      texts: ['feature_ids'],
    },
    handle: (context, { body }) => costAnalytics(context, body),
  }),
} satisfies Routes;
