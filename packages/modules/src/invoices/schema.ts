import {
  instantSchema,
  metadataSchema,
  recordStampsShape,
  recordStatusSchema,
} from '@counterfoil/kernel';
import { z } from 'zod';
import { couponSchema } from '../coupons/index.ts';
import { customerSchema } from '../customers/index.ts';
import { subscriptionSchema } from '../subscriptions/index.ts';
import {
  taxBehaviorSchema,
  taxExemptionSchema,
  taxFailureSchema,
  taxRateSchema,
} from '../taxes/index.ts';
import { usageOfGroupSchema, usageOfSourceSchema } from './line-usage/schema.ts';
import {
  billingReasonSchema,
  invoiceStatusSchema,
  invoiceTypeSchema,
  lineKindSchema,
  paymentStatusSchema,
} from './values.ts';

/** A text that is there in every answer, null while it has no value (D58). */
const textOrNull = z.string().nullable();
const instantOrNull = instantSchema.nullable();

const commitmentInfoSchema = z
  .object({
    amount: textOrNull,
    quantity: textOrNull,
    overage_factor: z.string(),
    true_up_enabled: z.boolean(),
    is_windowed: z.boolean(),
    computed_commitment_utilized_amount: z.string(),
    computed_overage_amount: z.string(),
    computed_true_up_amount: z.string(),
  })
  .meta({ id: 'InvoiceLineCommitment' });

/** A line on the wire (specification §2.20; E 27). */
export const invoiceLineSchema = z
  .object({
    ...recordStampsShape,
    status: recordStatusSchema,
    invoice_id: z.string(),
    customer_id: z.string(),
    subscription_id: textOrNull,
    subscription_line_item_id: textOrNull,
    line_kind: lineKindSchema,
    entity_id: textOrNull,
    entity_type: textOrNull,
    plan_display_name: textOrNull,
    price_id: textOrNull,
    price_type: z.enum(['FIXED', 'USAGE']),
    price_unit: textOrNull,
    price_unit_id: textOrNull,
    price_unit_amount: textOrNull,
    meter_id: textOrNull,
    meter_display_name: textOrNull,
    display_name: z.string(),
    currency: z.string(),
    quantity: z.string(),
    adjusted_entitlement_quantity: textOrNull,
    amount: z.string(),
    line_item_discount: z.string(),
    invoice_level_discount: z.string(),
    prepaid_credits_applied: z.string(),
    tax_behavior: taxBehaviorSchema.meta({
      description: 'Whether its tax is in the amount (`inclusive`), or comes on top (`exclusive`)',
    }),
    tax_amount: z.string(),
    period_start: instantOrNull,
    period_end: instantOrNull,
    commitment_info: commitmentInfoSchema.nullable(),
    usage_analytics: z
      .array(usageOfSourceSchema)
      .nullable()
      .meta({ description: 'Usage by source; null unless it is asked for' }),
    usage_breakdown: z
      .array(usageOfGroupSchema)
      .nullable()
      .meta({ description: 'Usage in groups; null unless they are asked for' }),
    metadata: metadataSchema,
  })
  .meta({ id: 'InvoiceLineItem' });
export type InvoiceLineResource = z.output<typeof invoiceLineSchema>;

/** The terms of a coupon as they were when it was applied. */
const couponSnapshotSchema = couponSchema
  .pick({
    id: true,
    name: true,
    type: true,
    amount_off: true,
    percentage_off: true,
    currency: true,
  })
  .meta({ id: 'CouponSnapshot' });

/** A discount on the wire (specification §2.20). */
export const couponApplicationSchema = z
  .object({
    ...recordStampsShape,
    status: recordStatusSchema,
    invoice_id: z.string(),
    invoice_line_item_id: textOrNull,
    subscription_id: textOrNull,
    coupon_id: z.string(),
    coupon_association_id: textOrNull,
    coupon_snapshot: couponSnapshotSchema,
    applied_at: instantSchema,
    currency: z.string(),
    discount_type: z.enum(['fixed', 'percentage']),
    discount_percentage: textOrNull,
    original_price: z.string(),
    discounted_amount: z.string(),
    final_price: z.string(),
    metadata: metadataSchema,
  })
  .meta({ id: 'CouponApplication' });
