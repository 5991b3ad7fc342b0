import {
  type AppliedTaxId,
  type CouponApplicationId,
  type Currency,
  type CustomerId,
  type DecimalText,
  type EventOf,
  type HoldId,
  type Instant,
  type InvoiceId,
  type InvoiceLineId,
  instantSchema,
  metadataSchema,
  type WalletId,
} from '@counterfoil/kernel';
import { z } from 'zod';
import { discountData } from '../coupons/index.ts';
import { rulesVersionSchema } from '../rating/index.ts';
import { taxBehaviorSchema, taxExemptionSchema, taxFailureSchema } from '../taxes/index.ts';
import {
  billingReasonSchema,
  invoiceTypeSchema,
  lineKindSchema,
  paymentMethodSchema,
} from './values.ts';

const text = <Kind extends string>() => z.string().transform((value) => value as Kind);
/** A figure that was decided is never checked against limits again. */
const figure = text<DecimalText>();
const instant = text<Instant>();
const currency = text<Currency>();

/** The cause of an invoice: its id, and those of its lines, follow from it. */
const causeData = z.discriminatedUnion('kind', [
  /**
   * Settlements of a subscription: the period that has closed and the one that opened at the same instant, or one act.
   * They are read from the subscription's stream when the invoice is computed.
   */
  z.object({
    kind: z.literal('settlements'),
    subscription_id: z.string(),
    /** The first of them. */
    settlement_id: z.string(),
    at: instant,
    /** True where those of the end and the beginning of periods at that instant belong to it too. */
    of_period: z.boolean().default(false),
  }),
  /** The wish of a caller: it stands in `given`. */
  z.object({ kind: z.literal('request') }),
  /** Credits that a customer buys: the order in the wallet is completed when this is paid. */
  z.object({
    kind: z.literal('purchase'),
    wallet_id: text<WalletId>(),
    transaction_id: z.string(),
  }),
  /** Usage of the running period that has come to the threshold of its subscription. */
  z.object({
    kind: z.literal('threshold'),
    subscription_id: z.string(),
    period_index: z.number().int(),
    until: instant,
  }),
]);
export type InvoiceCause = z.output<typeof causeData>;

const commitmentData = z.object({
  amount: figure.nullable(),
  quantity: figure.nullable(),
  overage_factor: figure,
  true_up_enabled: z.boolean(),
  is_windowed: z.boolean(),
  utilized: figure,
  overage: figure,
  true_up: figure,
});

/** A line with every figure. Amounts are money; discounts, credits and tax are parts of that amount, or on top of it. */
export const lineData = z.object({
  id: text<InvoiceLineId>(),
  kind: lineKindSchema,
  subscription_id: z.string().nullable(),
  subscription_line_item_id: z.string().nullable(),
  entity_type: z.string().nullable(),
  entity_id: z.string().nullable(),
  plan_display_name: z.string().nullable(),
  price_id: z.string().nullable(),
  price_type: z.enum(['FIXED', 'USAGE']),
  price_unit: z.string().nullable(),
  price_unit_id: z.string().nullable(),
  price_unit_amount: figure.nullable(),
  meter_id: z.string().nullable(),
  meter_display_name: z.string().nullable(),
  display_name: z.string(),
  /** The quantity that is charged for; of usage after the allowance. */
  quantity: figure,
  /** The usage that an entitlement has made free. */
  free_quantity: figure.nullable(),
  /** Before discounts; negative for what is given back. */
  amount: figure,
  /** The place of its tax: in the amount, or on top of it, which is what none says. */
  tax_behavior: taxBehaviorSchema.exactOptional(),
  period_start: instant.nullable(),
  period_end: instant.nullable(),
  commitment: commitmentData.nullable(),
  /** The version of the rules of rating by which usage came to its amount; absent for anything else. */
  rules: rulesVersionSchema.optional(),
  metadata: metadataSchema,
  line_discount: figure,
  invoice_discount: figure,
  /** Prepaid credits, in money. */
  credits: figure,
  /** On top of the amount. */
  tax: figure,
  /** The tax that is in the amount; absent: none is. */
  included_tax: figure.exactOptional(),
});
export type InvoiceLine = z.output<typeof lineData>;

/** A discount that was taken off a line, or off the whole. */
const couponApplicationData = z.object({
  id: text<CouponApplicationId>(),
  line_id: text<InvoiceLineId>().nullable(),
  coupon_id: z.string(),
  coupon_association_id: z.string().nullable(),
  subscription_id: z.string().nullable(),
  name: z.string(),
  discount: discountData,
  original_price: figure,
  discounted_amount: figure,
  final_price: figure,
});
export type AppliedCoupon = z.output<typeof couponApplicationData>;

