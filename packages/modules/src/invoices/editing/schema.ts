import { clearable, instantSchema, metadataSchema, textSchema } from '@counterfoil/kernel';
import { z } from 'zod';
import { requestableMessages } from '../events.ts';
import { invoiceSchema } from '../schema.ts';

/** Body of PUT /invoices/{id} (specification §10.2). */
export const updateInvoiceSchema = z
  .object({
    due_date: instantSchema.nullish(),
    description: clearable(textSchema(1024)).optional(),
    invoice_pdf_url: clearable(textSchema(2048)).optional(),
    metadata: metadataSchema.nullish().transform((given) => given ?? undefined),
    apply_discount: z.boolean().nullish().meta({
      description: 'Whether a draft is computed again, with the coupons that it may have',
    }),
  })
  .meta({ id: 'UpdateInvoice' });
export type UpdateInvoice = z.output<typeof updateInvoiceSchema>;

/** Body of POST /invoices/{id}/webhook/trigger. */
export const triggerWebhookSchema = z
  .object({
    event_type: z
      .enum(requestableMessages.map((tail) => `invoice.${tail}` as const))
      .nullish()
      .meta({ description: 'Default: the last turn in the life of the invoice' }),
  })
  .meta({ id: 'TriggerInvoiceWebhook' });

/** Answer of what is done with an invoice: a message, as the public contract has it, and the invoice after it. */
export const invoiceActSchema = z
  .object({ message: z.string(), invoice: invoiceSchema })
  .meta({ id: 'InvoiceAct' });
