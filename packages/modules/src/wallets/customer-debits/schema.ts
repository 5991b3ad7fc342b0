import { currencySchema, metadataSchema, textSchema, withConditions } from '@counterfoil/kernel';
import { z } from 'zod';
import {
  allowPartialSchema,
  creditsSchema,
  debitReasons,
  effectiveAtSchema,
  idempotencyKeySchema,
  transactionSchema,
} from '../schema.ts';

/** Body of POST /customers/{id}/debit (D76). */
export const debitCustomerSchema = withConditions(
  z.object({
    currency: currencySchema,
    amount: creditsSchema.optional().meta({
      description: 'Money; each pays at its own conversion_rate',
    }),
    credits: creditsSchema.optional().meta({
      description: 'Credits, where all have one conversion_rate',
    }),
    transaction_reason: z.enum(debitReasons).default('MANUAL_BALANCE_DEBIT'),
    allow_partial: allowPartialSchema,
    effective_at: effectiveAtSchema,
    description: textSchema(1024).optional(),
    idempotency_key: idempotencyKeySchema.optional(),
    metadata: metadataSchema.default({}),
  }),
  [{ oneOf: ['amount', 'credits'], says: 'amount or credits is required, and not both' }],
).meta({ id: 'DebitCustomer' });
export type DebitCustomer = z.output<typeof debitCustomerSchema>;

/** A debit of a customer on the wire: an entry of each wallet drawn, and their sums. */
export const customerDebitSchema = z
  .object({
    id: z.string().meta({ description: '`reference_id` of its entries' }),
    customer_id: z.string(),
    currency: z.string(),
    amount: z.string().meta({ description: 'Sum over its entries' }),
    credits: z.string().meta({ description: 'Sum over its entries' }),
    requested: z.string().optional().meta({ description: 'With allow_partial: amount or credits' }),
    missing: z.string().optional().meta({ description: 'What was not there' }),
    transactions: z
      .array(transactionSchema)
      .meta({ description: 'One entry of each wallet drawn, in order' }),
  })
  .meta({ id: 'CustomerDebit' });
export type CustomerDebitResource = z.output<typeof customerDebitSchema>;
