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
import { broughtAssociationData } from '../taxes/index.ts';
import { addonData } from './addons/association.ts';
import { carriedOverSchema, changeTypeSchema } from './change/carried-over.ts';
import { subscriptionCommitmentData } from './commitments/commitment.ts';
import { couponData } from './coupons/association.ts';
import { grantedData } from './entitlements/granted.ts';
import { familyData, heirData, noFamily, parentData } from './families/family.ts';
import { followedData } from './families/followed.ts';
import { grantData } from './grants/grant.ts';
import { type LinesChanged, linesChangedData } from './lines/changed.ts';
import { lineData } from './lines/line.ts';
import { pauseData } from './pauses/pause.ts';
import { phaseData } from './phases/phase.ts';
import { endedScheduleData, movedScheduleData } from './schedules/schedule.ts';
import { type Settlement, type SettlementLine, settlementSchema } from './settlement/index.ts';
import {
  billingCycleSchema,
  cancellationTypeSchema,
  collectionMethodSchema,
  paymentBehaviorSchema,
  paymentTermsSchema,
  prorationBehaviorSchema,
  recurringPeriodSchema,
  resumeModeSchema,
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
  first: z.object({ end: instant, whole: spanData }).optional(),
});

/** The parts of a subscription that follow from its start: they are decided again when a draft is activated. */
const startShape = {
  start_date: instantSchema,
  cycle: cycleData,
  /** The time for which nothing is charged; period 0 is this then. */
  trial: spanData.nullable(),
} as const;

const chargedData = z.object({
  line_item_id: lineData.shape.id,
  span: spanData,
  amount: figure,
  credited: figure,
  invoiced: z
    .object({
      invoice_id: z.string(),
      net: figure,
      tax: figure,
      returned: figure.optional(),
    })
    .optional(),
});

/** A settlement is parsed as its wire form, whose ids and figures are plain texts. */
const settlementData = settlementSchema as unknown as z.ZodType<Settlement>;
const settlementLineData = settlementSchema.shape.lines
  .element as unknown as z.ZodType<SettlementLine>;

const applicationShape = {
  application_id: referenceSchema('cga'),
  index: z.number().int(),
  period_start: instant,
  period_end: instant.nullable(),
} as const;

/** The application that follows, with its credits where they can be others. */
const nextData = z.object({ ...applicationShape, credits: figure.optional() });

/** The grants that end with something else. */
const endedGrants = z.array(referenceSchema('cg')).default([]);

const periodShape = { index: z.number().int(), start: instant, end: instant } as const;

/** The fields that a caller may change at any time. */
const changeableData = z.object({
  metadata: metadataSchema,
  lookup_key: z.string().nullable(),
});
export type Changeable = z.output<typeof changeableData>;

const createdSchema = z.object({
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
  addons: z.array(addonData).default([]),
  family: familyData.default(noFamily),
  /** The coupons that it has redeemed. */
  coupons: z.array(couponData).default([]),
  /** The tax rates that apply to it from its beginning; a reaction attaches them. */
  tax_associations: z.array(broughtAssociationData).default([]),
  phases: z.array(phaseData).default([]),
  /** Money: the usage of a period from which on it is invoiced before the period closes; null: never. */
  auto_invoice_threshold: figure.nullable().default(null),
  /** The commitment of all usage together; null: none. */
  commitment: subscriptionCommitmentData.nullable().default(null),
  /** The subscription that it follows on after a change of plan, with what that charges and credits. */
  follows: z
    .object({ subscription_id: referenceSchema('subs'), lines: z.array(settlementLineData) })
    .optional(),
});

const planChangeShape = {
  at: instant,
  /** The subscription that follows. */
  to: createdSchema,
  change_type: changeTypeSchema,
  carry_over: z.array(carriedOverSchema),
} as const;

