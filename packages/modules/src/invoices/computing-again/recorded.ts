import type { AskingContext } from '@counterfoil/engine/define';
import { type Invoice, type InvoiceState, invoice } from '../invoice.ts';

/** An invoice with the figures that were recorded last, and where. */
export interface RecordedInvoice {
  /** The invoice right after its figures were recorded. */
  readonly invoice: Invoice;
  /** The invoice as it is by now. */
  readonly current: Invoice;
  /** The position of the log at which its figures were computed: what other streams said up to there was known. */
  readonly computed_position: string;
}

/** The figures of an invoice as its stream has them. Null where there is none, or none have been computed yet. */
export async function recordedInvoice(
  context: Pick<AskingContext, 'history'>,
  id: string,
): Promise<RecordedInvoice | null> {
  let current: InvoiceState = invoice.initial;
  let recorded: Invoice | null = null;
  let position: string | null = null;
  for await (const event of context.history(invoice, id)) {
    current = invoice.evolve(current, event);
    switch (event.type) {
      case 'InvoiceComputed':
        recorded = current;
        ({ position } = event);
        break;
      case 'InvoiceFinalized':
      case 'InvoiceSkipped':
        recorded = current;
        position ??= event.position;
        break;
      default:
        break;
    }
  }
  return current && recorded && position !== null
    ? { invoice: recorded, current, computed_position: position }
    : null;
}
