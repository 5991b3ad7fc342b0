import type {
  Currency,
  CustomerId,
  DebitId,
  DecimalText,
  EventOf,
  FeatureId,
  HoldId,
  Instant,
  InvoiceId,
  PriceUnitId,
  TransactionId,
  WalletId,
} from '@counterfoil/kernel';
import { instantSchema, metadataSchema } from '@counterfoil/kernel';
import { z } from 'zod';
import { alertSettingsSchema, autoTopupSchema, walletConfigSchema } from './settings.ts';

export const walletTypeSchema = z.enum(['PRE_PAID', 'POST_PAID']);
export type WalletType = z.output<typeof walletTypeSchema>;

export const alertStateSchema = z.enum(['ok', 'info', 'warning', 'in_alarm']);
export type AlertState = z.output<typeof alertStateSchema>;

/** The reason of a movement of credits (specification §2.14). */
export const transactionReasonSchema = z.enum([
  'INVOICE_PAYMENT',
  'FREE_CREDIT_GRANT',
  'SUBSCRIPTION_CREDIT_GRANT',
  'PURCHASED_CREDIT_INVOICED',
  'PURCHASED_CREDIT_DIRECT',
  'CREDIT_NOTE',
  'CREDIT_EXPIRED',
  'WALLET_TERMINATION',
  'MANUAL_BALANCE_DEBIT',
  'CREDIT_ADJUSTMENT',
  'INVOICE_VOID_REFUND',
]);
export type TransactionReason = z.output<typeof transactionReasonSchema>;

export const referenceTypeSchema = z.enum(['PAYMENT', 'EXTERNAL', 'REQUEST', 'INVOICE']);

const text = <Kind extends string>() => z.string().transform((value) => value as Kind);
/** A figure that was decided: it may have any number of digits, and is never checked against limits again. */
const figure = text<DecimalText>();
/** An instant that was decided. Every entry has one, so it is not read again either. */
const instant = text<Instant>();

/** The part of an entry that says which credits are meant, and why: all but its place in the ledger. */
const orderShape = {
  transaction_id: text<TransactionId>(),
  customer_id: text<CustomerId>(),
  currency: text<Currency>(),
  conversion_rate: figure,
  topup_conversion_rate: figure,
  /** Always positive; the event's type says in which direction. */
  credits: figure,
  /** The same in the currency, exactly: credits × the rate that applied. */
  amount: figure,
  reason: transactionReasonSchema,
  reference_type: referenceTypeSchema.nullable(),
  reference_id: z.string().nullable(),
  description: z.string().nullable(),
  idempotency_key: z.string().nullable(),
  metadata: metadataSchema,
} as const;

/**
 * The members of every movement of credits. An event can be read without its wallet: it holds the rates
 * that applied and the balances before and after.
 */
const entryShape = {
  ...orderShape,
  /**
   * The instant from which it counts: that of the decision; for an expiry that from which the credits could
   * not be spent, which is that of the lot (D23) or the later return of the credits from a hold.
   */
  effective_at: instant,
  /** Number of the transaction in its wallet, from 1 on. */
  sequence: z.number().int(),
  credit_balance_before: figure,
  credit_balance_after: figure,
} as const;

/** The members of a load about the lot that it becomes. */
const lotShape = {
  priority: z.number().int().nullable(),
  expires_at: instantSchema.nullable(),
} as const;

/** The occasions on which a wallet looks whether it has to top itself up (D29, D72). */
const occasionShape = {
  /** `ongoing`: usage or invoices have lowered what is left once they are paid (ADR 48). */
  cause: z.enum(['change', 'settings', 'unfreezing', 'new_day', 'refused_debit', 'ongoing']),
  /** The entry or the hold that changed what can be spent; null on every other occasion. */
  cause_id: z.string().nullable(),
} as const;
export type Occasion = z.output<z.ZodObject<typeof occasionShape>>;

/** Set on a top-up that the wallet has made by itself (D29). */
const automaticSchema = z.object({
  ...occasionShape,
  /** UTC day of it, and its number among the automatic top-ups of that day, from 1 on. */
  day: z.string(),
  number: z.number().int(),
});
export type AutomaticTopUp = z.output<typeof automaticSchema>;

/** The time and the author of the request for a top-up. */
const requestedSchema = z.object({ at: instantSchema, by: z.string() });

