import { unused } from '@counterfoil/engine/define';
import {
  clearable,
  currencySchema,
  decimalPlaces,
  decimalSchema,
  instantSchema,
  metadataSchema,
  nonNegativeDecimalSchema,
  recordStampsShape,
  recordStatusSchema,
  referenceSchema,
  textSchema,
  timeZoneSchema,
  withConditions,
} from '@counterfoil/kernel';
import { z } from 'zod';
import { customerSchema } from '../customers/index.ts';
import {
  billingPeriodSchema,
  creditGrantSchema,
  invoiceCadenceSchema,
  overrideFiguresShape,
  planSchema,
  priceSchema,
  priceTypeSchema,
  subscriptionGrantSchema,
  subscriptionPriceSchema,
} from '../offers/index.ts';
import { taxRateOverridesSchema } from '../taxes/index.ts';
import { addonCadenceSchema } from './addons/association.ts';
import {
  lineCommitmentShape,
  lineCommitmentsSchema,
  shownCommitmentShape,
  subscriptionCommitmentShape,
} from './commitments/schema.ts';
import { couponAssociationSchema, couponsShape } from './coupons/schema.ts';
import { inheritanceSchema } from './families/schema.ts';
import type { ShownInvoice } from './invoicing.ts';
import { pauseSchema } from './pauses/schema.ts';
import { phaseSchema } from './phases/schema.ts';
import { settlementSchema } from './settlement/index.ts';
import {
  billingCycleSchema,
  cancellationTypeSchema,
  collectionMethodSchema,
  lineOriginSchema,
  pauseStatusSchema,
  paymentBehaviorSchema,
  paymentTermsSchema,
  prorationBehaviorSchema,
  recurringPeriodSchema,
  subscriptionStatusSchema,
  subscriptionTypeSchema,
} from './values.ts';

/** Values that say as much as none. */
export const isNothing = (value: unknown): boolean =>
  value === undefined ||
  value === false ||
  value === '' ||
  (typeof value === 'object' && (value === null || Object.keys(value).length === 0));

/**
 * A member of the public contract with which nothing is done yet. Where it would have to count it is refused; empty it
 * says nothing.
 */
export const notYet = z
  .unknown()
  .refine(isNothing, 'is not supported yet: leave it out')
  .meta({ id: 'NotSupportedYet', enum: [null, false, '', [], {}] })
  .optional();

export const idSchema = clearable(z.string().max(64)).optional();
export const pairsSchema = metadataSchema.nullish().transform((pairs) => pairs ?? undefined);
const quantitySchema = nonNegativeDecimalSchema(decimalPlaces.quantity).nullish();
const countSchema = z.number().int().min(1).max(1000).nullish();

/** Lines that one subscription is created with at most, those of its plan included. */
export const maximumLines = 200;
/** Grants of credits that a subscription brings of its own. */
export const maximumGrants = 100;

/** The members of a line that is ordered, beside the way in which it is settled. */
export const orderedLineShape = {
  price_id: idSchema,
  price: subscriptionPriceSchema.nullish().meta({ description: 'A price of its own' }),
  quantity: quantitySchema,
  display_name: clearable(textSchema(255)).optional(),
  start_date: instantSchema.nullish(),
  end_date: instantSchema.nullish(),
  metadata: pairsSchema,
  subscription_phase_id: notYet,
  ...lineCommitmentShape,
} as const;

export const orderedLineConditions = [
  { oneOf: ['price_id', 'price'], says: 'give either price_id or price' },
] as const;

const orderedLineSchema = withConditions(
  z.object({ ...orderedLineShape, proration_behavior: unused }),
  orderedLineConditions,
).meta({ id: 'NewSubscriptionLineItem' });
export type OrderedLineBody = z.output<typeof orderedLineSchema>;

export const overrideLineSchema = z
  .object({
    price_id: referenceSchema('price'),
    quantity: quantitySchema,
    ...overrideFiguresShape,
  })
  .meta({ id: 'OverrideLineItem' });
export type OverrideLine = z.output<typeof overrideLineSchema>;

/** The members of an add-on that is ordered. */
export const addonParamsShape = {
  addon_id: referenceSchema('addon'),
  cadence: addonCadenceSchema.nullish().meta({ description: 'Default: recurring' }),
  start_date: instantSchema.nullish().meta({ description: 'Default: now' }),
  override_line_items: z.array(overrideLineSchema).max(100).nullish(),
  proration_behavior: prorationBehaviorSchema
    .nullish()
    .meta({ description: 'Default: as the subscription' }),
  line_item_commitments: lineCommitmentsSchema,
  checkout: unused,
  metadata: pairsSchema,
} as const;

