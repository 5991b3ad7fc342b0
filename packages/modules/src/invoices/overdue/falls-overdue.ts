import type { Instant } from '@counterfoil/kernel';
import { amountsOf, type InvoiceState } from '../invoice.ts';

/** The instant at which an invoice falls overdue unless it is paid by then; null where that cannot happen, or has. */
export const fallsOverdueAt = (state: InvoiceState): Instant | null =>
  state?.invoice_status === 'FINALIZED' &&
  state.overdue_at === null &&
  amountsOf(state).amount_remaining !== '0'
    ? state.due_date
    : null;
