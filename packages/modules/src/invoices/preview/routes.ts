import { newRecord, type Routes, route } from '@counterfoil/engine/define';
import type { SubscriptionId } from '@counterfoil/kernel';
import { invoiceSchema } from '../schema.ts';
import { previewed } from './preview.ts';
import { previewInvoiceSchema } from './schema.ts';

export const previewRoutes = {
  'POST /invoices/preview': route({
    summary: 'See what the coming invoice of a subscription would come to',
    description:
      'At the end of its running period, with what was used by now. Nothing is recorded. Prepaid credits are left out: what they pay is known when it is final.',
    tag: 'Invoices',
    status: 200,
    permission: 'invoice:read',
    body: previewInvoiceSchema,
    response: invoiceSchema,
    example: { body: { subscription_id: newRecord('subs') as SubscriptionId } },
    handle: (context, { body }) => previewed(context, body),
  }),
} satisfies Routes;