/** An add-on that a subscription is created with, or that comes later. */
export const addAddonParamsSchema = z.object(addonParamsShape).meta({ id: 'AddAddonParams' });
export type AddAddonParams = z.output<typeof addAddonParamsSchema>;

const overrideEntitlementSchema = z
  .object({
    entitlement_id: referenceSchema('ent'),
    is_enabled: z.boolean().optional(),
    usage_limit: z
      .number()
      .int()
      .min(0)
      .nullable()
      .optional()
      .meta({ description: 'Null: unlimited; absent: as the plan says' }),
    static_value: textSchema(1000).optional(),
    config_value: notYet,
  })
  .meta({ id: 'OverrideEntitlement' });
export type OverrideEntitlement = z.output<typeof overrideEntitlementSchema>;

/** The members of a phase of a subscription (E 10.8). */
const phaseShape = {
  start_date: instantSchema.meta({ description: 'The end of the phase before it' }),
  end_date: instantSchema.nullish().meta({ description: 'Default: as long as the subscription' }),
  line_items: z
    .array(orderedLineSchema)
    .max(100)
    .nullish()
    .meta({ description: 'Lines beside those of the plan' }),
  override_line_items: z.array(overrideLineSchema).max(100).nullish(),
  override_entitlements: z.array(overrideEntitlementSchema).max(100).nullish(),
  ...couponsShape,
  metadata: pairsSchema,
} as const;

/** A phase of a new subscription. */
const newPhaseSchema = z.object(phaseShape).meta({ id: 'NewSubscriptionPhase' });

/** Body of POST /subscriptions/{id}/phases. */
export const phaseBodySchema = z.object(phaseShape).meta({ id: 'AddSubscriptionPhase' });
export type PhaseBody = z.output<typeof phaseBodySchema>;

/** Phases that one subscription has at most. */
export const maximumPhases = 50;

const createObject = z.object({
  customer_id: idSchema,
  external_customer_id: clearable(z.string().max(255)).optional(),
  plan_id: referenceSchema('plan'),
  currency: currencySchema,
  billing_period: recurringPeriodSchema,
  billing_period_count: countSchema,
  billing_cadence: z.literal('RECURRING').nullish(),
  billing_cycle: billingCycleSchema.nullish().meta({ description: 'Default: anniversary' }),
  billing_anchor: instantSchema
    .nullish()
    .meta({ description: 'Day and clock time at which periods change; default: of the start' }),
  start_date: instantSchema.nullish().meta({ description: 'Default: now' }),
  end_date: instantSchema.nullish(),
  subscription_status: z
    .enum(['draft', 'active', 'trialing'])
    .nullish()
    .meta({ description: '`active`: without a trial' }),
  trial_period_days: z
    .number()
    .int()
    .min(0)
    .max(3650)
    .nullish()
    .meta({ description: 'Default: as the fixed prices say; 0: none' }),
  lookup_key: clearable(textSchema(255)).optional(),
  metadata: pairsSchema,
  timezone: timeZoneSchema.nullish().meta({ description: 'Default: of the customer' }),
  proration_behavior: prorationBehaviorSchema.nullish().meta({ description: 'Default: none' }),
  collection_method: collectionMethodSchema.nullish(),
  payment_behavior: paymentBehaviorSchema.nullish(),
  payment_terms: paymentTermsSchema.nullish(),
  gateway_payment_method_id: clearable(textSchema(255)).optional(),
  line_items: z.array(orderedLineSchema).max(100).nullish(),
  override_line_items: z.array(overrideLineSchema).max(100).nullish(),
  addons: z.array(addAddonParamsSchema).max(100).nullish(),
  auto_invoice_threshold: decimalSchema(decimalPlaces.credits)
    .nullish()
    .meta({ description: 'Usage of a period from which on it is invoiced' }),
  checkout: notYet,
  ...subscriptionCommitmentShape,
  ...couponsShape,
  credit_grants: z.array(subscriptionGrantSchema).max(maximumGrants).nullish(),
  inheritance: inheritanceSchema.nullish(),
  line_item_commitments: lineCommitmentsSchema,
  override_entitlements: z.array(overrideEntitlementSchema).max(100).nullish(),
  phases: z.array(newPhaseSchema).max(maximumPhases).nullish(),
  tax_rate_overrides: taxRateOverridesSchema.nullish(),
});

/** Body of POST /subscriptions. */
export const createSubscriptionSchema = withConditions(createObject, [
  {
    someOf: ['customer_id', 'external_customer_id'],
    says: 'customer_id or external_customer_id is required',
  },
  {
    when: { billing_cycle: 'calendar' },
    lacks: 'billing_anchor',
    says: 'follows from the calendar: leave it out, or choose billing_cycle anniversary',
  },
]).meta({ id: 'CreateSubscription' });
export type CreateSubscription = z.output<typeof createSubscriptionSchema>;

