import { newRecord, type Routes, route } from '@counterfoil/engine/define';
import { currentUsage } from './current-usage.ts';
import {
  type CurrentUsage,
  currentUsageBulkSchema,
  currentUsageQuestionSchema,
  currentUsageSchema,
  currentUsagesSchema,
} from './schema.ts';

const tag = 'Usage';
const example = { customer_id: newRecord('cust'), meter_id: newRecord('meter') };

const otherNames = { external_customer_id: 'cust.external_id', feature_id: 'feat' };

/** The routes that tell how much was used so far. */
export const currentUsageRoutes = {
  'POST /usage/current': route({
    summary: 'Get the usage so far',
    description:
      'Of a meter, or of the meter of a feature, by a customer in the period that runs: a day, week, month, quarter, half or year ' +
      "of the calendar in the customer's zone, or all time.",
    operationId: 'getCurrentUsage',
    tag,
    status: 200,
    permission: 'event:read',
    body: currentUsageQuestionSchema,
    response: currentUsageSchema,
    example: { body: example, names: otherNames },
    handle: (context, { body }) => currentUsage(context, body),
  }),
  'POST /usage/current/bulk': route({
    summary: 'Get several usages so far',
    description: 'In the order of the questions. One that cannot be answered refuses all.',
    operationId: 'getCurrentUsages',
    tag,
    status: 200,
    permission: 'event:read',
    body: currentUsageBulkSchema,
    response: currentUsagesSchema,
    example: {
      body: { items: [example] },
      names: {
        'items.0.external_customer_id': 'cust.external_id',
        'items.0.feature_id': 'feat',
      },
    },
    handle: async (context, { body }) => {
      const items: CurrentUsage[] = [];
      for (const question of body.items) items.push(await currentUsage(context, question));
      return { items };
    },
  }),
} satisfies Routes;
