import type { RequestContext } from '@counterfoil/engine/define';
import { type DecimalText, decimal, type Instant, textOf } from '@counterfoil/kernel';
import { sql } from 'kysely';
import { customerReference } from '../../customers/index.ts';
import { invoiceTable } from '../projection.ts';
import type { CustomerInvoiceSummary, InvoiceSummary } from './schema.ts';

/** There are fewer currencies than this. */
const currenciesMaximum = 500;

/**
 * The sums of what a customer was invoiced, has paid, owes and owes since before now, in each currency. Only invoices that
 * are final count. It reads, and tells nobody (E 15.7 B). Throws 404.
 */
export async function customerInvoiceSummary(
  context: RequestContext,
  customer_id: string,
): Promise<CustomerInvoiceSummary> {
  await customerReference(context, { customer_id }, { id: 'id', externalId: 'external_id' });
  const rows = await context.read.query([invoiceTable], (from) =>
    from
      .selectFrom('invoices')
      .select('currency')
      .select(({ fn }) => [
        fn.countAll<string>().as('count'),
        sql<string>`sum(amount_due)`.as('due'),
        sql<string>`sum(amount_paid)`.as('paid'),
        sql<string>`sum(amount_remaining)`.as('unpaid'),
        sql<string>`count(*) filter (where amount_remaining > 0)`.as('unpaidCount'),
        sql<string>`coalesce(sum(amount_remaining) filter (where ${isOverdue(context.now)}), 0)`.as(
          'overdue',
        ),
        sql<string>`count(*) filter (where ${isOverdue(context.now)})`.as('overdueCount'),
        sql<string>`max(finalized_at)`.as('latest'),
      ])
      .where('customer_id', '=', customer_id)
      .where('invoice_status', '=', 'FINALIZED')
      .groupBy('currency')
      .orderBy('latest', 'desc')
      .limit(currenciesMaximum),
  );
  return {
    customer_id,
    default_currency: rows[0]?.currency ?? null,
    summaries: rows.map(summaryOf),
  };
}

const isOverdue = (now: Instant) =>
  sql<boolean>`amount_remaining > 0 and due_date < ${now}::timestamptz`;

interface SummaryRow {
  readonly currency: string | null;
  readonly count: string;
  readonly due: string;
  readonly paid: string;
  readonly unpaid: string;
  readonly unpaidCount: string;
  readonly overdue: string;
  readonly overdueCount: string;
}

const summaryOf = (row: SummaryRow): InvoiceSummary => ({
  currency: row.currency ?? '',
  total_revenue_amount: exact(row.due),
  total_paid_amount: exact(row.paid),
  total_unpaid_amount: exact(row.unpaid),
  total_overdue_amount: exact(row.overdue),
  total_invoice_count: Number(row.count),
  paid_invoice_count: Number(row.count) - Number(row.unpaidCount),
  unpaid_invoice_count: Number(row.unpaidCount),
  overdue_invoice_count: Number(row.overdueCount),
});

const exact = (sum: string): DecimalText => textOf(decimal(sum));