export type CouponApplication = z.output<typeof couponApplicationSchema>;

/** The terms of a tax rate as they were when it was applied. */
const taxSnapshotSchema = taxRateSchema
  .pick({
    id: true,
    code: true,
    name: true,
    tax_rate_type: true,
    percentage_value: true,
    fixed_value: true,
  })
  .extend({ id: textOrNull })
  .meta({ id: 'TaxRateSnapshot' });

/** A tax on the wire (specification §2.20). */
export const appliedTaxSchema = z
  .object({
    ...recordStampsShape,
    status: recordStatusSchema,
    entity_type: z.literal('invoice'),
    entity_id: z.string(),
    tax_rate_id: textOrNull.meta({
      description: 'Id of the rate; null: a tax provider has worked the tax out',
    }),
    tax_rate: taxSnapshotSchema,
    tax_association_id: textOrNull,
    currency: z.string(),
    taxable_amount: z.string(),
    tax_amount: z.string(),
    included_amount: z.string().meta({
      description: 'The part of `tax_amount` that is in the amounts of lines',
    }),
    applied_at: instantSchema,
    idempotency_key: textOrNull,
    metadata: metadataSchema,
  })
  .meta({ id: 'AppliedTax' });
export type AppliedTaxResource = z.output<typeof appliedTaxSchema>;

/** A failed attempt to learn the taxes of a draft from a tax provider. */
const taxFailureShown = z
  .object({
    reason: taxFailureSchema,
    message: z.string(),
    failures: z
      .number()
      .int()
      .meta({ description: 'Attempts that have failed one after the other' }),
    failed_at: instantSchema,
    retries_at: instantOrNull.meta({
      description: 'When it is tried again; null: when the draft is made final in its time',
    }),
  })
  .meta({ id: 'InvoiceTaxFailure' });

/** The invoice on the wire (specification §2.20; hidden fields: D1; what has no value yet is null: D58). */
export const invoiceSchema = z
  .object({
    ...recordStampsShape,
    status: recordStatusSchema,
    version: z.number().int(),
    invoice_type: invoiceTypeSchema,
    invoice_status: invoiceStatusSchema,
    payment_status: paymentStatusSchema,
    billing_reason: billingReasonSchema,
    invoice_number: textOrNull,
    billing_sequence: z.number().int().nullable(),
    customer_id: z.string(),
    subscription_id: textOrNull,
    subscription_customer_id: textOrNull,
    currency: z.string(),
    description: textOrNull,
    subtotal: z.string(),
    total_discount: z.string(),
    total_prepaid_credits_applied: z.string(),
    total_tax: z.string(),
    total_included_tax: z.string().meta({
      description:
        'The part of `total_tax` that is in the amounts of lines: the total is subtotal − discounts − credits + total_tax − total_included_tax',
    }),
    total: z.string(),
    adjustment_amount: z.string(),
    amount_due: z.string(),
    amount_paid: z.string(),
    amount_remaining: z.string(),
    overpaid_amount: z.string(),
    refunded_amount: z.string(),
    billing_period: textOrNull,
    period_start: instantOrNull,
    period_end: instantOrNull,
    due_date: instantOrNull,
    last_computed_at: instantOrNull,
    finalized_at: instantOrNull,
    paid_at: instantOrNull,
    voided_at: instantOrNull,
    overdue_at: instantOrNull,
    invoice_pdf_url: textOrNull,
    idempotency_key: textOrNull,
    recalculated_invoice_id: textOrNull,
    line_items: z
      .array(invoiceLineSchema)
      .optional()
      .meta({ description: 'Left out where a search asks for it' }),
    coupon_applications: z.array(couponApplicationSchema),
    taxes: z.array(appliedTaxSchema),
    tax_exemption: taxExemptionSchema
      .nullable()
      .meta({ description: 'Why no tax is taken that would be otherwise; null: none is left out' }),
    tax_failure: taxFailureShown.nullable().meta({
      description:
        'The last attempt to learn the taxes of a draft, which has failed: it is tried again. Null: there is none',
    }),
    metadata: metadataSchema,
    customer: customerSchema.optional(),
    subscription: subscriptionSchema.optional(),
  })
  .meta({ id: 'Invoice' });
export type InvoiceResource = z.output<typeof invoiceSchema>;