export const updateSubscriptionSchema = withConditions(
  z.object({
    metadata: pairsSchema,
    lookup_key: clearable(textSchema(255)).optional(),
    cancel_at_period_end: z
      .boolean()
      .nullish()
      .meta({ description: 'False takes a scheduled cancellation back' }),
    cancel_at: instantSchema.nullish(),
    status: notYet,
    parent_subscription_id: clearable(z.string().max(64))
      .optional()
      .meta({ description: 'Invoiced with that one; empty: alone' }),
  }),
  [
    {
      when: { cancel_at_period_end: true },
      lacks: 'cancel_at',
      says: 'is the end of the period: give one of both',
    },
  ],
).meta({ id: 'UpdateSubscription' });
export type UpdateSubscription = z.output<typeof updateSubscriptionSchema>;

export const activateSubscriptionSchema = z
  .object({ start_date: instantSchema.nullish().meta({ description: 'Default: now' }) })
  .meta({ id: 'ActivateSubscription' });

export const cancelSubscriptionSchema = withConditions(
  z.object({
    cancellation_type: cancellationTypeSchema,
    cancel_at: instantSchema.nullish().meta({
      description: 'Of an immediate one: an instant of the period that runs, not ahead of now',
    }),
    proration_behavior: prorationBehaviorSchema
      .nullish()
      .meta({ description: 'Default: create_prorations' }),
    /** The public contract spells it so. */
    cancel_immediately_inovice_policy: z
      .enum(['generate_invoice', 'skip'])
      .nullish()
      .meta({ description: 'Default: generate_invoice; `skip` bills nothing in arrears' }),
    reason: clearable(textSchema(1000)).optional(),
  }),
  [
    {
      when: { cancellation_type: 'scheduled_date' },
      needs: 'cancel_at',
      says: 'is required for cancellation_type scheduled_date',
    },
    {
      when: { cancellation_type: 'end_of_period' },
      lacks: 'cancel_at',
      says: 'is the end of the period: leave it out',
    },
  ],
).meta({ id: 'CancelSubscriptionRequest' });
export type CancelSubscription = z.output<typeof cancelSubscriptionSchema>;

/** A line on the wire (specification §2.19). */
export const lineItemSchema = z
  .object({
    ...recordStampsShape,
    status: recordStatusSchema,
    subscription_id: z.string(),
    customer_id: z.string(),
    entity_type: lineOriginSchema,
    entity_id: z.string(),
    plan_display_name: z.string().optional(),
    addon_association_id: z.string().optional(),
    price_id: z.string(),
    price: priceSchema,
    price_type: priceTypeSchema,
    price_unit: z.string().optional(),
    price_unit_id: z.string().optional(),
    meter_id: z.string().optional(),
    meter_display_name: z.string().optional(),
    display_name: z.string(),
    currency: z.string(),
    quantity: z.string(),
    invoice_cadence: invoiceCadenceSchema,
    billing_period: billingPeriodSchema,
    billing_period_count: z.number().int(),
    start_date: instantSchema,
    end_date: instantSchema.optional(),
    ...shownCommitmentShape,
    subscription_phase_id: z.string().optional(),
    metadata: metadataSchema,
  })
  .meta({ id: 'SubscriptionLineItem' });
export type LineItem = z.output<typeof lineItemSchema>;

/** The subscription on the wire, as it stands inside of other records and messages (specification §2.19; hidden fields: D1). */
export const subscriptionSchema = z
  .object({
    ...recordStampsShape,
    status: recordStatusSchema,
    version: z.number().int(),
    subscription_status: subscriptionStatusSchema,
    subscription_type: subscriptionTypeSchema,
    parent_subscription_id: z.string().optional(),
    customer_id: z.string(),
    invoicing_customer_id: z.string(),
    customer_timezone: z.string(),
    plan_id: z.string(),
    lookup_key: z.string().optional(),
    currency: z.string(),
    billing_anchor: instantSchema,
    billing_cycle: billingCycleSchema,
    billing_cadence: z.literal('RECURRING'),
    billing_period: recurringPeriodSchema,
    billing_period_count: z.number().int(),
    start_date: instantSchema,
    end_date: instantSchema.optional(),
    trial_start: instantSchema.optional(),
    trial_end: instantSchema.optional(),
    current_period_start: instantSchema,
    current_period_end: instantSchema,
    cancel_at: instantSchema.optional(),
    cancel_at_period_end: z.boolean(),
    cancelled_at: instantSchema.optional(),
    proration_behavior: prorationBehaviorSchema,
    collection_method: collectionMethodSchema,
    payment_behavior: paymentBehaviorSchema,
    payment_terms: paymentTermsSchema.optional(),
    gateway_payment_method_id: z.string().optional(),
    auto_invoice_threshold: z.string().optional(),
    pause_status: pauseStatusSchema,
    active_pause_id: z.string().optional(),
    commitment_amount: z.string().optional(),
    commitment_duration: billingPeriodSchema.optional(),
    overage_factor: z.string(),
    enable_true_up: z.boolean(),
    line_items: z.array(lineItemSchema),
    credit_grants: z.array(creditGrantSchema),
    pauses: z.array(pauseSchema),
    phases: z.array(phaseSchema),
    coupon_associations: z.array(couponAssociationSchema),
    metadata: metadataSchema,
    plan: planSchema.optional(),
    customer: customerSchema.optional(),
  })
  .meta({ id: 'EmbeddedSubscription' });
