import { instantSchema, referenceSchema } from '@counterfoil/kernel';
import { z } from 'zod';

/** Body of POST /invoices/preview (specification §10.2). */
export const previewInvoiceSchema = z
  .object({
    subscription_id: referenceSchema('subs'),
    period_start: instantSchema
      .nullish()
      .meta({ description: 'That of the running period, which is what is shown without it' }),
    period_end: instantSchema
      .nullish()
      .meta({ description: 'That of the running period, which is what is shown without it' }),
    hide_zero_charges_line_items: z
      .boolean()
      .nullish()
      .meta({ description: 'Whether lines that come to nothing are left out' }),
  })
  .meta({ id: 'PreviewInvoice' });
export type PreviewInvoice = z.output<typeof previewInvoiceSchema>;
