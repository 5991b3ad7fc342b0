import { z } from 'zod';

/** The debts and payments of a customer in one currency. */
const invoiceSummarySchema = z
  .object({
    currency: z.string(),
    total_revenue_amount: z.string(),
    total_paid_amount: z.string(),
    total_unpaid_amount: z.string(),
    total_overdue_amount: z.string(),
    total_invoice_count: z.number().int(),
    paid_invoice_count: z.number().int(),
    unpaid_invoice_count: z.number().int(),
    overdue_invoice_count: z.number().int(),
  })
  .meta({ id: 'InvoiceSummary' });
export type InvoiceSummary = z.output<typeof invoiceSummarySchema>;

/** Answer of GET /customers/{id}/invoices/summary. */
export const customerInvoiceSummarySchema = z
  .object({
    customer_id: z.string(),
    default_currency: z.string().nullable(),
    summaries: z.array(invoiceSummarySchema),
  })
  .meta({ id: 'CustomerInvoiceSummary' });
export type CustomerInvoiceSummary = z.output<typeof customerInvoiceSummarySchema>;
