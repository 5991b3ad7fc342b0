import {
  type CreditNoteId,
  type CreditNoteLineId,
  type Currency,
  type CustomerId,
  type DecimalText,
  type EventOf,
  type HoldId,
  type InvoiceId,
  type InvoiceLineId,
  metadataSchema,
  type WalletId,
} from '@counterfoil/kernel';
import { z } from 'zod';
import { creditNoteReasonSchema, creditNoteTypeSchema } from './values.ts';

const text = <Kind extends string>() => z.string().transform((value) => value as Kind);
const figure = text<DecimalText>();

/** The figures of a note, which are those of its invoice's own decision once it is final. */
const figuresShape = {
  credit_note_type: creditNoteTypeSchema,
  /** Of each line, in their order: its part of the tax of the invoice's line, on top of the amount or in it. */
  taxes: z.array(figure),
  /** With tax. */
  total_amount: figure,
} as const;

export const creditNoteEvents = {
  CreditNoteCreated: z.object({
    id: text<CreditNoteId>(),
    credit_note_number: z.string(),
    invoice_id: text<InvoiceId>(),
    customer_id: text<CustomerId>(),
    subscription_id: z.string().nullable(),
    currency: text<Currency>(),
    reason: creditNoteReasonSchema,
    memo: z.string().nullable(),
    metadata: metadataSchema,
    lines: z.array(
      z.object({
        id: text<CreditNoteLineId>(),
        invoice_line_item_id: text<InvoiceLineId>(),
        display_name: z.string(),
        /** Before tax and after discounts (D59). */
        amount: figure,
        metadata: metadataSchema,
      }),
    ),
    ...figuresShape,
    /** The settlement of a subscription that has brought it about; null: somebody has asked for it. */
    settlement_id: z.string().nullable(),
    idempotency_key: z.string().nullable(),
  }),
  /** It is to count for its invoice, which decides whether it can. */
  FinalizationAsked: z.object({}),
  /** The invoice has taken it. What goes back to the customer follows from it. */
  CreditNoteFinalized: z.object({
    ...figuresShape,
    /** Money that goes back, by the payment that brought it; none of an adjustment. */
    from: z.array(z.object({ payment_id: z.string(), amount: figure })),
    /** Prepaid credits that go back to their lots. */
    given_back: z.array(
      z.object({
        wallet_id: text<WalletId>(),
        hold_id: text<HoldId>(),
        credits: figure,
        amount: figure,
      }),
    ),
  }),
  /** There was not enough left of the invoice by then: it stays a draft. */
  FinalizationRefused: z.object({
    code: z.string(),
    message: z.string(),
    details: z.record(z.string(), z.unknown()).nullable(),
  }),
  CreditNoteVoided: z.object({}),
  /** The wallet into which its money goes, before anything is loaded there. */
  WalletChosen: z.object({ wallet_id: text<WalletId>() }),
} as const;

export type CreditNoteEvent = EventOf<typeof creditNoteEvents>;
export type CreditNoteEventData<Type extends CreditNoteEvent['type']> = Extract<
  CreditNoteEvent,
  { readonly type: Type }
>['data'];
