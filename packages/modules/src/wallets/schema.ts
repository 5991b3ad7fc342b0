import {
  anyOfTexts,
  flagParameter,
  listParameter,
  listShape,
  pageShape,
  searchShape,
  unused,
} from '@counterfoil/engine/define';
import {
  clearable,
  currencySchema,
  decimalPlaces,
  decimalSchema,
  instantSchema,
  metadataSchema,
  nonNegativeDecimalSchema,
  positiveDecimalSchema,
  recordStampsShape,
  recordStatusSchema,
  referenceSchema,
  requiredTextSchema,
  textSchema,
  withConditions,
} from '@counterfoil/kernel';
import { z } from 'zod';
import { alertSettingsOutput } from '../alert-settings.ts';
import { customerSchema } from '../customers/index.ts';
import { userSchema } from '../tenancy/index.ts';
import { referenceTypeSchema, transactionReasonSchema, walletTypeSchema } from './events.ts';
import { alertSettingsInput, autoTopupInput, walletConfigSchema } from './settings.ts';

export const creditsSchema = positiveDecimalSchema(decimalPlaces.credits);
const rateSchema = positiveDecimalSchema(decimalPlaces.rate);
export const idempotencyKeySchema = requiredTextSchema(255);
/** Priorities of lots: any integer that every client can hold exactly. */
export const prioritySchema = z.number().int().min(-2_147_483_648).max(2_147_483_647);

/** The place of a wallet among those of its customer (D21). */
const walletPrioritySchema = prioritySchema.meta({
  description: 'Place among the wallets that a debit draws: smaller first, none last',
});

/** Body of POST /wallets (specification §4.6). */
export const createWalletSchema = withConditions(
  z.object({
    currency: currencySchema,
    customer_id: referenceSchema('cust').optional(),
    external_customer_id: requiredTextSchema(255).optional(),
    description: clearable(textSchema(1024)).optional(),
    metadata: metadataSchema.default({}),
    config: walletConfigSchema.nullish(),
    alert_settings: alertSettingsInput.nullish(),
    auto_topup: autoTopupInput.nullish(),
    conversion_rate: rateSchema.optional(),
    topup_conversion_rate: rateSchema.optional(),
    price_unit: textSchema(64).optional(),
    initial_credits_to_load: nonNegativeDecimalSchema(decimalPlaces.credits).optional(),
    initial_credits_expiry_date_utc: instantSchema.optional(),
    initial_credits_to_load_expiry_date: z.number().int().optional(),
    wallet_type: walletTypeSchema.default('PRE_PAID'),
    allow_multiple: z
      .boolean()
      .default(false)
      .meta({ description: 'Whether it may stand beside others of its currency and type' }),
    priority: walletPrioritySchema.optional(),
  }),
  [
    {
      someOf: ['customer_id', 'external_customer_id'],
      says: 'customer_id or external_customer_id is required',
    },
  ],
).meta({ id: 'CreateWallet' });
export type CreateWallet = z.output<typeof createWalletSchema>;

/** Body of PUT /wallets/{id}: absent fields stay as they are. */
export const updateWalletSchema = z
  .object({
    name: requiredTextSchema(255).optional(),
    description: clearable(textSchema(1024)).optional(),
    metadata: metadataSchema.optional(),
    config: walletConfigSchema.optional(),
    alert_settings: alertSettingsInput.nullable().optional(),
    auto_topup: autoTopupInput.nullable().optional(),
    priority: walletPrioritySchema.nullable().optional(),
  })
  .meta({ id: 'UpdateWallet' });

/** Reasons of credits that can be spent at once. */
export const loadReasons = [
  'FREE_CREDIT_GRANT',
  'PURCHASED_CREDIT_DIRECT',
  'SUBSCRIPTION_CREDIT_GRANT',
  'CREDIT_NOTE',
  'CREDIT_ADJUSTMENT',
  'INVOICE_VOID_REFUND',
] as const;

/** The reason of credits that can be spent once they are paid for. */
export const invoicedReason = 'PURCHASED_CREDIT_INVOICED';

/** The instant from which an entry counts, where that is not now (D73). */
export const effectiveAtSchema = instantSchema
  .optional()
  .meta({ description: 'When it counts, in the last 90 days; default: now' });

/** Body of POST /wallets/{id}/top-up. */
export const topUpSchema = withConditions(
  z.object({
    transaction_reason: z.enum([...loadReasons, invoicedReason]),
    credits_to_add: creditsSchema.optional(),
    amount: positiveDecimalSchema(decimalPlaces.credits).optional(),
    expiry_date_utc: instantSchema.optional(),
    bonus_credits_to_add: creditsSchema.optional(),
    bonus_credits_expiry_date_utc: instantSchema.optional(),
    priority: prioritySchema.optional(),
    effective_at: effectiveAtSchema,
    description: textSchema(1024).optional(),
    idempotency_key: idempotencyKeySchema.optional(),
    metadata: metadataSchema.default({}),
    checkout: unused,
    coupons: unused,
    effective_date: unused,
    force_sync_invoice: unused,
  }),
  [{ someOf: ['credits_to_add', 'amount'], says: 'credits_to_add or amount is required' }],
).meta({ id: 'TopUpWallet' });
export type TopUp = z.output<typeof topUpSchema>;

