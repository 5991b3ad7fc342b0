import { dueWork } from '@counterfoil/engine/define';
import { finalizeDue } from '../decisions.ts';
import { invoice } from '../invoice.ts';
import { invoiceTable } from '../projection.ts';

/** Begins to make drafts final whose time has come. */
export const draftsDue = dueWork({
  name: 'invoices to be made final',
  table: invoiceTable,
  column: 'finalizes_at',
  run: (context, id) => context.execute(invoice, id, finalizeDue(id)),
});