const purchaseBonusSchema = z.object({
  credits: figure,
  /** Days from the load until it expires; null: it never does. */
  expiry_days: z.number().int().nullable(),
});
export type PurchaseBonus = z.output<typeof purchaseBonusSchema>;

/** A top-up that waits for its payment. */
const pendingShape = {
  ...orderShape,
  ...lotShape,
  /** The balance at the moment of the event, which does not change it. */
  credit_balance: figure,
  automatic: automaticSchema.optional(),
  /** The bonus that comes with the credits as soon as they are paid for; absent: none. */
  bonus: purchaseBonusSchema.exactOptional(),
} as const;

const drawSchema = z.object({
  transaction_id: text<TransactionId>(),
  credits: figure,
  remaining: figure,
});

/** A lot to which credits have come back, with the credits that came and those that it has then. */
const returnedLotSchema = z.object({
  ...drawSchema.shape,
  ...lotShape,
  class: z.enum(['free', 'purchased']),
  /** Number of its load in the wallet. */
  sequence: z.number().int(),
});
export type ReturnedLot = z.output<typeof returnedLotSchema>;

const settingsShape = {
  name: z.string(),
  description: z.string().nullable(),
  metadata: metadataSchema,
  config: walletConfigSchema,
  alert_settings: alertSettingsSchema.nullable(),
  auto_topup: autoTopupSchema.nullable(),
} as const;

const settingsSchema = z.object(settingsShape);
/** Its place among the wallets of the customer: smaller is drawn first, null last (D21). */
const prioritySchema = z.number().int().nullable();
export interface WalletSettings extends z.output<typeof settingsSchema> {
  readonly priority: number | null;
}

/** A level that the balance has reached less what it is going to pay, with what it was judged by. */
const ongoingShape = {
  before: alertStateSchema,
  after: alertStateSchema,
  /** Credits that are left; below zero where they do not suffice. */
  available: figure,
  /** The same in the currency. */
  balance: figure,
  current_period_usage: figure,
  unpaid_invoices_amount: figure,
  /** Usage was counted up to this position of the log. */
  position: z.string(),
} as const;

