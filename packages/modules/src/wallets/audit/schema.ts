import { instantSchema } from '@counterfoil/kernel';
import { z } from 'zod';
import { transactionReasonSchema } from '../events.ts';

/** Query of GET /wallets/{id}/balance. */
export const balanceQuerySchema = z.object({
  as_of: instantSchema.optional().meta({ description: 'When it was true. Default: now' }),
  known_at: instantSchema.optional().meta({ description: 'What the log held then. Default: now' }),
});

const lotShape = {
  transaction_id: z.string(),
  credits: z.string(),
  class: z.enum(['free', 'purchased']),
  priority: z.number().int().optional(),
  expires_at: instantSchema.optional(),
} as const;

/** A balance at an instant, down to its lots. */
export const balanceAnswerSchema = z
  .object({
    wallet_id: z.string(),
    as_of: instantSchema,
    known_at: instantSchema,
    credit_balance: z.string(),
    credits_held: z.string(),
    balance: z.string(),
    currency: z.string(),
    lots: z.array(z.object(lotShape)),
    events: z.number().int(),
  })
  .meta({ id: 'WalletBalanceAt' });
export type BalanceAnswer = z.output<typeof balanceAnswerSchema>;

const wholeNumber = (minimum: number, maximum: number) =>
  z
    .string()
    .regex(/^\d{1,9}$/, 'must be a whole number')
    .transform(Number)
    .pipe(z.number().int().min(minimum).max(maximum));

/** Query of GET /wallets/{id}/ledger. */
export const ledgerQuerySchema = z.object({
  after_revision: wholeNumber(0, 999_999_999).optional(),
  limit: wholeNumber(1, 1_000).default(100),
});
export type LedgerQuery = z.output<typeof ledgerQuerySchema>;

/** The auditor's view: everything in the stream, in the order of the log, with its links. */
export const ledgerPageSchema = z
  .object({
    items: z.array(
      z.object({
        kind: z.enum(['event', 'refused_request', 'request_without_effect', 'kept']).meta({
          description:
            'An event of the wallet, or what its log keeps of a request that changed nothing',
        }),
        revision: z.number().int(),
        position: z.string(),
        event_id: z.string(),
        type: z.string(),
        data: z.record(z.string(), z.unknown()),
        occurred_at: instantSchema,
        effective_at: instantSchema,
        actor: z.object({ user_id: z.string().nullable(), key_id: z.string().nullable() }),
        hash: z.string(),
        previous_hash: z.string(),
        credit_balance_before: z.string().optional(),
        credit_balance_after: z.string().optional(),
      }),
    ),
    next_after_revision: z
      .number()
      .int()
      .meta({ description: 'The next after_revision; the end is an empty page' }),
  })
  .meta({ id: 'WalletLedger' });
export type LedgerPage = z.output<typeof ledgerPageSchema>;

/** The lots that an entry drew from, in order, each with the reason. */
export const explanationSchema = z
  .object({
    transaction_id: z.string(),
    revision: z.number().int(),
    occurred_at: instantSchema,
    credits: z.string(),
    rule: z.string(),
    lots: z.array(
      z.object({
        rank: z.number().int(),
        ...lotShape,
        credits_before: z.string(),
        credits_drawn: z.string(),
        expired: z.boolean(),
      }),
    ),
  })
  .meta({ id: 'WalletTransactionExplanation' });
export type Explanation = z.output<typeof explanationSchema>;

/** Query of a statement: see `walletStatement`. */
export const statementQuerySchema = z.object({
  from: instantSchema
    .optional()
    .meta({ description: 'Entries that count after it. Default: all since the wallet was made' }),
  to: instantSchema.optional().meta({ description: 'Entries that count by then. Default: now' }),
  known_at: instantSchema.optional().meta({ description: 'What the log held then. Default: now' }),
});
export type StatementQuery = z.output<typeof statementQuerySchema>;

/** The statement of a wallet: the opening balance and the changes are the closing balance, to the last digit. */
export const walletStatementSchema = z
  .object({
    wallet_id: z.string(),
    wallet_name: z.string(),
    customer_id: z.string(),
    currency: z.string(),
    from: instantSchema,
    to: instantSchema,
    known_at: instantSchema,
    opening_balance: z.string(),
    credits_in: z.string(),
    credits_out: z.string(),
    closing_balance: z.string(),
    closing_amount: z.string(),
    entries: z.array(
      z.object({
        transaction_id: z.string(),
        effective_at: instantSchema,
        completed_at: instantSchema,
        transaction_reason: transactionReasonSchema,
        change: z.string(),
        credit_balance: z.string(),
        description: z.string().optional(),
        reference_id: z.string().optional(),
      }),
    ),
  })
  .meta({ id: 'WalletStatement' });
export type WalletStatement = z.output<typeof walletStatementSchema>;
