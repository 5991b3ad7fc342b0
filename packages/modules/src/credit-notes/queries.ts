import {
  expansion,
  inTable,
  type Page,
  pageRequest,
  type RequestContext,
  searchFilters,
  where,
} from '@counterfoil/engine/define';
import { customerRecords } from '../customers/index.ts';
import { invoiceTable } from '../invoices/index.ts';
import { foundById } from '../record/index.ts';
import { subscriptionTable } from '../subscriptions/index.ts';
import { creditNoteTable } from './projection.ts';
import type { CreditNoteResource, CreditNotesQuery } from './schema.ts';

/** The records that credit notes show inside: invoice and customer always (specification §2.21). */
export const creditNoteExpansion = expansion<CreditNoteResource>({
  invoice: {
    as: 'invoice',
    id: ({ invoice_id }) => invoice_id,
    find: inTable(invoiceTable),
    always: true,
  },
  customer: {
    as: 'customer',
    id: ({ customer_id }) => customer_id,
    find: inTable(customerRecords.table),
    always: true,
  },
  subscription: {
    as: 'subscription',
    id: ({ subscription_id }) => subscription_id,
    find: inTable(subscriptionTable),
  },
});

/** A credit note with what it shows of others. */
export async function shownNote(
  context: RequestContext,
  resource: CreditNoteResource,
  expand: readonly string[] = [],
): Promise<CreditNoteResource> {
  const [shown = resource] = await creditNoteExpansion.show(context, [resource], expand);
  return shown;
}

/** One credit note, with its invoice, its customer and what `expand` asks for. Throws 404. */
export async function getCreditNote(
  context: RequestContext,
  id: string,
  expand: readonly string[] = [],
): Promise<CreditNoteResource> {
  const { resource } = await foundById(context, creditNoteTable, 'credit note', id);
  return shownNote(context, resource, expand);
}

/** A page of credit notes. */
export async function listCreditNotes(
  context: RequestContext,
  query: CreditNotesQuery & { readonly expand?: readonly string[] | undefined },
): Promise<Page<CreditNoteResource>> {
  const page = await context.read.list(creditNoteTable, pageRequest(creditNoteTable, query), [
    ...searchFilters(creditNoteTable, query),
    ...where('id', 'in', query.credit_note_ids),
    ...where('invoice_id', 'eq', query.invoice_id),
    ...where('customer_id', 'eq', query.customer_id),
    ...where('subscription_id', 'eq', query.subscription_id),
    ...where('credit_note_number', 'eq', query.credit_note_number),
    ...where('credit_note_status', 'in', query.credit_note_status),
    ...where('credit_note_type', 'eq', query.credit_note_type),
  ]);
  return { ...page, items: await creditNoteExpansion.show(context, page.items, query.expand) };
}
