import {
  type Change,
  type Embedded,
  type PublicEvent,
  type PublicEventTypes,
  publicEvents,
} from '@counterfoil/engine/define';
import { z } from 'zod';
import { customerRecords } from '../customers/index.ts';
import { type Invoice, invoice, invoiceView } from '../invoices/index.ts';
import { type CreditNoteState, creditNote } from './credit-note.ts';
import type { CreditNoteEvent } from './events.ts';
import { creditNoteSchema } from './schema.ts';
import { creditNoteView } from './view.ts';

const messages = {
  CreditNoteCreated: 'created',
  FinalizationAsked: null,
  CreditNoteFinalized: 'updated',
  FinalizationRefused: null,
  CreditNoteVoided: 'updated',
  WalletChosen: null,
} as const satisfies Readonly<Record<CreditNoteEvent['type'], string | null>>;

/** The message of an event, with the credit note as it is from then on (E 22.3). */
function creditNoteMessages(
  { event, after }: Change<CreditNoteState, CreditNoteEvent>,
  embedded: Embedded<'invoice' | 'customer'>,
): readonly PublicEvent[] {
  const message = messages[event.type];
  if (!after || message === null) return [];
  const body = { credit_note: { ...creditNoteView(after), ...embedded } };
  return [{ type: `credit_note.${message}`, resourceId: after.id, body }];
}

const body = z.object({ credit_note: creditNoteSchema });

const types: PublicEventTypes = {
  'credit_note.created': { summary: 'A credit note is created, as a draft', body },
  'credit_note.updated': { summary: 'A credit note is made final, or void', body },
};

/** The public events of credit notes, each with the invoice and the customer. */
export const creditNotePublicEvents = publicEvents(creditNote, creditNoteMessages, types, {
  invoice: {
    record: { aggregate: invoice, view: (state: unknown) => invoiceView(state as Invoice) },
    id: ({ after }) => after?.invoice_id,
  },
  customer: { record: customerRecords, id: ({ after }) => after?.customer_id },
});
