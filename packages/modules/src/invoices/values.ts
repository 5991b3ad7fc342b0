import { z } from 'zod';

/** The values of the fields of an invoice (D1; E 15.1). */
export const invoiceTypeSchema = z
  .enum(['SUBSCRIPTION', 'ONE_OFF', 'CREDIT'])
  .meta({ id: 'InvoiceType' });
export type InvoiceType = z.output<typeof invoiceTypeSchema>;

export const invoiceStatusSchema = z
  .enum(['DRAFT', 'FINALIZED', 'VOIDED', 'SKIPPED'])
  .meta({ id: 'InvoiceStatus' });
export type InvoiceStatus = z.output<typeof invoiceStatusSchema>;

export const paymentStatusSchema = z
  .enum([
    'INITIATED',
    'PENDING',
    'PROCESSING',
    'SUCCEEDED',
    'OVERPAID',
    'FAILED',
    'REFUNDED',
    'PARTIALLY_REFUNDED',
    'VOIDED',
  ])
  .meta({ id: 'PaymentStatus' });
export type PaymentStatus = z.output<typeof paymentStatusSchema>;

export const billingReasonSchema = z
  .enum([
    'SUBSCRIPTION_CREATE',
    'SUBSCRIPTION_CYCLE',
    'SUBSCRIPTION_UPDATE',
    'SUBSCRIPTION_TRIAL_START',
    'SUBSCRIPTION_TRIAL_END',
    'PRORATION',
    'MANUAL',
    'AUTO_INVOICE_THRESHOLD',
    'WALLET_AUTO_TOPUP',
  ])
  .meta({ id: 'BillingReason' });
export type BillingReason = z.output<typeof billingReasonSchema>;

/** The methods by which money comes (E 16). */
export const paymentMethodSchema = z
  .enum(['CARD', 'ACH', 'OFFLINE', 'CREDITS', 'PAYMENT_LINK', 'UPI'])
  .meta({ id: 'PaymentMethodType' });
export type PaymentMethod = z.output<typeof paymentMethodSchema>;

/**
 * The kinds of lines. A line is known by its subscription line, its kind and the start of its period, so that computing an
 * invoice again gives the same lines (E 15.6 B).
 */
export const lineKindSchema = z.enum([
  'fixed',
  'usage',
  /** Usage above a commitment of the whole subscription. */
  'overage',
  /** The rest of a commitment that was not used. */
  'true_up',
  /** The part of a charge that is given back, where its own invoice is not final yet: a negative amount. */
  'credit',
  /** Usage of a period whose invoice is final already; negative where corrections have lowered it (D61). */
  'late_usage',
  /** A line that a caller has given. */
  'given',
]);
export type LineKind = z.output<typeof lineKindSchema>;
