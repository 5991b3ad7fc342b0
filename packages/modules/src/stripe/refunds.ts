import { millisecondsOf } from '@counterfoil/kernel';
import type Stripe from 'stripe';
import type { ProviderRefund, RefundAnswer } from '../payments/index.ts';
import { atStripe } from './amounts.ts';
import type { StripeCall } from './call.ts';
import { orRefusal, Refused } from './errors.ts';

/** Stripe keeps keys for a day at least: after this time nothing is sent again. */
const keyMilliseconds = 23 * 3_600_000;

/**
 * Looks for a refund among those of the charge, by its key, and sends it where there is none: under the same key, and only while
 * Stripe keeps that, so that two who send at once, and an answer that was lost, give the money back once.
 */
export async function settleRefund(
  { stripe, context }: StripeCall,
  refund: ProviderRefund,
): Promise<RefundAnswer> {
  const { gateway_payment_id: payment_intent, key, started_at } = refund;
  for await (const known of stripe.refunds.list({ payment_intent, limit: 100 })) {
    if (known.metadata?.counterfoil_key === key) return answerOf(known);
  }
  if (millisecondsOf(context.now) - millisecondsOf(started_at) > keyMilliseconds) {
    return { kind: 'failed', message: 'It never reached Stripe, and is too old to be sent.' };
  }
  const amount = atStripe(refund.amount, refund.currency);
  if (amount === null) return { kind: 'failed', message: 'Stripe cannot give exactly this back.' };
  const sent = await orRefusal(
    stripe.refunds.create(
      {
        payment_intent,
        amount,
        metadata: {
          counterfoil_payment: refund.payment_id,
          counterfoil_key: key,
          counterfoil_environment: context.principal.environmentId,
        },
      },
      { idempotencyKey: key },
    ),
  );
  return sent instanceof Refused ? { kind: 'failed', message: sent.message } : answerOf(sent);
}

function answerOf({ id, status, failure_reason }: Stripe.Refund): RefundAnswer {
  switch (status) {
    case 'succeeded':
      return { kind: 'succeeded', gateway_refund_id: id };
    case 'failed':
    case 'canceled':
      return {
        kind: 'failed',
        message: `Stripe could not give it back: ${failure_reason ?? status}.`,
      };
    default:
      return { kind: 'waiting' };
  }
}