export const subscriptionEvents = {
  SubscriptionCreated: createdSchema,
  SubscriptionActivated: z.object({
    ...startShape,
    lines: z.array(lineData.pick({ id: true, start_date: true, end_date: true, own: true })),
    grants: z.array(
      grantData.pick({ id: true, start_date: true }).extend({ first: z.object(applicationShape) }),
    ),
    addons: z.array(addonData.pick({ id: true, start_date: true, end_date: true })).default([]),
    coupons: z.array(couponData.pick({ id: true, start_date: true })).default([]),
  }),
  SubscriptionUpdated: z.object({ changes: changeableData.partial() }),
  /** A draft that is given up. */
  SubscriptionDeleted: z.object({}),
  LinesChanged: linesChangedData,
  /** An add-on is sold, with the lines and the grants of credits that begin with it. */
  AddonAttached: z.object({
    addon: addonData,
    change: linesChangedData,
    grants: z.array(grantData.extend({ first: z.object(applicationShape) })),
  }),
  /** The end of an add-on is asked for: it has it until then. */
  AddonRemoved: z.object({
    addon_association_id: addonData.shape.id,
    end_date: instant,
    reason: z.string().nullable(),
    change: linesChangedData,
  }),
  AddonBegun: z.object({ addon_association_id: addonData.shape.id, at: instant }),
  AddonEnded: z.object({
    addon_association_id: addonData.shape.id,
    at: instant,
    /** Grants of credits that were still to come. */
    applications: z.array(referenceSchema('cga')),
    grants: endedGrants,
  }),
  /** A coupon is redeemed later than the subscription began. */
  CouponAttached: z.object({ coupon: couponData }),
  /** A coupon counts no more from an instant on. */
  CouponDetached: z.object({ coupon_association_id: couponData.shape.id, end_date: instant }),
  /** An entitlement of its own is given to it, in the place of its parent if it has one. */
  EntitlementAdded: z.object({ entitlement: grantedData }),
  EntitlementChanged: z.object({
    entitlement_id: grantedData.shape.entitlement_id,
    changes: grantedData
      .pick({
        is_enabled: true,
        is_soft_limit: true,
        usage_limit: true,
        usage_reset_period: true,
        static_value: true,
      })
      .partial(),
  }),
  EntitlementRemoved: z.object({ entitlement_id: grantedData.shape.entitlement_id }),
  /** A grant of credits of its own is given to it. */
  GrantAdded: grantData.extend({
    customer_id: referenceSchema('cust'),
    first: z.object(applicationShape),
  }),
  GrantChanged: z.object({
    grant_id: referenceSchema('cg'),
    changes: grantData.pick({ name: true, metadata: true, end_date: true }).partial(),
    /** The application that was to come, where the grant ends before that one does. */
    application: referenceSchema('cga').nullable(),
  }),
  PhaseBegun: z.object({ phase_id: phaseData.shape.id, at: instant }),
  /** A phase is agreed on, which follows on all others; the lines that it stands in for end with its beginning. */
  PhaseAdded: z.object({
    phase: phaseData,
    change: linesChangedData,
    /** Of the subscription from now on. */
    end_date: instant.nullable(),
    /** The coupons that count in it alone. */
    coupons: z.array(couponData).default([]),
  }),
  PhaseChanged: z.object({ phase_id: phaseData.shape.id, metadata: metadataSchema }),
  /** A phase that had not begun is given up: what was before it goes on. */
  PhaseRemoved: z.object({ phase_id: phaseData.shape.id, change: linesChangedData }),
  TrialEnded: z.object({ at: instant }),
  /** The trial that runs ends at another instant, with everything that moves with it. */
  TrialMoved: z.object({
    trial: spanData,
    cycle: cycleData,
    /** The trial as the period that runs; null where it has not begun. */
    period: z.object(periodShape).nullable(),
    addons: z.array(addonData.pick({ id: true, start_date: true, end_date: true })),
    lines: z.array(lineData.pick({ id: true, start_date: true, end_date: true, own: true })),
    grants: z.array(
      grantData.pick({ id: true, start_date: true }).extend({ first: z.object(applicationShape) }),
    ),
  }),
  /** Customers begin or cease to inherit the subscription. A reaction creates what they have by that, or ends it. */
  HeirsChanged: z.object({
    at: instant,
    added: z.array(heirData),
    removed: z.array(heirData.shape.subscription_id),
    /** The terms of those who are new, but for their ids and customers. */
    terms: createdSchema,
    opened: z.object(periodShape).nullable(),
  }),
  /** Something has happened that those who inherit the subscription live through with it. */
  HeirsTold: z.object({
    heirs: z.array(heirData.shape.subscription_id),
    events: z.array(followedData),
  }),
  /** The subscription is invoiced with another one from now on, or no more. */
  ParentChanged: z.object({
    parent: parentData.nullable(),
    before: parentData.shape.subscription_id.nullable(),
  }),
  /** Another subscription is invoiced with this one from now on, or no more. */
  MemberChanged: z.object({
    subscription_id: parentData.shape.subscription_id,
    is_member: z.boolean(),
  }),
  /** The condition is met under which it was sold: nothing is owed any more for its first period. */
  FirstPaymentMade: z.object({
    at: instant,
    /** The invoice that was paid; null where there was nothing to pay. */
    invoice_id: z.string().nullable(),
  }),
  PeriodOpened: z.object(periodShape),
  PeriodClosed: z.object(periodShape),
  SettlementRecorded: settlementData,
  /** A credit note has given something of charges back, or does no more (negative); or their invoice is void, and all goes back. */
  ChargesReturned: z.object({
    invoice_id: z.string(),
    /** Null: it is void. */
    credit_note_id: z.string().nullable(),
    charges: z.array(z.object({ line_item_id: lineData.shape.id, amount: figure })),
  }),
  /** An invoice with charges of the subscription is final: what they came to is what can be given back of them (D64). */
  ChargesInvoiced: z.object({
    invoice_id: z.string(),
    charges: z.array(
      z.object({
        line_item_id: lineData.shape.id,
        span: spanData,
        amount: figure,
        net: figure,
        tax: figure,
      }),
    ),
  }),
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
    next: nextData.nullable(),
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
    /** The one that it takes the place of. */
    replaces: referenceSchema('sched').nullable().default(null),
  }),
  CancellationReverted: z.object({ schedule_id: referenceSchema('sched') }),
  /** An application of a grant falls into a pause: nothing is given, and the next one comes when it would have come. */
  CreditsSkipped: z.object({
    ...applicationShape,
    customer_id: referenceSchema('cust'),
    subscription_status: subscriptionStatusSchema,
    grant_id: referenceSchema('cg'),
    is_recurring: z.boolean(),
    credits: figure,
    next: nextData.nullable(),
  }),
  /** A pause is to begin later. */
  PauseScheduled: pauseData,
  PauseStarted: pauseData,
  /** A pause gets another end: null is none. */
  PauseEndChanged: z.object({
    pause_id: pauseData.shape.id,
    resume_mode: resumeModeSchema,
    end: instant.nullable(),
  }),
  /** A pause that had not begun is given up. */
  PauseCancelled: z.object({ pause_id: pauseData.shape.id }),
  /** A pause is over, with everything that it has moved (D67). */
  PauseEnded: z.object({
    pause_id: pauseData.shape.id,
    start: instant,
    end: instant,
    cause: z.enum(['request', 'due', 'cancellation']),
    cycle: cycleData,
    /** The period that ran when it began; null where none did. */
    period: z.object(periodShape).nullable(),
    lines: z.array(
      lineData
        .pick({ id: true, start_date: true, end_date: true, own: true })
        .extend({ charged: z.array(chargedData) }),
    ),
    /** The dates of add-ons, where they move as those of lines do. */
    addons: z.array(addonData.pick({ id: true, start_date: true, end_date: true })),
    /** The dates of phases, which move as those of lines do. */
    phases: z.array(phaseData.pick({ id: true, start_date: true, end_date: true })).default([]),
    /** Of a cancellation at the end of the period, which moves with it. */
    cancel_at: instant.nullable(),
    /** Of a change of plan that is to come, which moves with the end of the period. */
    change_at: instant.nullable(),
    schedules: z.array(movedScheduleData).default([]),
  }),
  /** Another plan is to follow at the end of the period, under the terms of now. */
  PlanChangeScheduled: z.object({
    ...planChangeShape,
    schedule_id: referenceSchema('sched'),
    proration: prorationBehaviorSchema,
  }),
  PlanChangeReverted: z.object({ schedule_id: referenceSchema('sched') }),
  /** Another subscription follows, under another plan. It is created by a reaction, from what is decided here. */
  PlanChanged: z.object({
    ...planChangeShape,
    /** The charges of the other one from the change on, and the credits of this one, which are settled there. */
    lines: z.array(settlementLineData),
  }),
  /** Nothing happens to the subscription any more. */
  SubscriptionCancelled: z.object({
    effective_at: instant,
    /** By a request, by a cancellation that was scheduled, at the end that it had, because another one follows, or unpaid from the beginning. */
    cause: z.enum(['request', 'schedule', 'end_date', 'plan_change', 'unpaid']),
    reason: z.string().nullable(),
    /** The lines that end with it. */
    lines: z.array(lineData.shape.id),
    /** Grants of credits that were still to come. */
    applications: z.array(referenceSchema('cga')),
    grants: endedGrants,
    /** The add-ons that end with it. */
    addons: z.array(addonData.shape.id).default([]),
    /** The changes that were to come for it. */
    schedules: z.array(endedScheduleData).default([]),
  }),
} as const;

export type SubscriptionEvent = EventOf<typeof subscriptionEvents>;
export type CreatedData = Extract<SubscriptionEvent, { type: 'SubscriptionCreated' }>['data'];
export type StartData = Pick<CreatedData, 'start_date' | 'cycle' | 'trial'>;

/** The lines that an event begins, ends or notes; null for one that touches none. */
export function lineChangeOf(event: SubscriptionEvent): LinesChanged | null {
  switch (event.type) {
    case 'LinesChanged':
      return event.data;
    case 'AddonAttached':
    case 'AddonRemoved':
    case 'PhaseAdded':
    case 'PhaseRemoved':
      return event.data.change;
    default:
      return null;
  }
}
