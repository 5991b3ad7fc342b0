import { type DecimalText, decimal, invalidOperation, textOf, zero } from '@counterfoil/kernel';
import { existingInvoice, type InvoiceDecision } from '../decisions.ts';
import { assertNotFinalizing } from '../editing/decisions.ts';
import type { TakenCredits } from '../events.ts';
import { type Invoice, isPaymentUnderWay, paymentStatusOf } from '../invoice.ts';
import { assertPurchaseOpen } from '../settling/notes.ts';
import { creditsOn, moneyOn } from '../settling/payments.ts';

/**
 * Makes an invoice void (E 15.5 B, D58, D60). What was paid and not given back yet goes to a wallet of the customer, and
 * prepaid credits go back to their lots: by a reaction, from the figures here. Throws 400 for one that is void already, that was
 * refunded wholly, of which a settlement gave a part back, or of which a payment is under way.
 */
export const voidInvoice =
  (id: string): InvoiceDecision =>
  (state) => {
    const invoice = existingInvoice(state, id);
    assertVoidable(invoice);
    assertNotFinalizing(invoice);
    assertPurchaseOpen(invoice, 'become void');
    return [
      { type: 'InvoiceVoided', data: { money: moneyLeft(invoice), taken: creditsLeft(invoice) } },
    ];
  };

/**
 * The money on an invoice: what was paid beyond what was owed, or was given back, is with the customer; credits that a wallet
 * has paid with go back to it (`creditsOn`).
 */
export function moneyLeft(invoice: Invoice): DecimalText {
  const back = new Set(creditsOn(invoice).map(({ payment_id }) => payment_id));
  const money = moneyOn(invoice).filter(({ payment_id }) => !back.has(payment_id));
  return textOf(money.reduce((sum, { amount }) => sum.plus(decimal(amount)), zero));
}

/** The prepaid credits that an invoice has taken, less those that credit notes have given back. */
function creditsLeft({ taken, notes }: Invoice): TakenCredits[] {
  const back = notes.flatMap(({ given_back }) => given_back);
  return taken.flatMap((part) => {
    const own = back.filter(({ hold_id }) => hold_id === part.hold_id);
    const left = (name: 'credits' | 'amount') =>
      own.reduce((rest, each) => rest.minus(decimal(each[name])), decimal(part[name]));
    const [credits, amount] = [left('credits'), left('amount')];
    if (credits.cmp(zero) <= 0) return [];
    return [{ ...part, credits: textOf(credits), amount: textOf(amount) }];
  });
}

function assertVoidable(invoice: Invoice): void {
  const { id, invoice_status } = invoice;
  if (invoice_status === 'VOIDED') {
    throw invalidOperation(`Invoice ${id} is void already.`, { reason: 'voided', invoice_status });
  }
  const [given] = invoice.given_back;
  if (given !== undefined) {
    throw invalidOperation(
      `A part of invoice ${id} was given back when its subscription changed (${given.settlement_id}). Credit the rest by a credit note.`,
      { reason: 'refunded', settlement_id: given.settlement_id },
    );
  }
  const payment_status = paymentStatusOf(invoice);
  if (payment_status === 'REFUNDED') {
    throw invalidOperation(
      `Invoice ${id} was refunded wholly: there is nothing left that could be void.`,
      { reason: 'refunded', payment_status },
    );
  }
  if (isPaymentUnderWay(invoice)) {
    throw invalidOperation(
      `A payment of invoice ${id} is under way. Void the invoice when that has come or failed.`,
      { reason: 'payment_under_way', payment_status },
    );
  }
}
