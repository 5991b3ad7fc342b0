import { fromJson } from '@counterfoil/engine/define';
import { sql } from 'kysely';
import {
  type InvoiceLineResource,
  type InvoiceResource,
  invoiceTable,
} from '../../invoices/index.ts';
import { cellsOf, columnsOf, type ExportColumn, type ExportRow, summedColumns } from '../rows.ts';
import { effectiveIn, lateFor, recordedIn } from '../window.ts';
import type { ExportReads, ExportSource } from './source.ts';

/** The columns of the contract (E 23.3), and the place of the row in the log: a change brings a row again. */
const invoiceColumns: readonly ExportColumn[] = [
  ...columnsOf('text', 'id', 'tenant_id', 'environment_id', 'customer_id', 'subscription_id'),
  ...columnsOf('text', 'invoice_number', 'invoice_type', 'invoice_status', 'payment_status'),
  ...columnsOf('text', 'currency'),
  ...columnsOf('decimal', 'amount_due', 'amount_paid', 'amount_remaining', 'subtotal', 'total'),
  ...columnsOf('decimal', 'total_discount', 'total_tax', 'adjustment_amount', 'refunded_amount'),
  ...columnsOf('integer', 'billing_sequence'),
  ...columnsOf('text', 'description'),
  ...columnsOf('instant', 'due_date', 'paid_at', 'voided_at', 'finalized_at'),
  ...columnsOf('text', 'billing_period'),
  ...columnsOf('instant', 'period_start', 'period_end'),
  ...columnsOf('text', 'invoice_pdf_url', 'billing_reason'),
  ...columnsOf('json', 'metadata'),
  ...columnsOf('text', 'idempotency_key'),
  ...columnsOf('integer', 'version'),
  ...columnsOf('text', 'status', 'created_by', 'updated_by'),
  ...columnsOf('instant', 'created_at', 'updated_at'),
  ...columnsOf('integer', 'revision', 'position'),
];

/** The columns of a line, and what tells which state of its invoice it is of. */
const lineColumns: readonly ExportColumn[] = [
  ...columnsOf('text', 'id', 'tenant_id', 'environment_id', 'invoice_id', 'invoice_number'),
  ...columnsOf('text', 'invoice_status', 'customer_id', 'subscription_id'),
  ...columnsOf('text', 'subscription_line_item_id', 'line_kind', 'entity_id', 'entity_type'),
  ...columnsOf('text', 'plan_display_name', 'price_id', 'price_type', 'price_unit'),
  ...columnsOf('decimal', 'price_unit_amount'),
  ...columnsOf('text', 'meter_id', 'meter_display_name', 'display_name', 'currency'),
  ...columnsOf('decimal', 'quantity', 'amount', 'line_item_discount', 'invoice_level_discount'),
  ...columnsOf('decimal', 'prepaid_credits_applied', 'tax_amount'),
  ...columnsOf('instant', 'period_start', 'period_end'),
  ...columnsOf('json', 'commitment_info', 'metadata'),
  ...columnsOf('instant', 'updated_at'),
  ...columnsOf('integer', 'revision', 'position'),
];

/** An invoice with its place in its stream and in the log. */
interface PlacedInvoice {
  readonly invoice: InvoiceResource;
  readonly revision: string;
  readonly position: string;
}

const placed = {
  recorded: sql.ref('invoices.updated_at'),
  position: sql.ref('invoices.position'),
};
const created = sql.ref('invoices.created_at');

/** The invoices that changed in the window, or were created in it, each as it is now. */
async function* invoicesOf({ run, reads }: ExportReads) {
  const isEffective = run.job_config.window_by === 'effective';
  const isWanted = isEffective
    ? effectiveIn(created, placed.position, run)
    : recordedIn(placed, run);
  const portions = reads.rows([invoiceTable], (from) =>
    from
      .selectFrom('invoices')
      .select(['resource', 'revision', 'position'])
      .where(isWanted)
      .orderBy(sql`position`)
      .orderBy('id'),
  );
  for await (const portion of portions) {
    yield portion.map(
      ({ resource, ...place }): PlacedInvoice => ({ ...place, invoice: fromJson(resource) }),
    );
  }
}

async function late({ run, reads }: ExportReads): Promise<number | null> {
  if (run.job_config.window_by !== 'effective') return null;
  const counted = reads.rows([invoiceTable], (from) =>
    from
      .selectFrom('invoices')
      .select((row) => row.fn.countAll<string>().as('count'))
      .where(lateFor(created, placed.position, run)),
  );
  for await (const [row] of counted) return +(row?.count ?? 0);
  return 0;
}

const invoiceRow = ({ invoice, ...place }: PlacedInvoice): ExportRow =>
  cellsOf(invoiceColumns, { ...invoice, ...place });

const lineRows = ({ invoice, ...place }: PlacedInvoice): ExportRow[] => {
  const { invoice_number, invoice_status, updated_at } = invoice;
  const own = { invoice_number, invoice_status, updated_at, ...place };
  const lines: readonly InvoiceLineResource[] = invoice.line_items ?? [];
  return lines.map((line) => cellsOf(lineColumns, { ...line, ...own }));
};

const source = (
  columns: readonly ExportColumn[],
  sums: readonly string[],
  rowsOf: (invoice: PlacedInvoice) => readonly ExportRow[],
): ExportSource => ({
  columns: () => columns,
  summed: (all) => summedColumns(all, 'currency', ...sums),
  tables: [invoiceTable.name],
  needsUsage: false,
  async *rows(reads) {
    for await (const invoices of invoicesOf(reads)) yield invoices.flatMap(rowsOf);
  },
  late,
});

/** Invoices: a row whenever one has changed. */
export const invoicesSource = source(
  invoiceColumns,
  [
    'subtotal',
    'total',
    'total_discount',
    'total_tax',
    'amount_due',
    'amount_paid',
    'amount_remaining',
  ],
  (invoice) => [invoiceRow(invoice)],
);

/** The lines of these invoices. */
export const invoiceLinesSource = source(
  lineColumns,
  [
    'amount',
    'line_item_discount',
    'invoice_level_discount',
    'prepaid_credits_applied',
    'tax_amount',
  ],
  lineRows,
);
