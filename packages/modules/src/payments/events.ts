import {
  type Currency,
  type CustomerId,
  type DecimalText,
  type EventOf,
  type Instant,
  instantSchema,
  metadataSchema,
  type PaymentAttemptId,
  type PaymentId,
  type RefundId,
  type TransactionId,
  type WalletId,
} from '@counterfoil/kernel';
import { z } from 'zod';
import { paymentMethodSchema } from '../invoices/index.ts';
import { destinationTypeSchema } from './values.ts';

const text = <Kind extends string>() => z.string().transform((value) => value as Kind);
const figure = text<DecimalText>();
const instant = text<Instant>();

/** The fields that a caller may change, whatever has become of the payment. */
export const changeableShape = {
  payment_gateway: z.string().nullable(),
  gateway_payment_id: z.string().nullable(),
  gateway_tracking_id: z.string().nullable(),
  payment_method_id: z.string().nullable(),
  error_message: z.string().nullable(),
  metadata: metadataSchema,
} as const;

/** The entry of a wallet that has paid. */
const debitData = z.object({
  wallet_id: text<WalletId>(),
  transaction_id: text<TransactionId>(),
  credits: figure,
});
export type PaymentDebit = z.output<typeof debitData>;

/** The states of a payment whose money went back. */
const returnedStatus = z.enum(['REFUNDED', 'PARTIALLY_REFUNDED', 'VOIDED']);

export const paymentEvents = {
  PaymentCreated: z.object({
    id: text<PaymentId>(),
    destination_type: destinationTypeSchema,
    destination_id: z.string(),
    /** The payer; what nobody owes any more is theirs. */
    customer_id: text<CustomerId>(),
    invoice_number: z.string().nullable(),
    currency: text<Currency>(),
    amount: figure,
    payment_method_type: paymentMethodSchema,
    /** The wallet that pays, for a payment with credits. */
    wallet_id: text<WalletId>().nullable(),
    /** The round of the automatic collection that it belongs to; null: somebody has made it. */
    collection_round: z.number().int().nullable(),
    ...changeableShape,
    /** Options for the provider alone. */
    gateway_options: z.record(z.string(), z.string()),
    success_url: z.string().nullable(),
    cancel_url: z.string().nullable(),
    save_card_and_make_default: z.boolean(),
    idempotency_key: z.string().nullable(),
  }),
  PaymentChanged: z.object(changeableShape).partial(),
  /** It is on its way. */
  PaymentStarted: z.object({ payment_status: z.enum(['PENDING', 'PROCESSING']) }),
  /** A request to a provider that is about to be made: recorded before anything is sent, so that nothing is ever sent twice. */
  PaymentAttemptStarted: z.object({
    attempt_id: text<PaymentAttemptId>(),
    number: z.number().int(),
    provider: z.string(),
    /** The key by which the provider knows the attempt: under one key it takes money once. */
    provider_key: z.string(),
  }),
  /** The provider has written the attempt down: under this name alone its money is taken, and taken once. */
  PaymentAttemptPrepared: z.object({
    number: z.number().int(),
    reference: z.string(),
    /** The page on which the customer pays. */
    url: z.string().nullable(),
  }),
  /** Nothing is to come of the attempt that is under way: the provider is to see to it. */
  PaymentCancelled: z.object({ number: z.number().int(), reason: z.string() }),
  /** The provider is to be asked what has become of what is under way. `times` counts the questions about it. */
  ProviderAsked: z.object({ times: z.number().int() }),
  PaymentSucceeded: z.object({
    succeeded_at: instant,
    /** Set where credits of a wallet have paid. */
    debit: debitData.nullable(),
    gateway_payment_id: z.string().nullable(),
  }),
  PaymentFailed: z.object({
    failed_at: instant,
    error_message: z.string().nullable(),
    /** True where a caller has given it up: a provider that was asked has not said so, and may still take the money. */
    is_given_up: z.boolean().default(false),
  }),
  /**
   * Money is to count as given back to the payer. Its invoice decides whether it still has it: others may have given it to
   * the customer. `returned` is all that is to have gone back by then.
   */
  ReturnAsked: z.object({
    payment_status: returnedStatus,
    returned: figure,
    at: instant,
    /** The entry by which its wallet has taken the credits back already; null: they go back because of this. */
    reversal_id: text<TransactionId>().nullable().default(null),
  }),
  /** The invoice has nothing left of it: the customer has it as credits. */
  ReturnRefused: z.object({}),
  /** Money was given back to the payer. `returned` is all that went back by then, `amount` what did now. */
  PaymentReturned: z.object({
    payment_status: returnedStatus,
    returned: figure,
    amount: figure,
    at: instant,
    reversal_id: text<TransactionId>().nullable().default(null),
  }),
  /** Money is to go back to the payer through the provider: recorded before the invoice is asked for it. */
  RefundStarted: z.object({
    refund_id: text<RefundId>(),
    provider: z.string(),
    provider_key: z.string(),
    gateway_payment_id: z.string(),
    amount: figure,
    /** All that went back with it. */
    returned: figure,
    /** Nothing of the payment can go back any more after it. */
    is_last: z.boolean(),
    reason: z.string().nullable(),
  }),
  /** The invoice has given the money back: only now is anything sent to the provider. */
  RefundCommitted: z.object({ refund_id: text<RefundId>() }),
  RefundSucceeded: z.object({ refund_id: text<RefundId>(), gateway_refund_id: z.string() }),
  /** Nothing goes back. Money that had left the payment for it comes back as the payment that is named. */
  RefundFailed: z.object({
    refund_id: text<RefundId>(),
    error_message: z.string(),
    payment_id: text<PaymentId>().nullable(),
  }),
  /** The ends of the money: what the invoice has taken of it, and what is left for the customer (D60). */
  PaymentApplied: z.object({ to_destination: figure, to_customer: figure }),
  /** A wallet is chosen for what is left for the customer. */
  WalletChosen: z.object({ wallet_id: text<WalletId>() }),
  PaymentDeleted: z.object({ deleted_at: instantSchema }),
} as const;

export type PaymentEvent = EventOf<typeof paymentEvents>;
export type PaymentEventData<Type extends PaymentEvent['type']> = Extract<
  PaymentEvent,
  { readonly type: Type }
>['data'];
