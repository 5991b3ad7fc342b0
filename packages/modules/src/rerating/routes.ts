import { newRecord, type Routes, route } from '@counterfoil/engine/define';
import { type DecimalText, type InvoiceId, referenceSchema } from '@counterfoil/kernel';
import { z } from 'zod';
import { rerate } from './rerate.ts';
import { ratedAgainSchema, rerateInvoiceSchema } from './schema.ts';

export const reratingRoutes = {
  'POST /invoices/{id}/rerate': route({
    operationId: 'rerateInvoice',
    summary: 'Rate a final invoice again under other prices',
    description:
      'Shows the difference, by line. With `apply` it is mended: lines that cost less by a credit note, lines that cost more by an invoice.',
    tag: 'Invoices',
    status: 200,
    permission: 'invoice:write',
    params: z.object({ id: referenceSchema('inv') }),
    body: rerateInvoiceSchema,
    response: ratedAgainSchema,
    example: {
      params: { id: newRecord('sold_line', 'invoice_id') as InvoiceId },
      body: {
        prices: [{ price_id: newRecord('sold_line', 'price_id'), amount: '9' as DecimalText }],
        apply: false,
      },
      texts: ['prices.0.price_id'],
    },
    handle: (context, { params: { id }, body }) => rerate(context, id, body),
  }),
} satisfies Routes;
