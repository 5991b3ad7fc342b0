import { z } from 'zod';

/** The values of the fields of a credit note (D1). */
export const creditNoteStatusSchema = z
  .enum(['DRAFT', 'FINALIZED', 'VOIDED'])
  .meta({ id: 'CreditNoteStatus' });
export type CreditNoteStatus = z.output<typeof creditNoteStatusSchema>;

export const creditNoteTypeSchema = z.enum(['ADJUSTMENT', 'REFUND']).meta({ id: 'CreditNoteType' });

export const creditNoteReasonSchema = z
  .enum([
    'DUPLICATE',
    'FRAUDULENT',
    'ORDER_CHANGE',
    'UNSATISFACTORY',
    'SERVICE_ISSUE',
    'BILLING_ERROR',
    'SUBSCRIPTION_CANCELLATION',
  ])
  .meta({ id: 'CreditNoteReason' });