/** Body of the operations that need nothing but, if they are to be repeatable, a key (D30). */
export const onlyKeySchema = z
  .object({ idempotency_key: idempotencyKeySchema.optional() })
  .meta({ id: 'OnlyIdempotencyKey' });

/** Reasons that a manual debit may give. */
export const debitReasons = ['MANUAL_BALANCE_DEBIT', 'CREDIT_ADJUSTMENT'] as const;

/** The word that a debit above what is there takes what is there (D26). */
export const allowPartialSchema = z
  .boolean()
  .default(false)
  .meta({ description: 'Take what is there where that is less' });

/** Body of POST /wallets/{id}/debit. */
export const debitSchema = z
  .object({
    credits: creditsSchema,
    transaction_reason: z.enum(debitReasons).default('MANUAL_BALANCE_DEBIT'),
    allow_partial: allowPartialSchema,
    effective_at: effectiveAtSchema,
    description: textSchema(1024).optional(),
    idempotency_key: idempotencyKeySchema.optional(),
    metadata: metadataSchema.default({}),
  })
  .meta({ id: 'DebitWallet' });
export type DebitBody = z.output<typeof debitSchema>;

/** Body of POST /wallets/{id}/transactions/{transaction_id}/reverse (D74). */
export const reverseSchema = z
  .object({
    credits: creditsSchema.optional(),
    expiry_date_utc: instantSchema.optional(),
    description: textSchema(1024).optional(),
    idempotency_key: idempotencyKeySchema.optional(),
    metadata: metadataSchema.default({}),
  })
  .meta({ id: 'ReverseTransaction' });

const walletStatusSchema = z.enum(['active', 'frozen', 'closed']);

const autoTopupOutput = z
  .object({
    enabled: z.boolean(),
    amount: z.number(),
    threshold: z.number(),
    invoicing: z.boolean(),
    daily_limit: z.number().int(),
  })
  .meta({ id: 'AutoTopup' });

const autoTopupStatusSchema = z
  .object({
    day: z.string().meta({ description: 'UTC day of the last automatic top-up' }),
    topups: z.number().int().meta({ description: 'Automatic top-ups on that day' }),
    stopped_on: z
      .string()
      .optional()
      .meta({ description: 'UTC day on which daily_limit stopped them' }),
    pending_transaction_id: z.string().optional(),
  })
  .meta({ id: 'AutoTopupStatus' });

/** The wallet on the wire (specification §2.13). */
export const walletSchema = z
  .object({
    ...recordStampsShape,
    status: recordStatusSchema,
    name: z.string(),
    description: z.string().optional(),
    customer_id: z.string(),
    currency: z.string(),
    conversion_rate: z.string(),
    topup_conversion_rate: z.string(),
    balance: z.string(),
    credit_balance: z.string(),
    credits_available_breakdown: z.object({ free: z.string(), purchased: z.string() }),
    credits_held: z.string().meta({ description: 'Set aside by open holds; part of the balance' }),
    config: walletConfigSchema,
    auto_topup: autoTopupOutput.optional(),
    auto_topup_status: autoTopupStatusSchema.optional(),
    alert_settings: alertSettingsOutput.optional(),
    alert_state: z.enum(['ok', 'info', 'warning', 'in_alarm']),
    wallet_status: walletStatusSchema,
    wallet_type: walletTypeSchema,
    allow_multiple: z
      .boolean()
      .optional()
      .meta({ description: 'Whether it may stand beside others of its currency and type' }),
    priority: walletPrioritySchema.optional(),
    metadata: metadataSchema,
  })
  .meta({ id: 'Wallet' });
export type WalletResource = z.output<typeof walletSchema>;

/** One entry of the ledger on the wire (specification §2.14; D27). */
export const transactionSchema = z
  .object({
    ...recordStampsShape,
    status: recordStatusSchema,
    effective_at: instantSchema.meta({
      description: 'When it counts in balances; `start_time` and `end_time` compare this',
    }),
    recorded_at: instantSchema.meta({ description: 'When it was written down' }),
    completed_at: instantSchema
      .optional()
      .meta({ description: 'When it became final: at once, or when it was paid for' }),
    wallet_id: z.string(),
    customer_id: z.string(),
    type: z.enum(['credit', 'debit']),
    transaction_status: z.enum(['pending', 'completed', 'failed']),
    transaction_reason: transactionReasonSchema,
    amount: z.string(),
    credit_amount: z.string(),
    sequence: z
      .number()
      .int()
      .optional()
      .meta({ description: 'Place of the entry in the chain of balances, from 1 on' }),
    credit_balance_before: z.string(),
    credit_balance_after: z.string(),
    credits_available: z.string(),
    currency: z.string(),
    conversion_rate: z.string(),
    topup_conversion_rate: z.string(),
    description: z.string().optional(),
    expiry_date: instantSchema.optional(),
    priority: z.number().int().optional(),
    idempotency_key: z.string().optional(),
    reference_type: referenceTypeSchema.optional(),
    reference_id: z.string().optional(),
    metadata: metadataSchema,
    drawn_from: z
      .array(z.object({ transaction_id: z.string(), credits: z.string() }))
      .optional()
      .meta({ description: 'Debits only: the loads drawn, in order' }),
    credits_requested: z
      .string()
      .optional()
      .meta({ description: 'Debits with `allow_partial` only: what was asked for' }),
    credits_missing: z.string().optional().meta({
      description: 'Debits with `allow_partial` only: what was not there',
    }),
    credits_reversed: z
      .string()
      .optional()
      .meta({ description: 'Debits only: what came back by reversals' }),
    reverses: z.string().optional().meta({ description: 'The debit that this entry reverses' }),
    returned_to: z
      .array(z.object({ transaction_id: z.string(), credits: z.string() }))
      .optional()
      .meta({ description: 'Reversals only: the loads that got credits back' }),
  })
  .meta({ id: 'WalletTransaction' });
