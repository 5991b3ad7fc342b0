import {
  type Currency,
  type DecimalText,
  type EventOf,
  type Instant,
  instantSchema,
  metadataSchema,
  referenceSchema,
} from '@counterfoil/kernel';
import { z } from 'zod';
import { grantedData } from './entitlements/granted.ts';
import { grantData } from './grants/grant.ts';
import { linesChangedData } from './lines/changed.ts';
import { lineData } from './lines/line.ts';
import { type Settlement, settlementSchema } from './settlement/index.ts';
import {
  billingCycleSchema,
  cancellationTypeSchema,
  collectionMethodSchema,
  paymentBehaviorSchema,
  paymentTermsSchema,
  prorationBehaviorSchema,
  recurringPeriodSchema,
  subscriptionStatusSchema,
} from './values.ts';

/** An instant that was decided is not checked again when it is read. */
const instant = z.string().transform((text) => text as Instant);
const figure = z.string().transform((text) => text as DecimalText);
const currency = z.string().transform((text) => text as Currency);

const spanData = z.object({ start: instant, end: instant });

const cycleData = z.object({
  anchor: instant,
  unit: recurringPeriodSchema,
  count: z.number().int(),
  start: instant,
  first_index: z.number().int(),
});

/** The parts of a subscription that follow from its start: they are decided again when a draft is activated. */
const startShape = {
  start_date: instantSchema,
  cycle: cycleData,
  /** The time for which nothing is charged; period 0 is this then. */
  trial: spanData.nullable(),
} as const;

/** A settlement is parsed as its wire form, whose ids and figures are plain texts. */
const settlementData = settlementSchema as unknown as z.ZodType<Settlement>;

const applicationShape = {
  application_id: referenceSchema('cga'),
  index: z.number().int(),
  period_start: instant,
  period_end: instant.nullable(),
} as const;

const periodShape = { index: z.number().int(), start: instant, end: instant } as const;

/** The fields that a caller may change at any time. */
const changeableData = z.object({
  metadata: metadataSchema,
  lookup_key: z.string().nullable(),
});
export type Changeable = z.output<typeof changeableData>;

export const subscriptionEvents = {
  SubscriptionCreated: z.object({
    id: referenceSchema('subs'),
    /** A draft does nothing before it is activated. */
    is_draft: z.boolean(),
    customer_id: referenceSchema('cust'),
    plan_id: referenceSchema('plan'),
    plan_name: z.string(),
    currency,
    ...changeableData.shape,
    ...startShape,
    end_date: instantSchema.nullable(),
    /** IANA name: days and months are those of this zone (D50). */
    timezone: z.string(),
    billing_cycle: billingCycleSchema,
    /** The anchor that was asked for; null: it follows from the start. */
    billing_anchor: instantSchema.nullable(),
    trial_days: z.number().int().nullable(),
    proration_behavior: prorationBehaviorSchema,
    collection_method: collectionMethodSchema,
    payment_behavior: paymentBehaviorSchema,
    payment_terms: paymentTermsSchema.nullable(),
    gateway_payment_method_id: z.string().nullable(),
    lines: z.array(lineData),
    /** The entitlements that its plan gave when it was sold. */
    entitlements: z.array(grantedData),
    grants: z.array(grantData),
  }),
  SubscriptionActivated: z.object({
    ...startShape,
    lines: z.array(lineData.pick({ id: true, start_date: true, end_date: true, own: true })),
    grants: z.array(
      grantData.pick({ id: true, start_date: true }).extend({ first: z.object(applicationShape) }),
    ),
  }),
  SubscriptionUpdated: z.object({ changes: changeableData.partial() }),
  /** A draft that is given up. */
  SubscriptionDeleted: z.object({}),
  LinesChanged: linesChangedData,
  TrialEnded: z.object({ at: instant }),
  PeriodOpened: z.object(periodShape),
  PeriodClosed: z.object(periodShape),
  SettlementRecorded: settlementData,
  /** Credits are given. Those that had expired before that was decided come to no wallet. */
  CreditsGranted: z.object({
    ...applicationShape,
    customer_id: referenceSchema('cust'),
    subscription_status: subscriptionStatusSchema,
    grant_id: referenceSchema('cg'),
    is_recurring: z.boolean(),
    name: z.string(),
    credits: figure,
    priority: z.number().int().nullable(),
    conversion_rate: figure.nullable(),
    topup_conversion_rate: figure.nullable(),
    expires_at: instant.nullable(),
    next: z.object(applicationShape).nullable(),
  }),
  /** A wallet of the customer is taken for what the subscription gives: credits that are due to it, and grants. */
  WalletChosen: z.object({ wallet_id: referenceSchema('wallet') }),
  RenewalNoticed: z.object({ index: z.number().int(), at: instant, renews_at: instant }),
  CancellationScheduled: z.object({
    schedule_id: referenceSchema('sched'),
    cancellation_type: cancellationTypeSchema,
    cancel_at: instant,
    proration_behavior: prorationBehaviorSchema,
    /** True where usage and charges in arrears up to the end are not billed any more. */
    skips_arrears: z.boolean(),
    reason: z.string().nullable(),
  }),
  CancellationReverted: z.object({ schedule_id: referenceSchema('sched') }),
  /** Nothing happens to the subscription any more. */
  SubscriptionCancelled: z.object({
    effective_at: instant,
    /** By a request, by a cancellation that was scheduled, or at the end that it had. */
    cause: z.enum(['request', 'schedule', 'end_date']),
    reason: z.string().nullable(),
    /** The lines that end with it. */
    lines: z.array(lineData.shape.id),
    /** Grants of credits that were still to come. */
    applications: z.array(referenceSchema('cga')),
  }),
} as const;

export type SubscriptionEvent = EventOf<typeof subscriptionEvents>;
export type CreatedData = Extract<SubscriptionEvent, { type: 'SubscriptionCreated' }>['data'];
export type StartData = Pick<CreatedData, 'start_date' | 'cycle' | 'trial'>;
