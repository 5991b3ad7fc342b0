import { unused } from '@counterfoil/engine/define';
import {
  clearable,
  currencySchema,
  decimal,
  decimalPlaces,
  instantSchema,
  metadataSchema,
  nonNegativeDecimalSchema,
  referenceSchema,
  requiredTextSchema,
  textSchema,
  zero,
} from '@counterfoil/kernel';
import { z } from 'zod';
import { taxBehaviorSchema, taxRateOverridesSchema } from '../../taxes/index.ts';
import { billingReasonSchema } from '../values.ts';

/** Lines, and coupons, of one invoice that a request gives at most. */
export const givenMaximum = { lines: 200, coupons: 50, taxes: 20 } as const;

const idSchema = clearable(z.string().max(64)).optional();
const nameSchema = clearable(textSchema(255)).optional();
const amountSchema = nonNegativeDecimalSchema(decimalPlaces.credits);
const pairsSchema = metadataSchema.nullish().transform((pairs) => pairs ?? {});
const couponIds = z.string().min(1).max(64);

/** A figure of the public contract that is computed here: given, it may say zero alone. */
const computedSchema = amountSchema
  .refine(
    (amount) => decimal(amount).eq(zero),
    'is computed from coupons, taxes, payments and credits: leave it out',
  )
  .meta({
    pattern: '^0+(\\.0+)?$',
    maximum: 0,
    example: '0',
    description: 'Computed: it may be zero or left out',
  })
  .nullish();

const givenLineSchema = z
  .object({
    display_name: nameSchema,
    amount: amountSchema,
    quantity: nonNegativeDecimalSchema(decimalPlaces.quantity),
    tax_behavior: taxBehaviorSchema.nullish().meta({
      description: 'Whether tax is in the amount (`inclusive`) or comes on top; default: exclusive',
    }),
    price_type: z.enum(['FIXED', 'USAGE']).nullish().meta({ description: 'Default: FIXED' }),
    price_id: idSchema,
    price_unit: nameSchema,
    price_unit_amount: nonNegativeDecimalSchema(decimalPlaces.price).nullish(),
    entity_type: nameSchema,
    entity_id: idSchema,
    plan_id: idSchema,
    plan_display_name: nameSchema,
    meter_id: idSchema,
    meter_display_name: nameSchema,
    subscription_id: idSchema,
    subscription_line_item_id: idSchema,
    period_start: instantSchema.nullish(),
    period_end: instantSchema.nullish(),
    adjusted_entitlement_quantity: nonNegativeDecimalSchema(decimalPlaces.quantity).nullish(),
    line_item_discount: computedSchema,
    invoice_level_discount: computedSchema,
    prepaid_credits_applied: computedSchema,
    commitment_info: unused,
    metadata: pairsSchema,
  })
  .meta({ id: 'NewInvoiceLineItem' });
export type GivenLine = z.output<typeof givenLineSchema>;

const invoiceCouponSchema = z
  .object({ coupon_id: couponIds, coupon_association_id: idSchema })
  .meta({ id: 'NewInvoiceCoupon' });

const lineCouponSchema = z
  .object({
    line_item_id: idSchema.meta({
      description: '`subscription_line_item_id` or `price_id` of its lines; without it: all',
    }),
    coupon_id: couponIds,
    coupon_association_id: idSchema,
  })
  .meta({ id: 'NewInvoiceLineCoupon' });

/** Body of POST /invoices (specification §11.3; D58). */
export const createInvoiceSchema = z
  .object({
    customer_id: referenceSchema('cust'),
    currency: currencySchema,
    subtotal: amountSchema.meta({ description: 'What the lines come to' }),
    total: amountSchema.meta({ description: 'The subtotal, or what it comes to in the end' }),
    amount_due: amountSchema.meta({ description: 'The subtotal, or what it comes to in the end' }),
    line_items: z
      .array(givenLineSchema)
      .max(givenMaximum.lines)
      .nullish()
      .meta({ description: 'Without any the subtotal is one line' }),
    subscription_id: referenceSchema('subs').nullish(),
    invoice_type: z.enum(['ONE_OFF', 'CREDIT']).default('ONE_OFF'),
    invoice_status: z
      .enum(['DRAFT', 'FINALIZED'])
      .default('FINALIZED')
      .meta({ description: 'Whether it is final at once' }),
    billing_reason: billingReasonSchema.default('MANUAL'),
    billing_period: nameSchema,
    invoice_number: requiredTextSchema(50).nullish(),
    description: clearable(textSchema(1024)).optional(),
    due_date: instantSchema.nullish(),
    period_start: instantSchema.nullish(),
    period_end: instantSchema.nullish(),
    invoice_pdf_url: clearable(textSchema(2048)).optional(),
    coupons: z.array(couponIds).max(givenMaximum.coupons).nullish(),
    invoice_coupons: z.array(invoiceCouponSchema).max(givenMaximum.coupons).nullish(),
    line_item_coupons: z.array(lineCouponSchema).max(givenMaximum.coupons).nullish(),
    tax_rates: z
      .array(referenceSchema('taxrate'))
      .max(givenMaximum.taxes)
      .nullish()
      .meta({ description: 'In place of those that apply to the customer' }),
    tax_rate_overrides: taxRateOverridesSchema.nullish(),
    amount_paid: computedSchema,
    total_prepaid_applied: computedSchema,
    payment_status: z.literal('PENDING').nullish(),
    prepared_tax_rates: z.array(z.unknown()).max(0, 'name rates in tax_rates').nullish(),
    idempotency_key: requiredTextSchema(255).optional(),
    issue_date: unused,
    force_sync_invoice: unused,
    metadata: pairsSchema,
  })
  .meta({ id: 'CreateInvoice' });
export type CreateInvoice = z.output<typeof createInvoiceSchema>;
