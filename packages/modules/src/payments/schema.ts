import { listParameter, listShape } from '@counterfoil/engine/define';
import {
  currencySchema,
  decimalPlaces,
  instantSchema,
  metadataSchema,
  positiveDecimalSchema,
  recordStampsShape,
  recordStatusSchema,
  requiredTextSchema,
  textSchema,
} from '@counterfoil/kernel';
import { z } from 'zod';
import { invoiceSchema, paymentMethodSchema, paymentStatusSchema } from '../invoices/index.ts';
import { destinationTypeSchema } from './values.ts';

const textOrNull = z.string().nullable();
const instantOrNull = instantSchema.nullable();
const nameSchema = requiredTextSchema(255);
const urlSchema = z.url().max(2048);
const amountSchema = positiveDecimalSchema(decimalPlaces.credits);

/** Body of POST /payments (E 16). */
export const createPaymentSchema = z
  .object({
    destination_type: destinationTypeSchema,
    destination_id: requiredTextSchema(64).meta({
      description: 'An invoice, or a customer who pays into the account',
    }),
    payment_method_type: paymentMethodSchema,
    amount: amountSchema,
    currency: currencySchema,
    payment_method_id: nameSchema.optional().meta({
      description: 'The wallet that pays, with CREDITS; else the saved method of the provider',
    }),
    payment_gateway: nameSchema.optional(),
    gateway_options: metadataSchema.default({}),
    success_url: urlSchema.optional(),
    cancel_url: urlSchema.optional(),
    save_card_and_make_default: z.boolean().default(false),
    process_payment: z
      .boolean()
      .default(true)
      .meta({ description: 'False: it is only written down, and waits' }),
    idempotency_key: nameSchema.optional(),
    metadata: metadataSchema.default({}),
  })
  .meta({ id: 'CreatePayment' });
export type CreatePaymentBody = z.output<typeof createPaymentSchema>;

/** Body of PUT /payments/{id}. */
export const updatePaymentSchema = z
  .object({
    payment_status: paymentStatusSchema.optional(),
    refunded_amount: amountSchema.optional().meta({
      description: 'All that went back by then; only with PARTIALLY_REFUNDED',
    }),
    error_message: textSchema(1024).nullish(),
    payment_gateway: nameSchema.nullish(),
    gateway_payment_id: nameSchema.nullish(),
    gateway_tracking_id: nameSchema.nullish(),
    payment_method_id: nameSchema.nullish(),
    succeeded_at: instantSchema.optional(),
    failed_at: instantSchema.optional(),
    refunded_at: instantSchema.optional(),
    voided_at: instantSchema.optional(),
    metadata: metadataSchema.optional(),
  })
  .meta({ id: 'UpdatePayment' });
export type UpdatePaymentBody = z.output<typeof updatePaymentSchema>;

/** Body of POST /payments/{id}/process. */
export const processPaymentSchema = z
  .object({ idempotency_key: nameSchema.optional() })
  .meta({ id: 'ProcessPayment' });

/** Body of POST /payments/{id}/cancel. */
export const cancelPaymentSchema = z
  .object({
    reason: textSchema(255).default('It was cancelled.'),
    idempotency_key: nameSchema.optional(),
  })
  .meta({ id: 'CancelPayment' });

/** Body of POST /payments/{id}/refund. */
export const refundPaymentSchema = z
  .object({
    amount: amountSchema.optional().meta({ description: 'All that can go back unless given' }),
    reason: textSchema(255).optional(),
    idempotency_key: nameSchema.optional(),
  })
  .meta({ id: 'RefundPayment' });

/** Body of PUT /invoices/{id}/payment. */
export const recordPaymentSchema = z
  .object({
    payment_status: paymentStatusSchema,
    amount: amountSchema.optional().meta({
      description: 'With SUCCEEDED: the money that has come; all that remains unless given',
    }),
    idempotency_key: nameSchema.optional(),
  })
  .meta({ id: 'RecordInvoicePayment' });
export type RecordPaymentBody = z.output<typeof recordPaymentSchema>;

/** Body of POST /invoices/{id}/payment/attempt. */
export const attemptPaymentSchema = z
  .object({ idempotency_key: nameSchema.optional() })
  .meta({ id: 'AttemptInvoicePayment' });

const attemptSchema = z
  .object({
    id: z.string(),
    payment_id: z.string(),
    attempt_number: z.number().int(),
    payment_status: z.enum(['PROCESSING', 'SUCCEEDED', 'FAILED']),
    payment_gateway: z.string(),
    gateway_attempt_id: textOrNull.meta({ description: 'The name of the attempt at the provider' }),
    error_message: textOrNull,
    created_at: instantSchema,
  })
  .meta({ id: 'PaymentAttempt' });