/** A tax that was added, on one amount for the whole invoice; each line has its share of it. */
const appliedTaxData = z.object({
  id: text<AppliedTaxId>(),
  /** Null where a tax provider has worked it out. */
  tax_rate_id: z.string().nullable(),
  tax_association_id: z.string().nullable(),
  code: z.string(),
  name: z.string(),
  percentage: figure.nullable(),
  fixed: figure.nullable(),
  taxable_amount: figure,
  /** All of it. */
  tax_amount: figure,
  /** The part of it that is in the amounts of lines; absent: all of it comes on top. */
  included_amount: figure.exactOptional(),
  /** The lines that it is for; absent: all. */
  line_ids: z.array(text<InvoiceLineId>()).exactOptional(),
  /** The part of each line, where a tax provider has said so (ADR 59); absent: it follows from the rate. */
  shares: z.array(z.object({ line_id: text<InvoiceLineId>(), amount: figure })).exactOptional(),
});
export type AppliedTax = z.output<typeof appliedTaxData>;

/**
 * The bill that a request or a purchase asks for, as it was given: the figures are computed from it whenever they are
 * computed.
 */
const givenData = z.object({
  lines: z.array(
    lineData.omit({
      ...{ line_discount: true, invoice_discount: true, credits: true },
      ...{ tax: true, included_tax: true },
    }),
  ),
  /** In the order in which they are taken off; all that are taken off single lines come first. */
  coupons: z.array(
    couponApplicationData
      .omit({
        id: true,
        line_id: true,
        original_price: true,
        discounted_amount: true,
        final_price: true,
      })
      .extend({
        /** `line`: taken off each of its lines on its own; `whole`: off all of them together. */
        level: z.enum(['line', 'whole']),
        line_ids: z.array(text<InvoiceLineId>()),
      }),
  ),
  /** Null: those that apply to the customer. */
  taxes: z
    .array(appliedTaxData.omit({ taxable_amount: true, tax_amount: true, included_amount: true }))
    .nullable(),
});
export type GivenBill = z.output<typeof givenData>;

const figuresShape = {
  lines: z.array(lineData),
  coupons: z.array(couponApplicationData),
  taxes: z.array(appliedTaxData),
  /** The reason why none of them is taken of who pays; null: there is none, or nothing would be taken. */
  tax_exemption: taxExemptionSchema.nullable().default(null),
  subtotal: figure,
  total_discount: figure,
  /** Prepaid credits; what a draft would take is only known when it is final. */
  total_credits: figure,
  total_tax: figure,
  total: figure,
} as const;

/** Every figure of an invoice (E 15.3). */
export const figuresData = z.object(figuresShape);
export type InvoiceFigures = z.output<typeof figuresData>;

/** Prepaid credits of one wallet that an invoice takes: held before it is final, captured after. */
const takenCreditsData = z.object({
  wallet_id: text<WalletId>(),
  hold_id: text<HoldId>(),
  credits: figure,
  amount: figure,
});
export type TakenCredits = z.output<typeof takenCreditsData>;

/** Decisions about the rest of a finalisation, made before any of it is done. */
const finalizationPlan = z.object({
  /** The wallets whose credits may pay, in the order in which they are drawn. */
  wallets: z.array(text<WalletId>()),
  /** True where they pay tax too. */
  covers_tax: z.boolean(),
  /** The sequence that gives the number; null: the caller has given one, or nothing is billed. */
  numbering: z
    .object({
      prefix: z.string(),
      separator: z.string(),
      suffix_length: z.number().int(),
      start_sequence: z.number().int(),
    })
    .nullable(),
});
export type FinalizationPlan = z.output<typeof finalizationPlan>;

const changeableShape = {
  due_date: instant.nullable(),
  description: z.string().nullable(),
  invoice_pdf_url: z.string().nullable(),
  metadata: metadataSchema,
} as const;

/** The messages about an invoice that can be asked for again: what comes after `invoice.`. */
export const requestableMessages = [
  'update',
  'update.finalized',
  'update.payment',
  'update.voided',
] as const;

/**
 * The part of each line after discounts, as its amount is: without its tax, which comes on top (D59), or with it in it. `credits` is the part of it that
 * prepaid credits had paid.
 */
const creditedLinesData = z.array(
  z.object({
    line_id: text<InvoiceLineId>(),
    amount: figure,
    tax: figure,
    /** The tax that is in the amount; absent: none is. */
    included_tax: figure.exactOptional(),
    credits: figure,
  }),
);

const noteShape = {
  credit_note_id: z.string(),
  lines: creditedLinesData,
  /** The money of it: with tax, less what prepaid credits had paid. */
  amount: figure,
  /** Prepaid credits that go back to their lots, of which the invoice had taken them. */
  given_back: z.array(takenCreditsData),
} as const;

