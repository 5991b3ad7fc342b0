import {
  type Decision,
  existing,
  invalidOperation,
  invariant,
  notFound,
  Problem,
  type WalletId,
} from '@counterfoil/kernel';
import { type AppliedNote, noteTaxOf, totalOf } from '../invoices/index.ts';
import type { CreditNote, CreditNoteState } from './credit-note.ts';
import type { CreditNoteEvent, CreditNoteEventData } from './events.ts';

type CreditNoteDecision = Decision<CreditNoteState, CreditNoteEvent>;
export type NewCreditNote = CreditNoteEventData<'CreditNoteCreated'>;

const asked: CreditNoteEvent = { type: 'FinalizationAsked', data: {} };

/** Creates a draft, and asks its invoice to take it at once where that is wanted. */
export const createCreditNote =
  (data: NewCreditNote, isProcessed: boolean): CreditNoteDecision =>
  (state) => {
    invariant(state === null, `credit note ${data.id} is created twice`);
    const created: CreditNoteEvent = { type: 'CreditNoteCreated', data };
    return isProcessed ? [created, asked] : [created];
  };

/** Asks the invoice to take a draft. On its way already, no event. Throws 400 for a note that is no draft. */
export const askFinalization =
  (id: string): CreditNoteDecision =>
  (state) => {
    const note = existingNote(state, id);
    if (note.is_finalizing) return [];
    assertStatus(note, ['DRAFT'], 'be made final');
    return [asked];
  };

/** Records a note that its invoice has taken already, because of a settlement: once, and final. */
export const recordSettled =
  (data: NewCreditNote, applied: AppliedNote): CreditNoteDecision =>
  (state) =>
    state === null
      ? [
          { type: 'CreditNoteCreated', data },
          { type: 'CreditNoteFinalized', data: finalData(applied) },
        ]
      : [];

/** Notes that the invoice has taken the note, with the figures that it has decided. */
export const finalizeCreditNote =
  (applied: AppliedNote): CreditNoteDecision =>
  (state) => {
    if (!existing(state, 'credit note').is_finalizing) return [];
    return [{ type: 'CreditNoteFinalized', data: finalData(applied) }];
  };

const finalData = (applied: AppliedNote): CreditNoteEventData<'CreditNoteFinalized'> => ({
  credit_note_type: applied.kind,
  taxes: applied.lines.map(noteTaxOf),
  total_amount: totalOf(applied),
  from: applied.kind === 'REFUND' ? applied.from : [],
  given_back: applied.given_back,
});

/** Notes why the invoice has not taken the note: it stays a draft. */
export const refuseFinalization =
  ({ code, message, details }: Problem): CreditNoteDecision =>
  (state) =>
    existing(state, 'credit note').is_finalizing
      ? [{ type: 'FinalizationRefused', data: { code, message, details: details ?? null } }]
      : [];

/**
 * Makes a draft void, or an adjustment: what it lowered is owed again. What was given back stays with the customer, so
 * that a refund is final, as is an adjustment that gave prepaid credits back (E 17). Throws 400 for those.
 */
export const voidCreditNote =
  (id: string): CreditNoteDecision =>
  (state) => {
    const note = existingNote(state, id);
    assertStatus(note, ['DRAFT', 'FINALIZED'], 'become void');
    if (note.is_finalizing) {
      const message = `Credit note ${id} is being made final. Send the request again.`;
      throw new Problem('service_unavailable', message, { retryAfterSeconds: 1 });
    }
    if (note.settlement_id !== null) {
      throw invalidOperation(
        `Credit note ${id} is of settlement ${note.settlement_id}, and cannot become void.`,
        { reason: 'immutable', settlement_id: note.settlement_id },
      );
    }
    const isFinal = note.credit_note_status === 'FINALIZED';
    if (isFinal && (note.credit_note_type === 'REFUND' || note.given_back.length > 0)) {
      throw invalidOperation(
        `Credit note ${id} has given back what was paid, and cannot become void.`,
        { reason: 'given_back', credit_note_type: note.credit_note_type },
      );
    }
    return [{ type: 'CreditNoteVoided', data: {} }];
  };

/** Remembers a wallet for the money of a note. Chosen before, no event. */
export const chooseWallet =
  (wallet_id: WalletId): CreditNoteDecision =>
  (state) =>
    existing(state, 'credit note').wallets.includes(wallet_id)
      ? []
      : [{ type: 'WalletChosen', data: { wallet_id } }];

/** The note. Throws 404 where there is none. */
export function existingNote(state: CreditNoteState, id: string): CreditNote {
  if (!state) throw notFound('credit note', id);
  return state;
}

function assertStatus(
  { id, credit_note_status }: CreditNote,
  allowed: readonly CreditNote['credit_note_status'][],
  purpose: string,
): void {
  if (allowed.includes(credit_note_status)) return;
  throw invalidOperation(`Credit note ${id} is ${credit_note_status} and cannot ${purpose}.`, {
    reason: 'credit_note_state',
    credit_note_status,
  });
}
