import { decimal, existing, textOf, zero } from '@counterfoil/kernel';
import type { CreditNoteState } from './credit-note.ts';
import type { CreditNoteResource } from './schema.ts';

/** The credit note as the API, the read model and the webhooks show it (D58). */
export function creditNoteView(state: CreditNoteState): CreditNoteResource {
  const note = existing(state, 'credit note');
  const { tenant_id, environment_id, created_at, created_by, updated_at, updated_by } = note;
  const stamps = { tenant_id, environment_id, created_at, created_by, updated_at, updated_by };
  const isRefunded = note.credit_note_type === 'REFUND' && note.credit_note_status === 'FINALIZED';
  const tax = note.taxes.reduce((sum, each) => sum.plus(decimal(each)), zero);
  return {
    id: note.id,
    ...stamps,
    status: 'published',
    credit_note_number: note.credit_note_number,
    credit_note_status: note.credit_note_status,
    credit_note_type: note.credit_note_type,
    reason: note.reason,
    memo: note.memo,
    invoice_id: note.invoice_id,
    customer_id: note.customer_id,
    subscription_id: note.subscription_id,
    currency: note.currency,
    total_amount: note.total_amount,
    total_tax: textOf(tax),
    refund_status: isRefunded ? 'SUCCEEDED' : null,
    finalized_at: note.finalized_at,
    voided_at: note.voided_at,
    line_items: note.lines.map((line, index) => ({
      id: line.id,
      ...stamps,
      status: 'published',
      credit_note_id: note.id,
      invoice_line_item_id: line.invoice_line_item_id,
      display_name: line.display_name,
      amount: line.amount,
      tax_amount: note.taxes[index] ?? '0',
      currency: note.currency,
      metadata: line.metadata,
    })),
    idempotency_key: note.idempotency_key,
    metadata: note.metadata,
  };
}
