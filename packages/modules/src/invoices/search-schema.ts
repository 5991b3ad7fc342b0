import {
  anyOf,
  anyOfTexts,
  flagParameter,
  listParameter,
  listShape,
  searchShape,
} from '@counterfoil/engine/define';
import { decimalPlaces, decimalSchema, instantSchema } from '@counterfoil/kernel';
import { z } from 'zod';
import {
  billingReasonSchema,
  invoiceStatusSchema,
  invoiceTypeSchema,
  paymentStatusSchema,
} from './values.ts';

const idSchema = z.string().max(64).optional();
const amountSchema = decimalSchema(decimalPlaces.credits).optional();

const filterShape = {
  customer_id: idSchema.meta({ description: 'Id of the customer who is billed' }),
  external_customer_id: z.string().max(255).optional(),
  subscription_id: idSchema,
  subscription_customer_id: idSchema,
  invoice_type: invoiceTypeSchema.optional(),
  billing_reason: billingReasonSchema.optional(),
  currency: z
    .string()
    .max(16)
    .transform((code) => code.toLowerCase())
    .optional(),
  amount_due_gt: amountSchema,
  amount_remaining_gt: amountSchema,
  period_start_gte: instantSchema.optional(),
  period_start_lte: instantSchema.optional(),
  period_end_gte: instantSchema.optional(),
  period_end_lte: instantSchema.optional(),
  skip_line_items: flagParameter
    .optional()
    .meta({ description: 'Whether lines are left out of the answer' }),
} as const;

/** Query of GET /invoices. */
export const invoiceListSchema = z.object({
  ...listShape,
  ...filterShape,
  invoice_ids: listParameter(z.string().max(64)).optional(),
  invoice_status: listParameter(invoiceStatusSchema).optional(),
  payment_status: listParameter(paymentStatusSchema).optional(),
});

/** Body of POST /invoices/search (specification §10.2). */
export const invoiceSearchSchema = z.object({
  ...searchShape,
  ...filterShape,
  invoice_ids: anyOfTexts(64),
  invoice_status: anyOf(invoiceStatusSchema),
  payment_status: anyOf(paymentStatusSchema),
});
