import { dueWork, recordProjection } from '@counterfoil/engine/define';
import { askWhenDue, nextQuestion } from './asking.ts';
import { payment } from './payment.ts';
import { paymentView } from './view.ts';

/** One row per payment. */
export const paymentTable = recordProjection(payment, {
  name: 'payments',
  version: 2,
  view: paymentView,
  columns: {
    destination_type: { type: 'text', of: (shown) => shown.destination_type },
    destination_id: { type: 'text', of: (shown) => shown.destination_id, index: true },
    customer_id: { type: 'text', of: (shown) => shown.customer_id, index: true },
    payment_method_type: { type: 'text', of: (shown) => shown.payment_method_type },
    payment_status: { type: 'text', of: (shown) => shown.payment_status },
    payment_gateway: { type: 'text', of: (shown) => shown.payment_gateway },
    gateway_payment_id: { type: 'text', of: (shown) => shown.gateway_payment_id, index: true },
    gateway_tracking_id: { type: 'text', of: (shown) => shown.gateway_tracking_id },
    currency: { type: 'text', of: (shown) => shown.currency },
    amount: { type: 'numeric', of: (shown) => shown.amount },
    succeeded_at: { type: 'timestamptz', of: (shown) => shown.succeeded_at },
    ask_at: {
      type: 'timestamptz',
      of: (_shown, state) => state && nextQuestion(state),
      index: true,
    },
  },
});

/** Asks the provider about what is under way, because its messages may be lost. */
export const questions = dueWork({
  name: 'questions to payment providers',
  table: paymentTable,
  column: 'ask_at',
  run: (context, id) => context.execute(payment, id, askWhenDue),
});
