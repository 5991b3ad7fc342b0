import {
  type FilterOf,
  type Page,
  pageRequest,
  type RequestContext,
  searchFilters,
  where,
} from '@counterfoil/engine/define';
import type { z } from 'zod';
import { customersWith } from '../customers/index.ts';
import { foundById } from '../record/index.ts';
import { invoiceExpansion } from './expansion.ts';
import type { InvoiceState } from './invoice.ts';
import { invoiceTable } from './projection.ts';
import type { InvoiceResource } from './schema.ts';
import type { invoiceSearchSchema } from './search-schema.ts';
import { invoiceView } from './view.ts';

type Expanding = { readonly expand?: readonly string[] | undefined };
type InvoiceSearch = Partial<z.output<typeof invoiceSearchSchema>> & Expanding;

/** One invoice with its customer, and with what `expand` asks for. Throws 404. */
export async function getInvoice(
  context: RequestContext,
  id: string,
  expand: readonly string[] = [],
) {
  const found = await foundById(context, invoiceTable, 'invoice', id);
  const [resource = found.resource] = await invoiceExpansion.show(
    context,
    [found.resource],
    expand,
  );
  return { ...found, resource };
}

/** The invoice that a write answers, with its customer. */
export async function shownInvoice(
  context: RequestContext,
  state: InvoiceState,
): Promise<InvoiceResource> {
  const resource = invoiceView(state);
  const [expanded = resource] = await invoiceExpansion.show(context, [resource]);
  return expanded;
}

/** One page of invoices. None are found for a customer that does not exist. */
export async function searchInvoices(
  context: RequestContext,
  search: InvoiceSearch,
): Promise<Page<InvoiceResource>> {
  const { items, pagination } = await context.read.list(
    invoiceTable,
    pageRequest(invoiceTable, search),
    [
      ...searchFilters(invoiceTable, search),
      ...invoiceFilters(search),
      ...where('customer_id', 'in', await customersWith(context, search.external_customer_id)),
    ],
  );
  const expanded = await invoiceExpansion.show(context, items, search.expand);
  return { items: search.skip_line_items ? expanded.map(withoutLines) : expanded, pagination };
}

const withoutLines = ({ line_items: _, ...invoice }: InvoiceResource): InvoiceResource => invoice;

const invoiceFilters = (search: InvoiceSearch): FilterOf<typeof invoiceTable>[] => [
  ...where('id', 'in', search.invoice_ids),
  ...where('customer_id', 'eq', search.customer_id),
  ...where('subscription_id', 'eq', search.subscription_id),
  ...where('subscription_customer_id', 'eq', search.subscription_customer_id),
  ...where('invoice_type', 'eq', search.invoice_type),
  ...where('invoice_status', 'in', search.invoice_status),
  ...where('payment_status', 'in', search.payment_status),
  ...where('billing_reason', 'eq', search.billing_reason),
  ...where('currency', 'eq', search.currency),
  ...where('amount_due', 'gt', search.amount_due_gt),
  ...where('amount_remaining', 'gt', search.amount_remaining_gt),
  ...where('period_start', 'gte', search.period_start_gte),
  ...where('period_start', 'lte', search.period_start_lte),
  ...where('period_end', 'gte', search.period_end_gte),
  ...where('period_end', 'lte', search.period_end_lte),
];
