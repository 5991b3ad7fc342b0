import type { WorkContext } from '@counterfoil/engine/define';
import {
  type CreditNoteId,
  type CreditNoteLineId,
  type DecimalText,
  derivedId,
  type InvoiceLineId,
} from '@counterfoil/kernel';
import { type Invoice, noteOn, noteTaxOf, totalOf } from '../invoices/index.ts';
import { creditNote } from './credit-note.ts';
import { createCreditNote } from './decisions.ts';
import { numberOf } from './number.ts';
import { assertMoneyTaken } from './prepare.ts';
import { askedOf } from './reactions.ts';

/** A credit note for lines of an invoice that cost less than was billed. */
export interface CorrectingNote {
  readonly lines: readonly { readonly line_id: string; readonly amount: DecimalText }[];
  readonly memo: string | null;
}

/** The lines of a correcting note under its id: theirs follow from it. */
const linesOf = (id: CreditNoteId, credited: Invoice, { lines }: CorrectingNote) =>
  lines.map(({ line_id, amount }) => ({
    id: derivedId('cn_line', `${id}\n${line_id}`) as CreditNoteLineId,
    invoice_line_item_id: line_id as InvoiceLineId,
    display_name: credited.lines.find((line) => line.id === line_id)?.display_name ?? '',
    amount,
    metadata: {},
  }));

/** Holds a correcting note against its invoice as it is now. Throws 400 where that has not enough left, or no wallet takes the money. */
export const assertCorrectable = (
  context: Pick<WorkContext, 'load' | 'read'>,
  id: CreditNoteId,
  credited: Invoice,
  note: CorrectingNote,
): Promise<void> =>
  assertMoneyTaken(
    context,
    credited,
    noteOn(credited, askedOf({ id, lines: linesOf(id, credited, note) })),
  );

/** Makes a credit note that corrects an invoice, once, and has the invoice take it. Throws 400 where that has not enough left. */
export async function correctByNote(
  context: Pick<WorkContext, 'execute'>,
  id: CreditNoteId,
  credited: Invoice,
  correcting: CorrectingNote,
): Promise<void> {
  await context.execute(creditNote, id, (state, at) => {
    if (state !== null) return [];
    const lines = linesOf(id, credited, correcting);
    const note = noteOn(credited, askedOf({ id, lines }));
    return createCreditNote(
      {
        id,
        credit_note_number: numberOf(id),
        invoice_id: credited.id,
        customer_id: credited.customer_id,
        subscription_id: credited.subscription_id,
        currency: credited.currency,
        reason: 'BILLING_ERROR',
        memo: correcting.memo,
        metadata: {},
        lines,
        credit_note_type: note.kind,
        taxes: note.lines.map(noteTaxOf),
        total_amount: totalOf(note),
        settlement_id: null,
        idempotency_key: null,
      },
      true,
    )(state, at);
  });
}
