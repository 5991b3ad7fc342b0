import type { Instant } from '@counterfoil/kernel';
import { amountsOf, type Invoice, type InvoiceState, isPaymentUnderWay } from '../invoice.ts';

/** The instant at which an invoice falls overdue unless it is paid by then; null where that cannot happen, or has. */
export const fallsOverdueAt = (state: InvoiceState): Instant | null =>
  isOwed(state) && state.overdue_at === null ? state.due_date : null;

/**
 * The instant at which the subscription of an invoice ends because of it; null where it does not, or has. A payment that is under way is
 * waited for.
 */
export const endsSubscriptionAt = (state: InvoiceState): Instant | null =>
  isOwed(state) && !isPaymentUnderWay(state) ? state.ends_subscription_at : null;

const isOwed = (state: InvoiceState): state is Invoice =>
  state?.invoice_status === 'FINALIZED' && amountsOf(state).amount_remaining !== '0';