export type SubscriptionResource = z.output<typeof subscriptionSchema>;

/** The same as its own routes answer it: with its latest invoice. One invoice makes one schema, as a name stands for one. */
export function subscriptionWithInvoiceSchema(invoice: z.ZodType<ShownInvoice>) {
  const schema = withInvoice.get(invoice) ?? extendedBy(invoice);
  withInvoice.set(invoice, schema);
  return schema;
}

const extendedBy = (invoice: z.ZodType<ShownInvoice>) =>
  subscriptionSchema
    .extend({
      latest_invoice: invoice
        .optional()
        .meta({ description: 'The last that was drafted; in lists without its lines' }),
    })
    .meta({ id: 'Subscription' });

const withInvoice = new WeakMap<z.ZodType, ReturnType<typeof extendedBy>>();

const settlementSumShape = settlementSchema.pick({
  credit_amount: true,
  charge_amount: true,
  net_amount: true,
  lines: true,
}).shape;

/** Charges and credits of something, as the answer of an operation shows it (D66). */
export const settlementSumSchema = z.object(settlementSumShape).meta({ id: 'SettlementSum' });
export type SettlementSum = z.output<typeof settlementSumSchema>;

/** A settlement as it is listed. */
export const settlementRecordSchema = settlementSchema
  .extend({
    ...recordStampsShape,
    status: recordStatusSchema,
    subscription_id: z.string(),
  })
  .omit({ settlement_id: true })
  .meta({ id: 'SettlementRecord' });
export type SettlementRecord = z.output<typeof settlementRecordSchema>;

/** Answer of POST /subscriptions/{id}/cancel. */
export const cancelledSchema = z
  .object({
    subscription_id: z.string(),
    status: subscriptionStatusSchema,
    cancellation_type: cancellationTypeSchema,
    effective_date: instantSchema,
    processed_at: instantSchema,
    reason: z.string().optional(),
    schedule_id: z.string().optional(),
    message: z.string(),
    total_credit_amount: z.string(),
    proration_details: z.array(
      z.object({
        line_item_id: z.string(),
        credit_amount: z.string(),
        charged_amount: z.string(),
        period_start: instantSchema,
        period_end: instantSchema,
      }),
    ),
    settlement: settlementSumSchema,
    subscription: subscriptionSchema,
  })
  .meta({ id: 'CancelledSubscription' });
export type CancelledSubscription = z.output<typeof cancelledSchema>;

/** It is to come, has come, or was taken back or overtaken. */
const scheduleStatusSchema = z.enum(['pending', 'executed', 'cancelled']);

/** A change of a subscription that was asked for ahead of its time. */
export const scheduleSchema = z
  .object({
    id: z.string(),
    subscription_id: z.string(),
    schedule_type: z.enum(['cancellation', 'plan_change']),
    schedule_status: scheduleStatusSchema,
    scheduled_at: instantSchema,
    cancellation_type: cancellationTypeSchema.optional(),
    target_plan_id: z.string().optional(),
    reason: z.string().optional(),
    executed_at: instantSchema.optional(),
    cancelled_at: instantSchema.optional(),
    created_at: instantSchema,
  })
  .meta({ id: 'SubscriptionSchedule' });
export type Schedule = z.output<typeof scheduleSchema>;

/** The same as a record of its own. */
export const scheduleRecordSchema = scheduleSchema
  .extend({ ...recordStampsShape, status: recordStatusSchema })
  .meta({ id: 'SubscriptionScheduleRecord' });

export const schedulesSchema = z
  .object({ schedules: z.array(scheduleSchema), count: z.number().int() })
  .meta({ id: 'SubscriptionSchedules' });
