import { recordProjection } from '@counterfoil/engine/define';
import { creditNote } from './credit-note.ts';
import { creditNoteView } from './view.ts';

/** One row per credit note. */
export const creditNoteTable = recordProjection(creditNote, {
  name: 'credit_notes',
  version: 1,
  view: creditNoteView,
  columns: {
    invoice_id: { type: 'text', of: (shown) => shown.invoice_id, index: true },
    customer_id: { type: 'text', of: (shown) => shown.customer_id, index: true },
    subscription_id: { type: 'text', of: (shown) => shown.subscription_id },
    credit_note_number: { type: 'text', of: (shown) => shown.credit_note_number, index: true },
    credit_note_status: { type: 'text', of: (shown) => shown.credit_note_status },
    credit_note_type: { type: 'text', of: (shown) => shown.credit_note_type },
    reason: { type: 'text', of: (shown) => shown.reason },
    currency: { type: 'text', of: (shown) => shown.currency },
    total_amount: { type: 'numeric', of: (shown) => shown.total_amount },
  },
});
