import { recordProjection } from '@counterfoil/engine/define';
import type { Instant } from '@counterfoil/kernel';
import { type InvoiceState, invoice } from './invoice.ts';
import { endsSubscriptionAt, fallsOverdueAt } from './overdue/falls-overdue.ts';
import { owingOf } from './owed.ts';
import { invoiceView } from './view.ts';

/** The instant from which a draft is made final by itself; null where none is. */
const finalizesAt = (state: InvoiceState): Instant | null =>
  state?.invoice_status === 'DRAFT' && !state.is_finalizing ? state.finalizes_at : null;

/** One row per invoice. */
export const invoiceTable = recordProjection(invoice, {
  name: 'invoices',
  version: 4,
  view: invoiceView,
  columns: {
    customer_id: { type: 'text', of: (shown) => shown.customer_id, index: true },
    subscription_id: { type: 'text', of: (shown) => shown.subscription_id, index: true },
    subscription_customer_id: { type: 'text', of: (shown) => shown.subscription_customer_id },
    invoice_number: { type: 'text', of: (shown) => shown.invoice_number, index: true },
    invoice_type: { type: 'text', of: (shown) => shown.invoice_type },
    invoice_status: { type: 'text', of: (shown) => shown.invoice_status },
    payment_status: { type: 'text', of: (shown) => shown.payment_status },
    billing_reason: { type: 'text', of: (shown) => shown.billing_reason },
    currency: { type: 'text', of: (shown) => shown.currency },
    /** The way in which it counts for the balance of wallets. */
    owing: { type: 'text', of: (_shown, state) => owingOf(state) },
    total: { type: 'numeric', of: (shown) => shown.total },
    amount_due: { type: 'numeric', of: (shown) => shown.amount_due },
    amount_paid: { type: 'numeric', of: (shown) => shown.amount_paid },
    amount_remaining: { type: 'numeric', of: (shown) => shown.amount_remaining },
    period_start: { type: 'timestamptz', of: (shown) => shown.period_start },
    period_end: { type: 'timestamptz', of: (shown) => shown.period_end },
    due_date: { type: 'timestamptz', of: (shown) => shown.due_date },
    finalized_at: { type: 'timestamptz', of: (shown) => shown.finalized_at },
    finalizes_at: {
      type: 'timestamptz',
      of: (_shown, state) => finalizesAt(state),
      index: true,
    },
    falls_overdue_at: {
      type: 'timestamptz',
      of: (_shown, state) => fallsOverdueAt(state),
      index: true,
    },
    ends_subscription_at: {
      type: 'timestamptz',
      of: (_shown, state) => endsSubscriptionAt(state),
      index: true,
    },
  },
});
