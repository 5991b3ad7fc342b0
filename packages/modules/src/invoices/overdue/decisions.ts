import type { Decision } from '@counterfoil/kernel';
import type { InvoiceEvent } from '../events.ts';
import type { InvoiceState } from '../invoice.ts';
import { fallsOverdueAt } from './falls-overdue.ts';

/** Notes that an invoice was not paid by its due date, once (E 15.7 B). No event before then, and none once it was paid. */
export const fallOverdue = (): Decision<InvoiceState, InvoiceEvent> => (state, at) => {
  const due = fallsOverdueAt(state);
  return due === null || due > at ? [] : [{ type: 'FellOverdue', data: { at: due } }];
};
