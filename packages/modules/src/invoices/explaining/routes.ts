import { newRecord, type Routes, route } from '@counterfoil/engine/define';
import { type InvoiceId, referenceSchema } from '@counterfoil/kernel';
import { z } from 'zod';
import { explainedInvoice } from './explain.ts';
import { explainQuerySchema, invoiceExplanationSchema } from './schema.ts';

export const explainingRoutes = {
  'GET /invoices/{id}/explain': route({
    operationId: 'explainInvoice',
    summary: 'See how every figure of an invoice comes about',
    description:
      'It is computed again from the log up to the positions that it names. With `line_item_id` the usage events of that line follow, page by page.',
    tag: 'Invoices',
    status: 200,
    permission: 'invoice:read',
    params: z.object({ id: referenceSchema('inv') }),
    query: explainQuerySchema,
    response: invoiceExplanationSchema,
    example: { params: { id: newRecord('inv') as InvoiceId }, texts: ['line_item_id'] },
    handle: (context, { params: { id }, query }) => explainedInvoice(context, id, query),
  }),
} satisfies Routes;