export type TransactionResource = z.output<typeof transactionSchema>;

/** An entry in a page, with the records that `expand` asks for. */
export const expandedTransactionSchema = transactionSchema
  .extend({
    wallet: walletSchema.optional(),
    customer: customerSchema.optional(),
    created_by_user: userSchema.optional(),
  })
  .meta({ id: 'ExpandedWalletTransaction' });
export type ExpandedTransaction = z.output<typeof expandedTransactionSchema>;

/** Answer of the operations that move credits. */
export const movementSchema = z
  .object({
    wallet: walletSchema,
    wallet_transaction: transactionSchema,
    invoice_id: z.string().optional().meta({
      description: 'Of credits that are paid for later, where they cost something that can be paid',
    }),
  })
  .meta({ id: 'WalletMovement' });

const { limit, offset } = pageShape;
const integerParameter = z
  .string()
  .regex(/^-?\d{1,10}$/, 'must be an integer')
  .transform(Number)
  .pipe(prioritySchema);

/** The filters that a list and a search of entries share, except those written differently there. */
const transactionFilterShape = {
  id: z.string().max(64).optional(),
  type: z.enum(['credit', 'debit']).optional(),
  transaction_status: z.enum(['pending', 'completed', 'failed']).optional(),
  reference_type: referenceTypeSchema.optional(),
  reference_id: textSchema(255).optional(),
  expiry_date_before: instantSchema.optional(),
  expiry_date_after: instantSchema.optional(),
  credits_available_gt: decimalSchema(decimalPlaces.credits).optional(),
  created_by: textSchema(64).optional(),
} as const;

/** The period of a list of entries: by when they count, both ends included (D41, D71). */
const entryTimes = {
  start_time: instantSchema.optional().meta({ description: 'Entries that count from then on' }),
  end_time: instantSchema.optional().meta({ description: 'Entries that count by then' }),
} as const;

/** Query of GET /wallets/{id}/transactions (specification §4.5). */
export const transactionsQuerySchema = z.object({
  limit,
  offset,
  order: listShape.order,
  sort: listShape.sort,
  status: recordStatusSchema.optional(),
  ...entryTimes,
  ...transactionFilterShape,
  transaction_reason: listParameter(transactionReasonSchema).optional(),
  priority: integerParameter.optional(),
});
export type TransactionsQuery = z.output<typeof transactionsQuerySchema>;

/** The filters of wallets, the same in a list and in a search. */
const walletFilterShape = {
  status: z
    .enum([...recordStatusSchema.options, ...walletStatusSchema.options])
    .optional()
    .meta({ description: 'Of the record, or of the wallet as in `wallet_status`' }),
  customer_id: referenceSchema('cust').optional(),
  external_customer_id: textSchema(255).optional(),
  currency: currencySchema.optional(),
  wallet_status: walletStatusSchema.optional(),
  wallet_type: walletTypeSchema.optional(),
  alert_enabled: flagParameter.optional(),
} as const;

/** Query of GET /wallets. */
export const listWalletsSchema = z.object({ ...listShape, ...walletFilterShape });

/** Body of POST /wallets/search. */
export const searchWalletsSchema = z
  .object({
    ...searchShape,
    ...walletFilterShape,
    wallet_ids: anyOfTexts(64),
  })
  .meta({ id: 'WalletSearch' });
export type WalletSearch = Partial<z.output<typeof searchWalletsSchema>>;

/** Body of POST /wallets/transactions/search. */
export const searchTransactionsSchema = z
  .object({
    ...searchShape,
    ...entryTimes,
    ...transactionFilterShape,
    wallet_id: z.string().max(64).optional(),
    customer_id: z.string().max(64).optional(),
    transaction_reason: transactionReasonSchema.optional(),
    priority: prioritySchema.optional(),
  })
  .meta({ id: 'WalletTransactionSearch' });
export type TransactionsSearch = z.output<typeof searchTransactionsSchema>;