const refundSchema = z
  .object({
    id: z.string(),
    payment_id: z.string(),
    amount: z.string(),
    refund_status: z.enum(['REQUESTED', 'PROCESSING', 'SUCCEEDED', 'FAILED']),
    payment_gateway: z.string(),
    gateway_refund_id: textOrNull.meta({ description: 'Id that the provider knows the refund by' }),
    reason: textOrNull,
    error_message: textOrNull,
    created_at: instantSchema,
  })
  .meta({ id: 'PaymentRefund' });

/** The payment on the wire (E 22.3; what has no value yet is null: D58). */
export const paymentSchema = z
  .object({
    ...recordStampsShape,
    status: recordStatusSchema,
    destination_type: destinationTypeSchema,
    destination_id: z.string(),
    customer_id: z.string(),
    invoice_number: textOrNull,
    payment_method_type: paymentMethodSchema,
    payment_method_id: textOrNull,
    payment_gateway: textOrNull,
    gateway_payment_id: textOrNull,
    gateway_tracking_id: textOrNull,
    amount: z.string(),
    currency: z.string(),
    payment_status: paymentStatusSchema,
    refunded_amount: z.string().meta({ description: 'What went back to the payer' }),
    excess_amount: z.string().meta({
      description: 'What the invoice did not need, or was void for: credits of the customer',
    }),
    wallet_transaction_id: textOrNull.meta({ description: 'The debit that paid, with CREDITS' }),
    payment_url: textOrNull.meta({
      description: 'The page on which the customer pays, while it can be paid',
    }),
    refunds: z.array(refundSchema).meta({ description: 'What goes back through the provider' }),
    attempts: z.array(attemptSchema),
    error_message: textOrNull,
    succeeded_at: instantOrNull,
    failed_at: instantOrNull,
    refunded_at: instantOrNull,
    voided_at: instantOrNull,
    idempotency_key: textOrNull,
    metadata: metadataSchema,
    invoice: invoiceSchema.optional(),
  })
  .meta({ id: 'Payment' });
export type PaymentResource = z.output<typeof paymentSchema>;

/** Query of GET /payments. */
export const paymentsQuerySchema = z.object({
  ...listShape,
  payment_ids: listParameter(z.string()).optional(),
  destination_type: destinationTypeSchema.optional(),
  destination_id: z.string().max(64).optional(),
  payment_method_type: paymentMethodSchema.optional(),
  payment_status: paymentStatusSchema.optional(),
  payment_gateway: nameSchema.optional(),
  gateway_payment_id: nameSchema.optional(),
  gateway_tracking_id: nameSchema.optional(),
  currency: currencySchema.optional(),
});
export type PaymentsQuery = z.output<typeof paymentsQuerySchema>;

/** A payment method that a provider has saved for a customer. */
export const savedMethodSchema = z
  .object({
    id: z.string(),
    payment_method_type: paymentMethodSchema,
    is_default: z.boolean(),
    brand: textOrNull,
    last4: textOrNull,
    expires: textOrNull.meta({ description: 'Month, as YYYY-MM' }),
  })
  .meta({ id: 'SavedPaymentMethod' });

/** Body of POST /payments/customers/{id}/setup/intent. */
export const setUpMethodSchema = z
  .object({
    success_url: urlSchema.meta({ description: 'Where the customer goes after saving' }),
    cancel_url: urlSchema.optional(),
    payment_method_types: z
      .array(z.enum(['CARD', 'ACH']))
      .min(1)
      .max(2)
      .default(['CARD'])
      .meta({ description: 'Kinds of methods that the page offers' }),
    set_default: z.boolean().default(true).meta({
      description: 'Whether what is saved becomes the usual method',
    }),
    idempotency_key: nameSchema.optional(),
  })
  .meta({ id: 'SetUpPaymentMethod' });

/** The page on which a customer saves a payment method. */
export const methodSetupSchema = z
  .object({
    customer_id: z.string(),
    provider: z.string().meta({ description: 'Name of the payment provider' }),
    checkout_session_id: z.string().meta({ description: 'Id of the page at the provider' }),
    checkout_url: z.string().meta({ description: 'Address of the page, for the customer' }),
  })
  .meta({ id: 'PaymentMethodSetup' });

export const savedMethodsSchema = z
  .object({ items: z.array(savedMethodSchema) })
  .meta({ id: 'SavedPaymentMethods' });
