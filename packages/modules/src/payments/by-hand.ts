import { type ReactionContext, reaction } from '@counterfoil/engine/define';
import {
  decimal,
  derivedId,
  existing,
  type InvoiceId,
  type PaymentId,
  zero,
} from '@counterfoil/kernel';
import { amountsOf, hasRoom, type Invoice, invoice } from '../invoices/index.ts';
import { endOfOrder, invoiceOfOrder, wallet } from '../wallets/index.ts';
import { createPlanned } from './collection/planned-payment.ts';
import { isOwed } from './collection/reactions.ts';
import { payment } from './payment.ts';

/*
 * Who completes an order of credits by hand says that it is paid for. Then its invoice is paid as well, by a payment of its own that is
 * OFFLINE, once: else the customer would be asked for money, and be charged for what they have.
 */

/** An order that was loaded. Where its invoice has brought that about, nothing of it is owed any more. */
export const ordersByHand = reaction(wallet, {
  name: 'invoice of an order that is completed by hand',
  on: {
    CreditsLoaded: async ({ data: { reason, transaction_id } }, context) => {
      if (reason !== 'PURCHASED_CREDIT_INVOICED') return;
      await payByHand(context, invoiceOfOrder(transaction_id));
    },
  },
});

/** An invoice that is final after its order was completed. */
export const invoicesByHand = reaction(invoice, {
  name: 'order that was completed before its invoice',
  on: {
    InvoiceFinalized: async ({ aggregate_id }, context) => {
      const { id, cause } = existing(await context.load(invoice, aggregate_id), 'invoice');
      if (cause.kind !== 'purchase') return;
      const buyer = await context.load(wallet, cause.wallet_id);
      if (endOfOrder(buyer, cause.transaction_id) === 'completed') await payByHand(context, id);
    },
  },
});

async function payByHand(context: ReactionContext, id: InvoiceId): Promise<void> {
  const state = await context.load(invoice, id);
  if (state === null || !isOwed(state) || isPaidOnce(state) || !hasRoom(state)) return;
  const payment_id: PaymentId = derivedId('pay', `${id}\ncompleted by hand`);
  const { amount_remaining: amount } = amountsOf(state);
  const paid = { payment_id, method: 'OFFLINE', wallet_id: null, payment_method_id: null } as const;
  await context.execute(payment, payment_id, createPlanned(state, { ...paid, amount }, null, null));
}

/** Tells whether the invoice was paid, and has completed the order itself: what went back since is owed. */
const isPaidOnce = ({ purchase, payments, total }: Invoice): boolean =>
  purchase !== null ||
  payments.reduce((sum, { amount }) => sum.plus(decimal(amount)), zero).cmp(decimal(total)) >= 0;
