import { existing, type RecordStamps } from '@counterfoil/kernel';
import { includedTaxOf, taxOf } from './amounts.ts';
import type { AppliedCoupon, AppliedTax, InvoiceLine } from './events.ts';
import { amountsOf, type Invoice, type InvoiceState, paymentStatusOf } from './invoice.ts';
import type {
  AppliedTaxResource,
  CouponApplication,
  InvoiceLineResource,
  InvoiceResource,
} from './schema.ts';

/** The stamps of an invoice, which its parts share: they come and go with it. */
const stampsOf = (invoice: RecordStamps) => ({
  tenant_id: invoice.tenant_id,
  environment_id: invoice.environment_id,
  created_at: invoice.created_at,
  created_by: invoice.created_by,
  updated_at: invoice.updated_at,
  updated_by: invoice.updated_by,
});

/** A line of an invoice as the API shows it. */
export function invoiceLineView(invoice: Invoice, line: InvoiceLine): InvoiceLineResource {
  const { id, kind, free_quantity, credits, commitment, rules: _rules, ...rest } = line;
  const { line_discount, invoice_discount, tax: _tax, included_tax: _in, ...shown } = rest;
  return {
    id,
    ...stampsOf(invoice),
    status: 'published',
    invoice_id: invoice.id,
    customer_id: invoice.customer_id,
    currency: invoice.currency,
    line_kind: kind,
    ...shown,
    adjusted_entitlement_quantity: free_quantity,
    line_item_discount: line_discount,
    invoice_level_discount: invoice_discount,
    prepaid_credits_applied: credits,
    tax_behavior: line.tax_behavior ?? 'exclusive',
    tax_amount: taxOf(line),
    commitment_info: commitment && {
      amount: commitment.amount,
      quantity: commitment.quantity,
      overage_factor: commitment.overage_factor,
      true_up_enabled: commitment.true_up_enabled,
      is_windowed: commitment.is_windowed,
      computed_commitment_utilized_amount: commitment.utilized,
      computed_overage_amount: commitment.overage,
      computed_true_up_amount: commitment.true_up,
    },
    usage_analytics: null,
    usage_breakdown: null,
  };
}

function couponApplicationView(invoice: Invoice, coupon: AppliedCoupon): CouponApplication {
  const { line_id, name, discount, ...shown } = coupon;
  return {
    ...shown,
    ...stampsOf(invoice),
    status: 'published',
    invoice_id: invoice.id,
    invoice_line_item_id: line_id,
    coupon_snapshot: { id: coupon.coupon_id, name, ...discount },
    applied_at: invoice.last_computed_at ?? invoice.created_at,
    currency: invoice.currency,
    discount_type: discount.type,
    discount_percentage: discount.type === 'percentage' ? discount.percentage_off : null,
    metadata: {},
  };
}

function appliedTaxView(invoice: Invoice, tax: AppliedTax): AppliedTaxResource {
  const { id, tax_rate_id, tax_association_id, code, name, percentage, fixed } = tax;
  const value =
    percentage === null
      ? { tax_rate_type: 'fixed' as const, ...(fixed !== null && { fixed_value: fixed }) }
      : { tax_rate_type: 'percentage' as const, percentage_value: percentage };
  return {
    id,
    ...stampsOf(invoice),
    status: 'published',
    entity_type: 'invoice',
    entity_id: invoice.id,
    tax_rate_id,
    tax_rate: { id: tax_rate_id, code, name, ...value },
    tax_association_id,
    currency: invoice.currency,
    taxable_amount: tax.taxable_amount,
    tax_amount: tax.tax_amount,
    included_amount: tax.included_amount ?? '0',
    applied_at: invoice.last_computed_at ?? invoice.created_at,
    idempotency_key: null,
    metadata: {},
  };
}

/** The invoice as the API, the read model and the webhooks show it: every member is there, null without a value (D58). */
export function invoiceView(state: InvoiceState): InvoiceResource {
  const invoice = existing(state, 'invoice');
  return {
    id: invoice.id,
    ...stampsOf(invoice),
    status: 'published',
    version: invoice.version,
    invoice_type: invoice.invoice_type,
    invoice_status: invoice.invoice_status,
    payment_status: paymentStatusOf(invoice),
    billing_reason: invoice.billing_reason,
    invoice_number: invoice.invoice_number ?? invoice.given_number,
    billing_sequence: invoice.billing_sequence,
    customer_id: invoice.customer_id,
    subscription_id: invoice.subscription_id,
    subscription_customer_id: invoice.subscription_customer_id,
    currency: invoice.currency,
    description: invoice.description,
    subtotal: invoice.subtotal,
    total_discount: invoice.total_discount,
    total_prepaid_credits_applied: invoice.total_credits,
    total_tax: invoice.total_tax,
    total_included_tax: includedTaxOf(invoice),
    total: invoice.total,
    ...amountsOf(invoice),
    billing_period: invoice.billing_period,
    period_start: invoice.period_start,
    period_end: invoice.period_end,
    due_date: invoice.due_date,
    last_computed_at: invoice.last_computed_at,
    finalized_at: invoice.finalized_at,
    paid_at: invoice.paid_at,
    voided_at: invoice.voided_at,
    overdue_at: invoice.overdue_at,
    invoice_pdf_url: invoice.invoice_pdf_url,
    idempotency_key: invoice.idempotency_key,
    recalculated_invoice_id: invoice.recalculated_invoice_id,
    line_items: invoice.lines.map((line) => invoiceLineView(invoice, line)),
    coupon_applications: invoice.coupons.map((coupon) => couponApplicationView(invoice, coupon)),
    taxes: invoice.taxes.map((tax) => appliedTaxView(invoice, tax)),
    tax_exemption: invoice.tax_exemption,
    tax_failure: invoice.tax_failure && {
      reason: invoice.tax_failure.reason,
      message: invoice.tax_failure.message,
      failures: invoice.tax_failure.times,
      failed_at: invoice.tax_failure.at,
      retries_at: invoice.tax_failure.retries_at,
    },
    metadata: invoice.metadata,
  };
}
