import { instantSchema, metadataSchema, textSchema } from '@counterfoil/kernel';
import { z } from 'zod';
import {
  allowPartialSchema,
  creditsSchema,
  debitReasons,
  effectiveAtSchema,
  idempotencyKeySchema,
  loadReasons,
  prioritySchema,
  transactionSchema,
  walletSchema,
} from '../schema.ts';

/** The most entries of one bulk. */
const bulkMaximum = 1_000;

/** Room for as many entries with a description of 1,024 characters in any script. */
export const bulkBytesMaximum = 4 * 1024 * 1024;

const bulkEntryShape = {
  credits: creditsSchema,
  effective_at: effectiveAtSchema,
  description: textSchema(1024).optional(),
  metadata: metadataSchema.default({}),
} as const;

/** Body of POST /wallets/{id}/transactions/bulk. */
export const bulkSchema = z
  .object({
    atomic: z.boolean().default(true),
    idempotency_key: idempotencyKeySchema.optional(),
    entries: z
      .array(
        z.discriminatedUnion('type', [
          z.object({
            type: z.literal('credit'),
            ...bulkEntryShape,
            transaction_reason: z.enum(loadReasons).default('FREE_CREDIT_GRANT'),
            expiry_date_utc: instantSchema.optional(),
            priority: prioritySchema.optional(),
          }),
          z.object({
            type: z.literal('debit'),
            ...bulkEntryShape,
            transaction_reason: z.enum(debitReasons).default('MANUAL_BALANCE_DEBIT'),
            allow_partial: allowPartialSchema,
          }),
        ]),
      )
      .min(1)
      .max(bulkMaximum),
  })
  .meta({ id: 'BulkTransactions' });
export type Bulk = z.output<typeof bulkSchema>;

const bulkResultSchema = z.object({
  index: z.number().int(),
  status: z.enum(['completed', 'failed']),
  wallet_transaction: transactionSchema.optional(),
  error: z
    .object({
      code: z.string(),
      message: z.string(),
      details: z.record(z.string(), z.unknown()).optional(),
    })
    .optional(),
});
export type BulkResult = z.output<typeof bulkResultSchema>;

/** Answer of a bulk: a result per entry, in the order of the entries. */
export const bulkAnswerSchema = z
  .object({ wallet: walletSchema, results: z.array(bulkResultSchema) })
  .meta({ id: 'BulkResults' });
