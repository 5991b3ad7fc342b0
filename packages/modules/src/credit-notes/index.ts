import { module } from '@counterfoil/engine/define';
import { creditNote } from './credit-note.ts';
import { creditNoteTable } from './projection.ts';
import { creditNotePublicEvents } from './public-events.ts';
import { creditNotesCarriedOut, notesOfSettlements } from './reactions.ts';
import { creditNoteRoutes } from './routes.ts';

export { assertCorrectable, correctByNote } from './correction.ts';
export { creditNote } from './credit-note.ts';
export { creditNoteTable } from './projection.ts';
export { getCreditNote } from './queries.ts';
export type { CreditNoteResource } from './schema.ts';

/** Parts of final invoices that are given back, or not asked for. */
export const creditNotes = module({
  name: 'credit-notes',
  aggregates: [creditNote],
  tables: [creditNoteTable],
  routes: creditNoteRoutes,
  publicEvents: [creditNotePublicEvents],
  reactions: [creditNotesCarriedOut, notesOfSettlements],
});

/** The routes with their exact types, for the typed client. */
export type CreditNoteRoutes = typeof creditNoteRoutes;
