import {
  aggregate,
  createdStamps,
  existing,
  type Instant,
  type RecordStamps,
  type Stamped,
  updatedStamps,
  type WalletId,
} from '@counterfoil/kernel';
import { type CreditNoteEvent, type CreditNoteEventData, creditNoteEvents } from './events.ts';
import type { CreditNoteStatus } from './values.ts';

/** A part of an invoice that is final, which is given back or not asked for. */
export interface CreditNote extends RecordStamps, CreditNoteEventData<'CreditNoteCreated'> {
  readonly credit_note_status: CreditNoteStatus;
  /** True from the moment at which its invoice is asked until it has decided. */
  readonly is_finalizing: boolean;
  /** The reason for which its invoice has not taken it the last time. */
  readonly refused: CreditNoteEventData<'FinalizationRefused'> | null;
  readonly given_back: CreditNoteEventData<'CreditNoteFinalized'>['given_back'];
  readonly finalized_at: Instant | null;
  readonly voided_at: Instant | null;
  /** Wallets that were chosen for its money, in their order. */
  readonly wallets: readonly WalletId[];
}

/** Null before it is created. */
export type CreditNoteState = CreditNote | null;

function evolve(state: CreditNoteState, event: Stamped<CreditNoteEvent>): CreditNoteState {
  if (event.type === 'CreditNoteCreated') {
    return {
      ...event.data,
      ...createdStamps(event.stamp),
      credit_note_status: 'DRAFT',
      is_finalizing: false,
      refused: null,
      given_back: [],
      finalized_at: null,
      voided_at: null,
      wallets: [],
    };
  }
  const note = { ...existing(state, 'credit note'), ...updatedStamps(event.stamp) };
  const at = event.stamp.occurred_at;
  switch (event.type) {
    case 'FinalizationAsked':
      return { ...note, is_finalizing: true, refused: null };
    case 'CreditNoteFinalized': {
      const { from: _, ...figures } = event.data;
      const ended = { is_finalizing: false, credit_note_status: 'FINALIZED' } as const;
      return { ...note, ...figures, ...ended, finalized_at: at };
    }
    case 'FinalizationRefused':
      return { ...note, is_finalizing: false, refused: event.data };
    case 'CreditNoteVoided':
      return { ...note, credit_note_status: 'VOIDED', voided_at: at };
    case 'WalletChosen':
      return { ...note, wallets: [...note.wallets, event.data.wallet_id] };
    default:
      return event satisfies never;
  }
}

/** Credit notes, one stream for each. Whether one counts is decided in the stream of its invoice. */
export const creditNote = aggregate({
  name: 'credit_note',
  scope: 'environment',
  events: creditNoteEvents,
  initial: null as CreditNoteState,
  evolve,
  unique: (state) =>
    state
      ? [
          {
            name: 'credit_note_number',
            value: state.credit_note_number,
            problem: `Another credit note has the number ${JSON.stringify(state.credit_note_number)}.`,
          },
        ]
      : [],
});
