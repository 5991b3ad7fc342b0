import { dueWork } from '@counterfoil/engine/define';
import { invoice } from '../invoice.ts';
import { invoiceTable } from '../projection.ts';
import { fallOverdue } from './decisions.ts';

/** Tells of invoices whose due date has come and which are not paid. */
export const overdueInvoices = dueWork({
  name: 'overdue invoices',
  table: invoiceTable,
  column: 'falls_overdue_at',
  run: (context, id) => context.execute(invoice, id, fallOverdue()),
});