export const walletEvents = {
  WalletCreated: z.object({
    id: text<WalletId>(),
    customer_id: text<CustomerId>(),
    currency: text<Currency>(),
    conversion_rate: figure,
    topup_conversion_rate: figure,
    wallet_type: walletTypeSchema,
    /** The pricing unit that gave currency and rate, as it was then; absent where none did. */
    price_unit: z
      .object({ id: text<PriceUnitId>(), code: z.string(), conversion_rate: figure })
      .optional(),
    ...settingsShape,
    /** True for a wallet that may stand beside others of its currency and type (D21). */
    allow_multiple: z.boolean().default(false),
    priority: prioritySchema.default(null),
    /** Set where it was made for money that is owed to a customer who was archived by then (ADR 53). */
    is_owed: z.literal(true).optional(),
  }),
  WalletSettingsChanged: settingsSchema.extend({ priority: prioritySchema }).partial(),
  CreditsLoaded: z.object({
    ...entryShape,
    ...lotShape,
    /** The part that can be spent: less than `credits` when it paid a debt first. */
    credits_available: figure,
    /** Set when this is a top-up that was pending until now. */
    requested: requestedSchema.optional(),
    automatic: automaticSchema.optional(),
  }),
  /** Credits that somebody has to pay for first: they change no balance before they are loaded. */
  TopUpRequested: z.object(pendingShape),
  /** A top-up that no longer waits for its payment. */
  TopUpFailed: z.object({
    ...pendingShape,
    requested: requestedSchema,
    cause: z.enum(['cancelled', 'expired', 'wallet_closed']),
    /** For an expired one the nominal instant, not that of the booking. */
    failed_at: instantSchema,
  }),
  /** The wallet would have topped itself up again, but had reached the limit of the day. */
  AutomaticTopUpStopped: z.object({
    ...occasionShape,
    day: z.string(),
    limit: z.number().int(),
    available: figure,
  }),
  CreditsDebited: z.object({
    ...entryShape,
    /** Set where less may be taken than was asked for: the credits that were asked for (D26). */
    credits_requested: figure.optional(),
    /** Set where it takes a bonus back: the load of that, and no other lot is drawn from. */
    takes_back: text<TransactionId>().exactOptional(),
    /** The lots it was taken from, in order. Less than `credits` when the rest is debt. */
    drawn: z.array(drawSchema),
  }),
  CreditsExpired: z.object({
    ...entryShape,
    drawn: z.array(drawSchema).length(1),
  }),
  /** Credits of an earlier debit or capture that have come back (D74). */
  DebitReversed: z.object({
    ...entryShape,
    reverses: text<TransactionId>(),
    /** Credits of that entry that are reversed by now, these included. */
    reversed: figure,
    /** The expiry of lots that had expired meanwhile (D42). */
    renewed_until: instantSchema,
    /** The lots that the credits came back to. */
    returned: z.array(returnedLotSchema),
    /**
     * Credits that had been taken beyond all lots and pay no debt now: a lot of the reversal itself, purchased,
     * without priority and expiry.
     */
    credits_available: figure,
  }),
  /** Credits set aside: they are out of their lots but still in the balance. */
  CreditsHeld: z.object({
    hold_id: text<HoldId>(),
    /** Set where a debit of the customer over several wallets holds them (D76). */
    debit_id: text<DebitId>().optional(),
    /** Set where an invoice holds them: it alone captures them, or gives them back (ADR 44). */
    invoice_id: text<InvoiceId>().optional(),
    /** Money that they pay of that invoice. */
    invoice_amount: figure.optional(),
    /** The instant from which that debit counts, where it is dated back (D73): it takes what was there since. */
    debit_effective_at: instantSchema.optional(),
    customer_id: text<CustomerId>(),
    credits: figure,
    expires_at: instantSchema.nullable(),
    description: z.string().nullable(),
    metadata: metadataSchema,
    drawn: z.array(drawSchema),
  }),
  /** Another number of credits is set aside, or until another instant (D75). */
  HoldChanged: z.object({
    hold_id: text<HoldId>(),
    credits: figure,
    expires_at: instantSchema.nullable(),
    /** Credits that were set aside in addition. */
    drawn: z.array(drawSchema),
    /** Credits that went back to their lots; what paid a debt is not among them. */
    returned: z.array(drawSchema),
    /** The credits that the hold has of each lot then. */
    parts: z.array(drawSchema.pick({ transaction_id: true, credits: true })),
  }),
  /** A hold turned into a debit, in whole or in part. */
  HoldCaptured: z.object({
    ...entryShape,
    hold_id: text<HoldId>(),
    /** True when it ended the hold: the rest went back to its lots. Otherwise the rest is still held. */
    is_final: z.boolean(),
    drawn: z.array(drawSchema),
    returned: z.array(drawSchema),
  }),
  /** A hold given up; all of it went back to its lots. */
  HoldReleased: z.object({
    hold_id: text<HoldId>(),
    cause: z.enum(['voided', 'expired']),
    /** For an expired hold its nominal instant, not that of the booking. */
    released_at: instantSchema,
    returned: z.array(drawSchema),
  }),
  /** The result of each entry of a bulk; the movements themselves are the events before it. */
  BulkRecorded: z.object({
    results: z.array(
      z.union([
        z.object({ transaction_id: text<TransactionId>() }),
        z.object({
          code: z.string(),
          message: z.string(),
          details: z.record(z.string(), z.unknown()).nullable(),
        }),
      ]),
    ),
  }),
  WalletFrozen: z.object({}),
  WalletUnfrozen: z.object({}),
  WalletClosed: z.object({}),
  /** The credits that can be spent have reached another alert level: one event per crossing (D28). */
  AlertStateChanged: z.object({
    before: alertStateSchema,
    after: alertStateSchema,
    available: figure,
  }),
  /** The credits that are left once everything is paid that is owed have reached another alert level (ADR 48). */
  OngoingAlertStateChanged: z.object(ongoingShape),
  /** The same, against the levels of a feature. */
  FeatureAlertStateChanged: z.object({ feature_id: text<FeatureId>(), ...ongoingShape }),
} as const;

export type WalletEvent = EventOf<typeof walletEvents>;
export type CreatedData = Extract<WalletEvent, { type: 'WalletCreated' }>['data'];
export type Order = z.output<z.ZodObject<typeof orderShape>>;
export type Entry = z.output<z.ZodObject<typeof entryShape>>;
