import { projection, type RequestContext } from '@counterfoil/engine/define';
import { createdStamps, type RecordStamps, updatedStamps } from '@counterfoil/kernel';
import { invoiceExpansion } from '../expansion.ts';
import { invoice } from '../invoice.ts';
import { invoiceTable } from '../projection.ts';
import type { InvoiceResource } from '../schema.ts';

/** The latest invoice of a subscription. */
interface Latest extends RecordStamps {
  /** That of the subscription. */
  readonly id: string;
  readonly status: 'published';
  readonly invoice_id: string;
  /** Its number among the invoices of the subscription. */
  readonly billing_sequence: number;
}

/**
 * The latest invoice of each subscription: the one with the highest number of its own sequence, and of one that bills a void one
 * again the newer. An invoice of the caller's is none of the subscription.
 */
export const latestInvoiceTable = projection(invoice, {
  name: 'latest_invoices',
  version: 1,
  keys: (event) => {
    if (event.type !== 'InvoiceDrafted') return [];
    const { subscription_id: id, billing_sequence } = event.data;
    return id === null || billing_sequence === null ? [] : [id];
  },
  fold: (row: Latest | null, event, id): Latest | null => {
    if (event.type !== 'InvoiceDrafted') return row;
    const billing_sequence = event.data.billing_sequence ?? 0;
    if (row !== null && row.billing_sequence > billing_sequence) return row;
    const { stamp, aggregate_id: invoice_id } = event;
    const stamps = { ...(row ?? createdStamps(stamp)), ...updatedStamps(stamp) };
    return { ...stamps, id, status: 'published', invoice_id, billing_sequence };
  },
  view: (row: Latest) => row,
});

/** The latest invoices of subscriptions with their customers, by the ids of the subscriptions: two look-ups, however many they are. */
export async function latestInvoices(
  context: RequestContext,
  ids: readonly string[],
  { isList }: { readonly isList: boolean },
): Promise<ReadonlyMap<string, InvoiceResource>> {
  const latest = await context.read.findMany(latestInvoiceTable, ids);
  const named = [...latest.values()].map(({ invoice_id }) => invoice_id);
  if (named.length === 0) return new Map();
  const found = await context.read.findMany(invoiceTable, named);
  const shown = await invoiceExpansion.show(context, [...found.values()]);
  const byId = new Map(shown.map((each) => [each.id, isList ? withoutLines(each) : each]));
  return new Map(
    [...latest].flatMap(([id, { invoice_id }]) => {
      const own = byId.get(invoice_id);
      return own === undefined ? [] : [[id, own] as const];
    }),
  );
}

const withoutLines = ({ line_items: _, ...rest }: InvoiceResource): InvoiceResource => rest;
