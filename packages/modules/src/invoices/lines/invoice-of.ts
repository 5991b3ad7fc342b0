import type { AskingContext } from '@counterfoil/engine/define';
import type { Settled } from '../../subscriptions/index.ts';
import { invoicedUnder, invoiceIdOf } from '../drafting/cause.ts';
import { type InvoiceState, invoice } from '../invoice.ts';
import { replacementOf } from '../recalculation/replace.ts';

/** The invoice of a settlement; of one that is void the one that bills it again, where there is one. */
export async function invoiceOf(
  context: Pick<AskingContext, 'load'>,
  { state, settlement }: Settled,
): Promise<InvoiceState> {
  let found = await context.load(
    invoice,
    invoiceIdOf(invoicedUnder(state, settlement), settlement),
  );
  while (found?.invoice_status === 'VOIDED') {
    const next: InvoiceState = await context.load(invoice, replacementOf(found.id));
    if (next === null) break;
    found = next;
  }
  return found;
}
