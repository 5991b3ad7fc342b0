import { decimal } from '@counterfoil/kernel';
import type Stripe from 'stripe';
import type {
  NamedAttempt,
  PreparedAttempt,
  ProviderAnswer,
  ProviderAttempt,
} from '../payments/index.ts';
import { atStripe } from './amounts.ts';
import type { StripeCall } from './call.ts';
import { ensuredCustomer } from './customers.ts';
import { orRefusal, Refused } from './errors.ts';
import { keyed } from './keys.ts';
import { usualMethod } from './methods.ts';
import { idOf, noteOf } from './shown.ts';

/** Has Stripe write a charge of a saved method down. It is not confirmed, so nothing is taken. */
export async function prepareCharge(
  call: StripeCall,
  attempt: ProviderAttempt,
): Promise<PreparedAttempt> {
  const amount = atStripe(attempt.amount, attempt.currency);
  if (amount === null) return refused(unpayable(attempt));
  const customer = await ensuredCustomer(call.stripe, call.context, attempt.customer_id);
  const method = attempt.method_id ?? (await usualMethod(call.stripe, customer, attempt.method));
  if (method === null) return refused('The customer has saved no payment method.');
  const params: Stripe.PaymentIntentCreateParams = {
    amount,
    currency: attempt.currency,
    customer,
    payment_method: method,
    allowed_payment_method_types: [typeOf(attempt.method)],
    description: attempt.description,
    metadata: noteOf(call, attempt),
  };
  const made = await orRefusal(
    call.stripe.paymentIntents.create(params, keyed(attempt.key, params)),
  );
  if (made instanceof Refused) return refused(made.message);
  return { kind: 'prepared', reference: made.id, url: null };
}

/** The types of methods at Stripe that a way of paying is. */
export const typeOf = (method: ProviderAttempt['method']): 'card' | 'us_bank_account' =>
  method === 'ACH' ? 'us_bank_account' : 'card';

export const refused = (message: string): PreparedAttempt => ({ kind: 'refused', message });

export const unpayable = ({ amount, currency }: ProviderAttempt): string =>
  `Stripe cannot take exactly ${decimal(amount).toFixed()} ${currency}.`;

/** Confirms a charge that is not confirmed yet, and tells what has become of one that is. */
export async function settleCharge(
  { stripe }: StripeCall,
  { reference, key }: NamedAttempt,
): Promise<ProviderAnswer> {
  const known = await stripe.paymentIntents.retrieve(reference);
  if (known.status !== 'requires_confirmation') return answerOf(stripe, known);
  const confirmed = await orRefusal(
    stripe.paymentIntents.confirm(
      reference,
      { off_session: true, error_on_requires_action: true },
      { idempotencyKey: `${key}-confirm` },
    ),
  );
  if (!(confirmed instanceof Refused)) return answerOf(stripe, confirmed);
  const after = await stripe.paymentIntents.retrieve(reference);
  if (after.status !== 'requires_confirmation') return answerOf(stripe, after, confirmed.message);
  return giveUp(stripe, reference, confirmed.message);
}

/** Takes care that nothing comes of a charge any more, unless it has. */
export const cancelCharge = async (
  { stripe }: StripeCall,
  { reference }: NamedAttempt,
): Promise<ProviderAnswer> => giveUp(stripe, reference, 'It was cancelled.');

/** The answer that the state of a charge is. One that waits for somebody who is not there is given up. */
async function answerOf(
  stripe: Stripe,
  charge: Stripe.PaymentIntent,
  why: string = whyOf(charge),
): Promise<ProviderAnswer> {
  switch (charge.status) {
    case 'succeeded':
      return { kind: 'succeeded', gateway_payment_id: charge.id };
    case 'canceled':
      return { kind: 'failed', message: why };
    case 'requires_payment_method':
    case 'requires_action':
      return giveUp(stripe, charge.id, why);
    default:
      return { kind: 'waiting' };
  }
}

const whyOf = ({ last_payment_error: error, status }: Stripe.PaymentIntent): string => {
  if (error?.message) return error.message;
  return status === 'requires_action'
    ? 'The bank wants the customer to confirm the payment.'
    : 'The payment was cancelled at Stripe.';
};

/** Cancels a charge, so that nothing comes of it later. What cannot be cancelled any more is what it is by then. */
async function giveUp(stripe: Stripe, id: string, why: string): Promise<ProviderAnswer> {
  const cancelled = await orRefusal(stripe.paymentIntents.cancel(id));
  if (!(cancelled instanceof Refused)) return { kind: 'failed', message: why };
  const { status } = await stripe.paymentIntents.retrieve(id);
  if (status === 'succeeded') return { kind: 'succeeded', gateway_payment_id: id };
  return status === 'canceled' ? { kind: 'failed', message: why } : { kind: 'waiting' };
}

/** The id of the charge that a page has made; null before there is one. */
export const chargeIn = ({ payment_intent }: Stripe.Checkout.Session): string | null =>
  idOf(payment_intent);
