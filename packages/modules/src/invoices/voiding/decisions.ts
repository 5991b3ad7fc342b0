import { decimal, invalidOperation, textOf, zero } from '@counterfoil/kernel';
import { existingInvoice, type InvoiceDecision } from '../decisions.ts';
import { assertNotFinalizing } from '../editing/decisions.ts';
import { amountsOf, type Invoice, paymentStatusOf } from '../invoice.ts';

/**
 * Makes an invoice void (E 15.5 B, D58, D60). What was paid and not given back yet goes to a wallet of the customer, and
 * prepaid credits go back to their lots: by a reaction, from the figures here. Throws 400 for one that is void already, that was
 * refunded wholly, or of which a payment is under way.
 */
export const voidInvoice =
  (id: string): InvoiceDecision =>
  (state) => {
    const invoice = existingInvoice(state, id);
    assertVoidable(invoice);
    assertNotFinalizing(invoice);
    const { amount_paid, overpaid_amount, refunded_amount } = amountsOf(invoice);
    // What was paid beyond what was owed went to the customer when it came.
    const money = decimal(amount_paid)
      .minus(decimal(overpaid_amount))
      .minus(decimal(refunded_amount));
    return [
      {
        type: 'InvoiceVoided',
        data: {
          money: textOf(money.cmp(zero) > 0 ? money : zero),
          taken: [...invoice.taken],
        },
      },
    ];
  };

function assertVoidable(invoice: Invoice): void {
  const { id, invoice_status } = invoice;
  if (invoice_status === 'VOIDED') {
    throw invalidOperation(`Invoice ${id} is void already.`, { reason: 'voided', invoice_status });
  }
  const payment_status = paymentStatusOf(invoice);
  if (payment_status === 'REFUNDED') {
    throw invalidOperation(
      `Invoice ${id} was refunded wholly: there is nothing left that could be void.`,
      { reason: 'refunded', payment_status },
    );
  }
  if (payment_status === 'INITIATED' || payment_status === 'PROCESSING') {
    throw invalidOperation(
      `A payment of invoice ${id} is under way. Void the invoice when that has come or failed.`,
      { reason: 'payment_under_way', payment_status },
    );
  }
}
