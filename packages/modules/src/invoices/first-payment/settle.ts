import type { WorkContext } from '@counterfoil/engine/define';
import type { Instant } from '@counterfoil/kernel';
import {
  type AwaitedSettlement,
  endUnpaid,
  noteFirstPayment,
  type Subscription,
  subscription,
} from '../../subscriptions/index.ts';
import type { InvoiceDecision } from '../decisions.ts';
import { belongsTo } from '../drafting/cause.ts';
import {
  amountsOf,
  type Invoice,
  type InvoiceState,
  invoice,
  isPaymentUnderWay,
  paymentStatusOf,
} from '../invoice.ts';
import { voidInvoice } from '../voiding/decisions.ts';

/** The subscription whose first payment an invoice asks for; null where it is none, or was paid. */
export async function awaitedBy(
  context: Pick<WorkContext, 'load'>,
  { cause }: Pick<Invoice, 'cause'>,
): Promise<Subscription | null> {
  if (cause.kind !== 'settlements') return null;
  const sold = await context.load(subscription, cause.subscription_id);
  const isIt = sold !== null && sold.awaits !== null && belongsTo(cause, sold.awaits);
  return isIt ? sold : null;
}

/**
 * Brings an opening invoice and a subscription that waits for its payment together (ADR 47): paid, the subscription is active; void, it ends; and
 * where it has ended without being paid, the invoice becomes void. Nothing to do, nothing done, however often.
 */
export async function settleFirstPayment(context: WorkContext, id: string): Promise<void> {
  const billed = await context.load(invoice, id);
  const sold = billed && (await awaitedBy(context, billed));
  if (!billed || !sold) return;
  const { cause } = billed;
  const isOfIt = (awaited: AwaitedSettlement): boolean =>
    cause.kind === 'settlements' && belongsTo(cause, awaited);
  if (sold.subscription_status === 'cancelled') {
    await context.execute(invoice, id, voidWithSubscription(id));
  } else if (billed.invoice_status === 'VOIDED') {
    await context.execute(subscription, sold.id, endUnpaid(isOfIt));
  } else if (isNothingOwed(billed)) {
    await context.execute(subscription, sold.id, noteFirstPayment(id, isOfIt));
  }
}

const isNothingOwed = (billed: Invoice): boolean =>
  billed.invoice_status === 'SKIPPED' ||
  (billed.invoice_status === 'FINALIZED' && amountsOf(billed).amount_remaining === '0');

/**
 * Makes the invoice of a subscription void that has ended before it was paid for. One that is not final yet becomes void when it is,
 * and one of which a payment is under way when that has come or failed. No event for one that is over.
 */
const voidWithSubscription =
  (id: string): InvoiceDecision =>
  (state, at) =>
    isVoidable(state) ? voidInvoice(id)(state, at) : [];

/** Makes an opening invoice void whose time is over, unless it was paid or a payment is under way. */
export const voidUnpaidOpening =
  (id: string): InvoiceDecision =>
  (state, at) =>
    isVoidable(state) && amountsOf(state).amount_remaining !== '0' && isOver(state, at)
      ? voidInvoice(id)(state, at)
      : [];

/** An invoice that can become void: money that a credit note has given back has gone already. */
const isVoidable = (state: InvoiceState): state is Invoice =>
  state?.invoice_status === 'FINALIZED' &&
  !isPaymentUnderWay(state) &&
  paymentStatusOf(state) !== 'REFUNDED';

const isOver = ({ ends_subscription_at: end }: Invoice, at: Instant): boolean =>
  end !== null && end <= at;
