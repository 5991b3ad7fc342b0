import type { RequestContext } from '@counterfoil/engine/define';
import { type CreditNoteId, notFound } from '@counterfoil/kernel';
import {
  type AppliedNote,
  type Invoice,
  invoice,
  noteOn,
  noteTaxOf,
  totalOf,
} from '../invoices/index.ts';
import { assertReceives } from '../wallets/index.ts';
import type { NewCreditNote } from './decisions.ts';
import { numberOf } from './number.ts';
import { askedOf } from './reactions.ts';
import type { CreateCreditNote } from './schema.ts';

/**
 * The credit note that a request asks for, held against its invoice as it is now. Throws 404 for an invoice that does
 * not exist, and 400 where it has not enough left (D34, D59).
 */
export async function newCreditNote(
  context: RequestContext,
  id: CreditNoteId,
  body: CreateCreditNote,
): Promise<NewCreditNote> {
  const credited = await context.load(invoice, body.invoice_id);
  if (!credited) throw notFound('invoice', body.invoice_id, 'invoice_id');
  const names = new Map(credited.lines.map((line) => [line.id, line.display_name]));
  const lines = body.line_items.map(({ invoice_line_item_id, amount, display_name, metadata }) => ({
    id: context.newId('cn_line'),
    invoice_line_item_id,
    display_name: display_name ?? names.get(invoice_line_item_id) ?? '',
    amount,
    metadata,
  }));
  const note = noteOn(credited, askedOf({ id, lines }));
  await assertMoneyTaken(context, credited, note);
  return {
    id,
    credit_note_number: body.credit_note_number ?? numberOf(id),
    invoice_id: credited.id,
    customer_id: credited.customer_id,
    subscription_id: credited.subscription_id,
    currency: credited.currency,
    reason: body.reason,
    memo: body.memo ?? null,
    metadata: body.metadata,
    lines,
    credit_note_type: note.kind,
    taxes: note.lines.map(noteTaxOf),
    total_amount: totalOf(note),
    settlement_id: null,
    idempotency_key: context.idempotencyKey,
  };
}

/** Refuses to give money back that no wallet could take. Throws 400. */
export async function assertMoneyTaken(
  context: Pick<RequestContext, 'load' | 'read'>,
  credited: Invoice,
  note: AppliedNote,
): Promise<void> {
  if (note.kind === 'REFUND' && note.from.length > 0) await assertReceives(context, credited);
}
