import {
  expansion,
  type FilterOf,
  inTable,
  type Page,
  pageRequest,
  type RequestContext,
  searchFilters,
  where,
} from '@counterfoil/engine/define';
import { invoiceTable } from '../invoices/index.ts';
import { paymentTable } from './projection.ts';
import type { PaymentResource, PaymentsQuery } from './schema.ts';

/** The records that payments show inside when `expand` names them. */
export const paymentExpansion = expansion<PaymentResource>({
  invoice: {
    as: 'invoice',
    id: ({ destination_type, destination_id }) =>
      destination_type === 'INVOICE' ? destination_id : null,
    find: inTable(invoiceTable),
  },
});

/** A page of payments. */
export async function listPayments(
  context: RequestContext,
  query: PaymentsQuery & { readonly expand?: readonly string[] | undefined },
): Promise<Page<PaymentResource>> {
  const page = await context.read.list(paymentTable, pageRequest(paymentTable, query), [
    ...searchFilters(paymentTable, query),
    ...filtersOf(query),
  ]);
  return { ...page, items: await paymentExpansion.show(context, page.items, query.expand) };
}

const filtersOf = (query: PaymentsQuery): FilterOf<typeof paymentTable>[] => [
  ...where('id', 'in', query.payment_ids),
  ...where('destination_type', 'eq', query.destination_type),
  ...where('destination_id', 'eq', query.destination_id),
  ...where('payment_method_type', 'eq', query.payment_method_type),
  ...where('payment_status', 'eq', query.payment_status),
  ...where('payment_gateway', 'eq', query.payment_gateway),
  ...where('gateway_payment_id', 'eq', query.gateway_payment_id),
  ...where('gateway_tracking_id', 'eq', query.gateway_tracking_id),
  ...where('currency', 'eq', query.currency),
];
