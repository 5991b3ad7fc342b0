import {
  type DecimalText,
  decimal,
  derivedId,
  digitsFault,
  existing,
  invalidField,
  invalidOperation,
  type PaymentId,
  type RefundId,
  textOf,
} from '@counterfoil/kernel';
import { assertNoRefundUnderWay, ended, type PaymentDecision, readable } from './decisions.ts';
import type { PaymentEventData } from './events.ts';
import { attemptUnderWay, isOpen, type PaymentRefund, type PaymentState } from './payment.ts';
import { onItsWay, returnable } from './returns.ts';

/** Records the name of an attempt at the provider, once. One that has a name, or has ended, keeps what it has: no event. */
export const nameAttempt =
  (data: PaymentEventData<'PaymentAttemptPrepared'>): PaymentDecision =>
  (state) => {
    const attempt = attemptUnderWay(existing(state, 'payment'));
    if (attempt?.number !== data.number || attempt.reference !== null) return [];
    return [{ type: 'PaymentAttemptPrepared', data }];
  };

/**
 * Says that nothing is to come of a payment any more. One that waits has failed with it; of one that a provider has
 * under way the provider is asked to see to it. Others have nothing to be cancelled: no event.
 */
export const cancelUnderWay =
  (reason: string): PaymentDecision =>
  (state) => {
    const attempt = attemptUnderWay(existing(state, 'payment'));
    if (!attempt || attempt.cancelled !== null) return [];
    return [{ type: 'PaymentCancelled', data: { number: attempt.number, reason } }];
  };

/** The same as a caller asks for it. Throws 400 for a payment that has ended, and for one that nobody can stop. */
export const cancelPayment =
  (id: string, reason: string): PaymentDecision =>
  (state, at) => {
    const payment = readable(state, id);
    if (!isOpen(payment)) throw ended(payment, 'be cancelled');
    if (attemptUnderWay(payment)) return cancelUnderWay(reason)(state, at);
    if (payment.payment_status === 'INITIATED') {
      const data = { failed_at: at, error_message: reason, is_given_up: true };
      return [{ type: 'PaymentFailed', data }];
    }
    throw ended(payment, 'be cancelled: tell what became of it by PUT /payments/{id}');
  };

/** A refund as a caller asks for it. `amount` null: all that can go back. */
export interface WantedRefund {
  readonly refund_id: RefundId;
  readonly amount: DecimalText | null;
  readonly reason: string | null;
}

/**
 * Begins to give money of a payment back through the provider that has brought it. Throws 400 for a payment that no provider has
 * brought, of which nothing is left, or of which a refund is under way.
 *
 * @param left the money of the payment that its invoice still has; null: nobody has taken any of it since
 */
export const startRefund =
  (
    id: string,
    { refund_id, amount, reason }: WantedRefund,
    left: DecimalText | null,
  ): PaymentDecision =>
  (state) => {
    const payment = readable(state, id);
    const { payment_status, charge, currency } = payment;
    if (payment_status !== 'SUCCEEDED' && payment_status !== 'PARTIALLY_REFUNDED') {
      throw ended(payment, 'be refunded');
    }
    if (charge === null) {
      throw invalidOperation(
        `No payment provider has brought the money of payment ${id}. Give it back by other ways, and tell so by PUT /payments/{id}.`,
        { reason: 'payment_state', payment_status },
      );
    }
    assertNoRefundUnderWay(payment);
    if (payment.asked !== null) throw onItsWay(`Money of payment ${id} is going back.`);
    const most = returnable(payment, left);
    const rest = decimal(most).minus(decimal(payment.returned));
    const wanted = amount ?? textOf(rest);
    const fault = digitsFault(wanted, currency);
    if (fault) throw invalidField('/amount', fault);
    if (decimal(wanted).cmp(rest) > 0)
      throw invalidField('/amount', `must be at most ${textOf(rest)}`);
    const returned = textOf(decimal(payment.returned).plus(decimal(wanted)));
    const { provider, gateway_payment_id } = charge;
    const key = { provider, provider_key: refund_id, gateway_payment_id };
    const data = { refund_id, ...key, amount: wanted, returned, reason };
    return [{ type: 'RefundStarted', data: { ...data, is_last: returned === most } }];
  };

/** The refund with an id. */
export const refundOf = (state: PaymentState, id: RefundId): PaymentRefund =>
  existing(
    existing(state, 'payment').refunds.find(({ refund_id }) => refund_id === id) ?? null,
    'refund',
  );

/** Takes the money of a refund off the payment: its invoice has given it. No event for one that has got as far. */
export const commitRefund =
  (id: RefundId): PaymentDecision =>
  (state, at) => {
    const { refund_status, returned, amount, is_last } = refundOf(state, id);
    if (refund_status !== 'REQUESTED') return [];
    const payment_status = is_last ? 'REFUNDED' : 'PARTIALLY_REFUNDED';
    const data = { payment_status, returned, amount, at, reversal_id: null } as const;
    return [
      { type: 'RefundCommitted', data: { refund_id: id } },
      { type: 'PaymentReturned', data },
    ];
  };

/** Ends a refund whose money has gone back. No event for one that has ended. */
export const succeedRefund =
  (id: RefundId, gateway_refund_id: string): PaymentDecision =>
  (state) =>
    refundOf(state, id).refund_status === 'PROCESSING'
      ? [{ type: 'RefundSucceeded', data: { refund_id: id, gateway_refund_id } }]
      : [];

/** The id of the payment as which the money of a refund comes back. */
export const comebackOf = (id: RefundId): PaymentId => derivedId('pay', `${id}\nback`);

/** Ends a refund of which nothing goes back. What had left the payment for it comes back. No event for one that has ended. */
export const failRefund =
  (id: RefundId, error_message: string): PaymentDecision =>
  (state) => {
    const { refund_status } = refundOf(state, id);
    if (refund_status !== 'REQUESTED' && refund_status !== 'PROCESSING') return [];
    const payment_id = refund_status === 'PROCESSING' ? comebackOf(id) : null;
    return [{ type: 'RefundFailed', data: { refund_id: id, error_message, payment_id } }];
  };

/** The payment as which the money of a failed refund comes back, of the same charge. Once, and then no event. */
export const comeBack =
  (from: PaymentState, refund: PaymentRefund): PaymentDecision =>
  (state, at) => {
    if (state !== null) return [];
    const origin = existing(from, 'payment');
    const id = comebackOf(refund.refund_id);
    const { gateway_payment_id, provider: payment_gateway, amount } = refund;
    return [
      {
        type: 'PaymentCreated',
        data: {
          id,
          destination_type: origin.destination_type,
          destination_id: origin.destination_id,
          customer_id: origin.customer_id,
          invoice_number: origin.invoice_number,
          currency: origin.currency,
          amount,
          payment_method_type: origin.payment_method_type,
          payment_method_id: origin.payment_method_id,
          wallet_id: null,
          collection_round: null,
          payment_gateway,
          gateway_payment_id,
          gateway_tracking_id: null,
          error_message: null,
          metadata: { refund_id: refund.refund_id, refunded_payment_id: origin.id },
          gateway_options: {},
          success_url: null,
          cancel_url: null,
          save_card_and_make_default: false,
          idempotency_key: null,
        },
      },
      { type: 'PaymentSucceeded', data: { succeeded_at: at, debit: null, gateway_payment_id } },
    ];
  };
