import { newRecord, type Routes, route } from '@counterfoil/engine/define';
import { type PlanId, referenceSchema } from '@counterfoil/kernel';
import { z } from 'zod';
import { whatIfAnswerSchema, whatIfSchema } from './schema.ts';
import { priceUnderPlan } from './what-if.ts';

export const whatIfRoutes = {
  'POST /plans/{id}/what-if': route({
    operationId: 'priceUnderPlan',
    summary: 'See what customers would have paid under a plan',
    description:
      'Their usage as it was, rated by the plan as if they had been subscribed to it, beside what they were billed. Nothing is written.',
    tag: 'Plans',
    status: 200,
    permission: 'invoice:read',
    params: z.object({ id: referenceSchema('plan') }),
    body: whatIfSchema,
    response: whatIfAnswerSchema,
    example: {
      params: { id: newRecord('price', 'entity_id') as PlanId },
      body: {
        customer_ids: [newRecord('cust')],
        start_time: '2026-01-01T00:00:00.000Z' as never,
        end_time: '2026-02-01T00:00:00.000Z' as never,
        currency: 'usd' as never,
      },
      names: { subscribed_to: 'plan', customer_ids: 'cust' },
    },
    handle: (context, { params: { id }, body }) => priceUnderPlan(context, id, body),
  }),
} satisfies Routes;
