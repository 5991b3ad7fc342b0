import { type Routes, route } from '@counterfoil/engine/define';
import { referenceSchema } from '@counterfoil/kernel';
import { z } from 'zod';
import { bringCustomer, createCustomerSchema } from '../../customers/index.ts';
import { bringPrice, createPriceSchema } from '../../offers/index.ts';
import { onExistingSchema } from '../task/values.ts';

const params = z.object({ id: referenceSchema('task') });
const response = z.object({ outcome: z.enum(['created', 'unchanged', 'updated']) });
const common = { tag: 'Tasks', status: 200, params, response } as const;

/**
 * The operations that take a row of an import. No path leads to them: the service itself carries them out, in the name
 * of whoever asked for the import, under a key made of the line (ADR 52).
 */
export const importOperations = {
  'POST /tasks/{id}/customers': route({
    summary: 'Take a customer of an import',
    ...common,
    permission: 'customer:write',
    query: z.object({ on_existing: onExistingSchema }),
    body: createCustomerSchema,
    handle: async (context, { query, body }) => ({
      outcome: await bringCustomer(context, body, query.on_existing === 'update'),
    }),
  }),
  'POST /tasks/{id}/prices': route({
    summary: 'Take a price of an import',
    ...common,
    permission: 'price:write',
    query: z.object({ on_existing: onExistingSchema }),
    body: createPriceSchema,
    handle: async (context, { query, body }) => ({
      outcome: await bringPrice(context, body, query.on_existing === 'update'),
    }),
  }),
} satisfies Routes;
