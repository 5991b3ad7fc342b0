import {
  type Decimal,
  type DecimalText,
  decimal,
  existing,
  smaller,
  textOf,
  zero,
  zeroText,
} from '@counterfoil/kernel';
import type { InvoiceDecision } from '../decisions.ts';
import type { InvoiceEventData } from '../events.ts';
import { amountsOf, type Invoice, type InvoicePayment } from '../invoice.ts';
import { moneyOf, sum } from './credited.ts';

/** Money that has come by a payment. */
export type SettledPayment = Omit<InvoiceEventData<'PaymentSettled'>, 'excess'>;

/** Payments whose money one invoice takes at most: each is part of its state. */
export const paymentsMaximum = 500;

/** Tells whether an invoice takes the money of another payment. */
export const hasRoom = ({ payments }: Pick<Invoice, 'payments'>): boolean =>
  payments.length < paymentsMaximum;

/**
 * Takes the money of a payment, once for each payment (E 16 B). All of it counts as paid; what exceeds what is owed is the
 * excess, which the customer gets as credits (D60). An invoice that is not final, or void, or has taken as many as it can, takes
 * none: no event, and the customer gets all of it.
 */
export const settlePayment =
  (payment: SettledPayment): InvoiceDecision =>
  (state) => {
    const invoice = existing(state, 'invoice');
    if (invoice.invoice_status !== 'FINALIZED' || paymentIn(invoice, payment.payment_id)) return [];
    if (!hasRoom(invoice)) return [];
    const over = decimal(payment.amount).minus(decimal(amountsOf(invoice).amount_remaining));
    const excess = over.cmp(zero) > 0 ? textOf(over) : zeroText;
    return [{ type: 'PaymentSettled', data: { ...payment, excess } }];
  };

/** The payment that an invoice has taken; undefined where it has not. */
export const paymentIn = ({ payments }: Invoice, paymentId: string): InvoicePayment | undefined =>
  payments.find(({ payment_id }) => payment_id === paymentId);

/** Money of a payment that is to go back to its sender. */
export interface AskedReturn {
  readonly payment_id: string;
  /** All that is to have gone back by then. */
  readonly returned: DecimalText;
  /** False: all of it or nothing. True: as much as the invoice still has. */
  readonly isPartAllowed: boolean;
}

/**
 * Gives money of a payment back to its sender, so that the invoice is owed again (D60): here, as for a void and for credit notes, so
 * that only one of them gives it. No event for what went back before, nor for what the customer has as credits by now.
 */
export const returnPayment =
  ({ payment_id, returned, isPartAllowed }: AskedReturn): InvoiceDecision =>
  (state) => {
    const invoice = existing(state, 'invoice');
    const payment = paymentIn(invoice, payment_id);
    if (invoice.invoice_status !== 'FINALIZED' || !payment) return [];
    const more = decimal(returned).minus(decimal(payment.returned));
    const amount = smaller(more, decimal(returnableOf(invoice, payment_id) ?? zeroText));
    if (amount.cmp(zero) <= 0 || (!isPartAllowed && amount.cmp(more) < 0)) return [];
    return [{ type: 'PaymentReturned', data: { payment_id, amount: textOf(amount) } }];
  };

/**
 * Notes what is known of a payment that has not come, which is the payment status of an invoice of which something is
 * owed. Nothing new, no event.
 */
export const notePayment =
  (noted: InvoiceEventData<'PaymentNoted'>): InvoiceDecision =>
  (state) => {
    const invoice = existing(state, 'invoice');
    if (invoice.invoice_status !== 'FINALIZED' || invoice.noted === noted.payment_status) return [];
    if (amountsOf(invoice).amount_remaining === zeroText) return [];
    return [{ type: 'PaymentNoted', data: noted }];
  };

/**
 * The money of a payment that can go back to its sender. Of an invoice that is void, or of a purchase whose order was dead, the
 * customer has it as credits (D60), as they have what a settlement gave back. Null where the invoice has not taken the payment.
 */
export function returnableOf(invoice: Invoice, paymentId: string): DecimalText | null {
  const payment = paymentIn(invoice, paymentId);
  if (!payment) return null;
  const isWithCustomer = invoice.invoice_status === 'VOIDED' || invoice.purchase === 'dead';
  if (isWithCustomer) return zeroText;
  const money = moneyOn(invoice);
  const own = money.find(({ payment_id }) => payment_id === paymentId)?.amount ?? zeroText;
  const given = moneyOf(invoice.given_back.flatMap(({ lines }) => lines));
  const rest = decimal(sum(money.map(({ amount }) => amount))).minus(decimal(given));
  return textOf(rest.cmp(zero) > 0 ? smaller(rest, decimal(own)) : zero);
}

/** A part of the money on an invoice, by the payment that brought it. */
export type PaymentPart = InvoiceEventData<'InvoiceRefunded'>['from'][number];

/**
 * The payments of which the invoice has money, the last first, each with what it has: neither credits of the customer by now, nor
 * given back.
 */
export const moneyOn = (invoice: Invoice): readonly PaymentPart[] => partsOn(invoice, () => true);

/** The part of `moneyOn` that credits of wallets have paid. */
export const creditsOn = (invoice: Invoice): readonly PaymentPart[] =>
  partsOn(invoice, ({ method }) => method === 'CREDITS');

function partsOn(
  { payments, notes }: Invoice,
  isWanted: (payment: InvoicePayment) => boolean,
): readonly PaymentPart[] {
  const refunded = new Map<string, Decimal>();
  for (const { payment_id, amount } of notes.flatMap((note) =>
    note.kind === 'REFUND' ? note.from : [],
  )) {
    refunded.set(payment_id, (refunded.get(payment_id) ?? zero).plus(decimal(amount)));
  }
  return payments
    .toReversed()
    .filter(isWanted)
    .flatMap(({ payment_id, amount, returned, excess }) => {
      const kept = decimal(amount).minus(decimal(returned)).minus(decimal(excess));
      const left = kept.minus(refunded.get(payment_id) ?? zero);
      return left.cmp(zero) > 0 ? [{ payment_id, amount: textOf(left) }] : [];
    });
}
