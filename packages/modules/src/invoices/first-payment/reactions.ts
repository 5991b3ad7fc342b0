import { reaction } from '@counterfoil/engine/define';
import { subscription } from '../../subscriptions/index.ts';
import { invoiceIdOf } from '../drafting/cause.ts';
import { invoice } from '../invoice.ts';
import { settleFirstPayment } from './settle.ts';

/** An opening invoice that is paid, void or final tells the subscription that waits for its payment (E 10.1). */
export const firstPayments = reaction(invoice, {
  name: 'first payment of a subscription',
  on: {
    InvoiceFinalized: ({ aggregate_id }, context) => settleFirstPayment(context, aggregate_id),
    InvoiceSkipped: ({ aggregate_id }, context) => settleFirstPayment(context, aggregate_id),
    PaymentSettled: ({ aggregate_id }, context) => settleFirstPayment(context, aggregate_id),
    PaymentNoted: ({ aggregate_id }, context) => settleFirstPayment(context, aggregate_id),
    InvoiceAdjusted: ({ aggregate_id }, context) => settleFirstPayment(context, aggregate_id),
    InvoiceVoided: ({ aggregate_id }, context) => settleFirstPayment(context, aggregate_id),
  },
});

/** A subscription that ends before it was paid for makes its opening invoice void. */
export const unpaidEnds = reaction(subscription, {
  name: 'invoice of a subscription that was never paid for',
  on: {
    SubscriptionCancelled: async ({ aggregate_id: id }, context) => {
      const sold = await context.load(subscription, id);
      if (sold === null || sold.awaits === null) return;
      // The first that is to be paid goes on an invoice of its own.
      await settleFirstPayment(context, invoiceIdOf(sold.id, sold.awaits));
    },
  },
});
