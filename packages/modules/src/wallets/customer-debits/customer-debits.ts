import {
  aggregate,
  type Currency,
  type CustomerId,
  type DebitId,
  type DecimalText,
  type EventOf,
  instantSchema,
  metadataSchema,
  type Stamped,
  type TransactionId,
  type WalletId,
} from '@counterfoil/kernel';
import { z } from 'zod';
import { transactionReasonSchema } from '../events.ts';

const text = <Kind extends string>() => z.string().transform((value) => value as Kind);
const figure = text<DecimalText>();

const customerDebitEvents = {
  /** A debit was asked for. It is recorded before any wallet is touched, and always comes to an end. */
  DebitRequested: z.object({
    debit_id: text<DebitId>(),
    customer_id: text<CustomerId>(),
    currency: text<Currency>(),
    /** The money to be taken. */
    amount: figure,
    /** The credits, where they were asked for; all wallets have one rate then. */
    credits: figure.nullable(),
    /** True where less is taken when less is there. */
    allow_partial: z.boolean().optional(),
    /** The instant from which it counts, where it is dated back (D73). */
    effective_at: instantSchema.optional(),
    /** The wallets that may pay, in the order in which they are drawn. */
    wallets: z.array(text<WalletId>()),
    /** The wallets that top themselves up when it is refused. */
    refilling: z.array(text<WalletId>()),
    reason: transactionReasonSchema,
    description: z.string().nullable(),
    idempotency_key: z.string().nullable(),
    metadata: metadataSchema,
  }),
  /** All of it was taken; of one that may be partial, what was there. */
  DebitCompleted: z.object({
    debit_id: text<DebitId>(),
    /** The sums of the entries. */
    amount: figure,
    credits: figure,
    /** One entry of each wallet drawn, in their order. */
    entries: z.array(
      z.object({
        wallet_id: text<WalletId>(),
        transaction_id: text<TransactionId>(),
        credits: figure,
        amount: figure,
        /** Revision of the entry in the stream of its wallet. */
        revision: z.number().int(),
      }),
    ),
  }),
  /** Nothing of it was taken: together the wallets had less. */
  DebitRefused: z.object({
    debit_id: text<DebitId>(),
    /** The credits that they had, and their worth. */
    available: z.object({ amount: figure, credits: figure }),
  }),
} as const;

export type CustomerDebitEvent = EventOf<typeof customerDebitEvents>;
export type DebitRequest = Extract<CustomerDebitEvent, { type: 'DebitRequested' }>['data'];
export type DebitCompletion = Extract<CustomerDebitEvent, { type: 'DebitCompleted' }>['data'];
export type DebitRefusal = Extract<CustomerDebitEvent, { type: 'DebitRefused' }>['data'];

/** The debits of one customer in one currency that are not at their end, and how many events there were. */
export interface CustomerDebits {
  /** The oldest first: they are carried out in this order. */
  readonly waiting: readonly WaitingDebit[];
  readonly events: number;
}

interface WaitingDebit {
  readonly debit_id: DebitId;
  /** Number of events before its own: its revision is this or higher. */
  readonly number: number;
}

function evolve(state: CustomerDebits, event: Stamped<CustomerDebitEvent>): CustomerDebits {
  const { debit_id } = event.data;
  const events = state.events + 1;
  if (event.type === 'DebitRequested') {
    const debit = { debit_id, number: state.events };
    return { waiting: [...state.waiting, debit], events };
  }
  return { waiting: state.waiting.filter((other) => other.debit_id !== debit_id), events };
}

/**
 * The debits of a customer in a currency, over all wallets of it. One stream for each pair of them, so that
 * one debit is carried out after the other.
 */
export const customerDebits = aggregate({
  name: 'customer_debits',
  scope: 'environment',
  events: customerDebitEvents,
  initial: { waiting: [], events: 0 } as CustomerDebits,
  evolve,
});

/** The id of the stream of a customer's debits in a currency. */
export const customerDebitsId = (customerId: string, currency: Currency): string =>
  `${customerId}_${currency}`;

/** Tells whether a debit has not come to its end. */
export const isWaiting = ({ waiting }: CustomerDebits, debitId: DebitId): boolean =>
  waiting.some(({ debit_id }) => debit_id === debitId);
