import { derivedId, type InvoiceId, type InvoiceLineId } from '@counterfoil/kernel';
import type { BilledLine } from '../amounts.ts';
import type { InvoiceLine } from '../events.ts';

/** A line before it has its id. */
export type UnnamedLine = Omit<BilledLine, 'id'>;

/** A line of an invoice without its id, and without what was taken off it and added to it there. */
export function unnamed(line: InvoiceLine): UnnamedLine {
  const {
    id: _id,
    line_discount: _line,
    invoice_discount: _whole,
    credits: _credits,
    tax: _tax,
    included_tax: _included,
    ...rest
  } = line;
  return rest;
}

/**
 * Gives lines their ids: a line is known by its invoice, its line of the subscription, its kind and the start of its period
 * (E 15.6 B), so that computing an invoice again gives the same ones. Lines that agree in all of that are told apart by their order.
 */
export function named(invoiceId: InvoiceId, lines: readonly UnnamedLine[]): readonly BilledLine[] {
  const seen = new Map<string, number>();
  return lines.map((line) => {
    const { subscription_id, subscription_line_item_id, kind, period_start } = line;
    const key = [subscription_id, subscription_line_item_id, kind, period_start].join('\n');
    const number = (seen.get(key) ?? 0) + 1;
    seen.set(key, number);
    const id: InvoiceLineId = derivedId('inv_line', [invoiceId, key, number].join('\n'));
    return { id, ...line };
  });
}
