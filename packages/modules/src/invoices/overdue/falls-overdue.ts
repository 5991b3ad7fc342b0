import type { Instant } from '@counterfoil/kernel';
import { amountsOf, type InvoiceState } from '../invoice.ts';

/** The instant at which an invoice falls overdue unless it is paid by then; null where that cannot happen, or has. */
export const fallsOverdueAt = (state: InvoiceState): Instant | null =>
  isOwed(state) && state?.overdue_at === null ? state.due_date : null;

/** The instant at which the subscription of an invoice ends because of it; null where it does not, or has. */
export const endsSubscriptionAt = (state: InvoiceState): Instant | null =>
  isOwed(state) ? (state?.ends_subscription_at ?? null) : null;

const isOwed = (state: InvoiceState): boolean =>
  state?.invoice_status === 'FINALIZED' && amountsOf(state).amount_remaining !== '0';
