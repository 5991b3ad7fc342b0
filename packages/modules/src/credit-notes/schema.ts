import { listParameter, listShape } from '@counterfoil/engine/define';
import {
  decimalPlaces,
  instantSchema,
  metadataSchema,
  positiveDecimalSchema,
  recordStampsShape,
  recordStatusSchema,
  referenceSchema,
  requiredTextSchema,
  textSchema,
} from '@counterfoil/kernel';
import { z } from 'zod';
import { customerSchema } from '../customers/index.ts';
import { invoiceSchema, paymentStatusSchema } from '../invoices/index.ts';
import { subscriptionSchema } from '../subscriptions/index.ts';
import { creditNoteReasonSchema, creditNoteStatusSchema, creditNoteTypeSchema } from './values.ts';

const textOrNull = z.string().nullable();
const instantOrNull = instantSchema.nullable();
const linesMaximum = 500;

/** Body of POST /creditnotes (specification §4.17; D34, D59). */
export const createCreditNoteSchema = z
  .object({
    invoice_id: referenceSchema('inv'),
    reason: creditNoteReasonSchema.default('BILLING_ERROR'),
    line_items: z
      .array(
        z
          .object({
            invoice_line_item_id: referenceSchema('inv_line'),
            amount: positiveDecimalSchema(decimalPlaces.credits).meta({
              description: 'Before tax and after discounts; the tax goes with it',
            }),
            display_name: requiredTextSchema(255).optional(),
            metadata: metadataSchema.default({}),
          })
          .meta({ id: 'CreateCreditNoteLineItem' }),
      )
      .min(1)
      .max(linesMaximum),
    credit_note_number: requiredTextSchema(50).optional(),
    memo: textSchema(1024).optional(),
    process_credit_note: z
      .boolean()
      .default(true)
      .meta({ description: 'False: it stays a draft until it is made final' }),
    idempotency_key: requiredTextSchema(255).optional(),
    metadata: metadataSchema.default({}),
  })
  .meta({ id: 'CreateCreditNote' });
export type CreateCreditNote = z.output<typeof createCreditNoteSchema>;

/** Body of the routes that need nothing but, if they are to be repeatable, a key. */
export const actOnCreditNoteSchema = z
  .object({ idempotency_key: requiredTextSchema(255).optional() })
  .meta({ id: 'ActOnCreditNote' });

const lineSchema = z
  .object({
    ...recordStampsShape,
    status: recordStatusSchema,
    credit_note_id: z.string(),
    invoice_line_item_id: z.string(),
    display_name: z.string(),
    amount: z.string().meta({ description: 'Before tax and after discounts' }),
    tax_amount: z.string(),
    currency: z.string(),
    metadata: metadataSchema,
  })
  .meta({ id: 'CreditNoteLineItem' });

/** The credit note on the wire (specification §2.21; hidden fields: D1; what has no value yet is null: D58). */
export const creditNoteSchema = z
  .object({
    ...recordStampsShape,
    status: recordStatusSchema,
    credit_note_number: z.string(),
    credit_note_status: creditNoteStatusSchema,
    credit_note_type: creditNoteTypeSchema,
    reason: creditNoteReasonSchema,
    memo: textOrNull,
    invoice_id: z.string(),
    customer_id: z.string(),
    subscription_id: textOrNull,
    currency: z.string(),
    total_amount: z.string().meta({ description: 'With tax' }),
    total_tax: z.string(),
    refund_status: paymentStatusSchema.nullable(),
    finalized_at: instantOrNull,
    voided_at: instantOrNull,
    line_items: z.array(lineSchema),
    idempotency_key: textOrNull,
    metadata: metadataSchema,
    invoice: invoiceSchema.optional(),
    customer: customerSchema.optional(),
    subscription: subscriptionSchema.optional(),
  })
  .meta({ id: 'CreditNote' });
export type CreditNoteResource = z.output<typeof creditNoteSchema>;

/** Query of GET /creditnotes. */
export const creditNotesQuerySchema = z.object({
  ...listShape,
  credit_note_ids: listParameter(z.string()).optional(),
  invoice_id: z.string().max(64).optional(),
  customer_id: z.string().max(64).optional(),
  subscription_id: z.string().max(64).optional(),
  credit_note_number: requiredTextSchema(50).optional(),
  credit_note_status: listParameter(creditNoteStatusSchema).optional(),
  credit_note_type: creditNoteTypeSchema.optional(),
});
export type CreditNotesQuery = z.output<typeof creditNotesQuerySchema>;