export const invoiceEvents = {
  /** There is to be an invoice. Its lines come with `InvoiceComputed`. */
  InvoiceDrafted: z.object({
    id: text<InvoiceId>(),
    invoice_type: invoiceTypeSchema,
    billing_reason: billingReasonSchema,
    cause: causeData,
    /** The invoice, which is void, that this one bills again: their causes are the same. */
    recalculates: text<InvoiceId>().optional(),
    /** The bill, where no settlement says it. */
    given: givenData.optional(),
    /** The customer who pays. */
    customer_id: text<CustomerId>(),
    /** The customer who uses, where that is another. */
    subscription_customer_id: z.string().nullable(),
    subscription_id: z.string().nullable(),
    currency,
    period_start: instant.nullable(),
    period_end: instant.nullable(),
    billing_period: z.string().nullable(),
    /** Number of the invoice among those of its subscription, from 1 on. */
    billing_sequence: z.number().int().nullable(),
    /** A number that the caller has given; null: the sequence gives one. */
    given_number: z.string().nullable(),
    /** Days from its finalisation to its due date, where no date was given. */
    due_days: z.number().int(),
    ...changeableShape,
    /** The instant from which it is made final by itself; null: only when somebody asks. */
    finalizes_at: instant.nullable(),
    /** The way of collecting; null: not by itself. */
    collection_method: z.enum(['charge_automatically', 'send_invoice']).nullable(),
    idempotency_key: z.string().nullable(),
  }),
  /** Its figures, all anew. */
  InvoiceComputed: z.object({
    ...figuresShape,
    /** The position of the log up to which usage counts; null where no line is of usage. */
    position: z.string().nullable(),
    /** Set where it is being made final: what follows is done once, whatever is set or chosen otherwise meanwhile. */
    plan: finalizationPlan.nullable().default(null),
  }),
  /** Nobody has said what taxes it has, so that it has no figures, and is not made final (ADR 59). */
  TaxesNotCalculated: z.object({
    reason: taxFailureSchema,
    message: z.string(),
    /** The instant at which it is tried again, where it was to be made final; null: it has one of its own. */
    retries_at: instant.nullable(),
  }),
  /** From here on it is being made final: nothing of it changes but by that (billing: one decision at one position). */
  FinalizationStarted: z.object({ at: instant }),
  /** The commit point: number, figures and position stand for ever. */
  InvoiceFinalized: z.object({
    ...figuresShape,
    invoice_number: z.string(),
    position: z.string().nullable(),
    due_date: instant.nullable(),
    taken: z.array(takenCreditsData),
  }),
  /** There was nothing to bill (D58). */
  InvoiceSkipped: z.object({ ...figuresShape, position: z.string().nullable() }),
  InvoiceChanged: z.object({ changes: z.object(changeableShape).partial() }),
  /** Money has come; once for each payment. */
  PaymentSettled: z.object({
    payment_id: z.string(),
    method: paymentMethodSchema,
    amount: figure,
    /** The part of it that nobody owed any more, which goes to a wallet of the customer (D60). */
    excess: figure,
  }),
  /** Money of a payment was given back. */
  PaymentReturned: z.object({ payment_id: z.string(), amount: figure }),
  /** News of a payment that has not come. */
  PaymentNoted: z.object({
    payment_id: z.string().nullable(),
    payment_status: z.enum(['INITIATED', 'PENDING', 'PROCESSING', 'FAILED']),
  }),
  /** A credit note lowers what is owed. */
  InvoiceAdjusted: z.object(noteShape),
  AdjustmentReversed: z.object({ credit_note_id: z.string() }),
  /** A credit note gives back what was paid, the last payment first. */
  InvoiceRefunded: z.object({
    ...noteShape,
    from: z.array(z.object({ payment_id: z.string(), amount: figure })),
  }),
  /**
   * A settlement of its subscription gave back to a wallet of the customer what was paid for a part of it: no credit note and no void
   * may do so again.
   */
  ChargesGivenBack: z.object({ settlement_id: z.string(), lines: creditedLinesData }),
  /** The purchase that was billed is over: its credits are loaded, or the order was dead, and the money is the customer's. */
  PurchaseEnded: z.object({ end: z.enum(['completed', 'dead']), money: figure }),
  FellOverdue: z.object({
    at: instantSchema,
    /** The instant at which its subscription ends unless it is paid by then; null: never because of it. */
    ends_subscription_at: instant.nullable().default(null),
  }),
  /** Its subscription has ended because nobody has paid it, or had ended before. */
  SubscriptionEnded: z.object({}),
  CommunicationTriggered: z.object({}),
  /** Somebody asks for a message about the invoice as it is, such as one that was lost on its way. */
  MessageRequested: z.object({ message: z.enum(requestableMessages) }),
  InvoiceVoided: z.object({
    /** The money on it, which goes to a wallet of the customer (D60); what credits have paid goes back to their lots. */
    money: figure,
    /** Prepaid credits that come back to their lots. */
    taken: z.array(takenCreditsData),
  }),
  /** The wallet into which its money goes, before anything is loaded there. */
  WalletChosen: z.object({ wallet_id: text<WalletId>() }),
  /** Another invoice bills again what this one, which is void, has billed. */
  InvoiceReplaced: z.object({ by: text<InvoiceId>() }),
} as const;

export type InvoiceEvent = EventOf<typeof invoiceEvents>;
export type InvoiceEventData<Type extends InvoiceEvent['type']> = Extract<
  InvoiceEvent,
  { readonly type: Type }
>['data'];
