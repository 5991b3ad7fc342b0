import { existing, zeroText } from '@counterfoil/kernel';
import { attemptUnderWay, isOpen, type PaymentState } from './payment.ts';
import type { PaymentResource } from './schema.ts';

/** The payment as the API, the read model and the webhooks show it (D58). */
export function paymentView(state: PaymentState): PaymentResource {
  const payment = existing(state, 'payment');
  return {
    id: payment.id,
    tenant_id: payment.tenant_id,
    environment_id: payment.environment_id,
    status: payment.status,
    destination_type: payment.destination_type,
    destination_id: payment.destination_id,
    customer_id: payment.customer_id,
    invoice_number: payment.invoice_number,
    payment_method_type: payment.payment_method_type,
    payment_method_id: payment.wallet_id ?? payment.payment_method_id,
    payment_gateway: payment.payment_gateway,
    gateway_payment_id: payment.gateway_payment_id,
    gateway_tracking_id: payment.gateway_tracking_id,
    amount: payment.amount,
    currency: payment.currency,
    payment_status: payment.payment_status,
    refunded_amount: payment.returned,
    excess_amount: payment.applied?.to_customer ?? zeroText,
    wallet_transaction_id: payment.debit?.transaction_id ?? null,
    payment_url: isOpen(payment) ? (attemptUnderWay(payment)?.url ?? null) : null,
    refunds: payment.refunds.map((refund) => ({
      id: refund.refund_id,
      payment_id: payment.id,
      amount: refund.amount,
      refund_status: refund.refund_status,
      payment_gateway: refund.provider,
      gateway_refund_id: refund.gateway_refund_id,
      reason: refund.reason,
      error_message: refund.error_message,
      created_at: refund.started_at,
    })),
    attempts: payment.attempts.map((attempt) => ({
      id: attempt.attempt_id,
      payment_id: payment.id,
      attempt_number: attempt.number,
      payment_status: attempt.payment_status,
      payment_gateway: attempt.provider,
      gateway_attempt_id: attempt.reference,
      error_message: attempt.error_message,
      created_at: attempt.started_at,
    })),
    error_message: payment.error_message,
    succeeded_at: payment.succeeded_at,
    failed_at: payment.failed_at,
    refunded_at: payment.refunded_at,
    voided_at: payment.voided_at,
    idempotency_key: payment.idempotency_key,
    metadata: payment.metadata,
    created_at: payment.created_at,
    created_by: payment.created_by,
    updated_at: payment.updated_at,
    updated_by: payment.updated_by,
  };
}
