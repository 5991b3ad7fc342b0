import { type Routes, route } from '@counterfoil/engine/define';
import { referenceSchema } from '@counterfoil/kernel';
import { z } from 'zod';
import { customerInvoiceSummary } from './queries.ts';
import { customerInvoiceSummarySchema } from './schema.ts';

export const invoiceSummaryRoutes = {
  'GET /customers/{id}/invoices/summary': route({
    summary: 'Get what a customer has paid and owes, by currency',
    description:
      'Of the invoices that are final. `default_currency` is that of the latest of them.',
    tag: 'Invoices',
    status: 200,
    permission: 'invoice:read',
    params: z.object({ id: referenceSchema('cust') }),
    response: customerInvoiceSummarySchema,
    handle: (context, { params: { id } }) => customerInvoiceSummary(context, id),
  }),
} satisfies Routes;
