import type Stripe from 'stripe';
import type {
  MethodSetup,
  NamedAttempt,
  PreparedAttempt,
  ProviderAnswer,
  ProviderAttempt,
  WantedSetup,
} from '../payments/index.ts';
import { atStripe } from './amounts.ts';
import type { StripeCall } from './call.ts';
import { chargeIn, refused, typeOf, unpayable } from './charges.ts';
import { ensuredCustomer } from './customers.ts';
import { orRefusal, Refused } from './errors.ts';
import { keyed } from './keys.ts';
import { idOf, noteOf } from './shown.ts';

/** Has Stripe make a page on which the customer pays. Nobody can pay there before its address is in the log. */
export async function preparePage(
  call: StripeCall,
  attempt: ProviderAttempt,
): Promise<PreparedAttempt> {
  const { currency, success_url, cancel_url, save_card_and_make_default: isSaved } = attempt;
  const amount = atStripe(attempt.amount, currency);
  if (amount === null) return refused(unpayable(attempt));
  if (success_url === null) return refused('A payment page needs a success_url.');
  const customer = await ensuredCustomer(call.stripe, call.context, attempt.customer_id);
  const metadata = noteOf(call, attempt);
  const params: Stripe.Checkout.SessionCreateParams = {
    mode: 'payment',
    customer,
    client_reference_id: attempt.payment_id,
    line_items: [
      {
        quantity: 1,
        price_data: { currency, unit_amount: amount, product_data: { name: attempt.description } },
      },
    ],
    success_url,
    ...(cancel_url === null ? {} : { cancel_url }),
    metadata,
    payment_intent_data: {
      metadata,
      description: attempt.description,
      ...(isSaved ? { setup_future_usage: 'off_session' } : {}),
    },
  };
  const made = await orRefusal(
    call.stripe.checkout.sessions.create(params, keyed(attempt.key, params)),
  );
  if (made instanceof Refused) return refused(made.message);
  return { kind: 'prepared', reference: made.id, url: made.url };
}

/** Tells what has become of a page. */
export async function settlePage(
  { stripe }: StripeCall,
  attempt: NamedAttempt,
): Promise<ProviderAnswer> {
  const page = await stripe.checkout.sessions.retrieve(attempt.reference);
  const answer = await answerOf(stripe, page);
  if (answer.kind === 'succeeded' && attempt.save_card_and_make_default) {
    await makeUsual(stripe, page, answer.gateway_payment_id);
  }
  return answer;
}

async function answerOf(stripe: Stripe, page: Stripe.Checkout.Session): Promise<ProviderAnswer> {
  const { status, payment_status } = page;
  if (status === 'expired')
    return { kind: 'failed', message: 'The payment page was closed unpaid.' };
  if (status !== 'complete') return { kind: 'waiting' };
  const charge = chargeIn(page);
  if (charge === null) return { kind: 'waiting' };
  if (payment_status === 'paid') return { kind: 'succeeded', gateway_payment_id: charge };
  // A bank may need days, and may refuse in the end: a page that is complete takes no other attempt.
  const { status: state, last_payment_error: error } = await stripe.paymentIntents.retrieve(charge);
  if (state === 'succeeded') return { kind: 'succeeded', gateway_payment_id: charge };
  if (state !== 'requires_payment_method' && state !== 'canceled') return { kind: 'waiting' };
  return { kind: 'failed', message: error?.message ?? 'The bank has refused the payment.' };
}

/** Makes the method of a charge the usual one of the customer. */
async function makeUsual(
  stripe: Stripe,
  { customer }: Stripe.Checkout.Session,
  charge: string,
): Promise<void> {
  const payer = idOf(customer);
  const method = idOf((await stripe.paymentIntents.retrieve(charge)).payment_method);
  if (payer === null || method === null) return;
  await orRefusal(
    stripe.customers.update(payer, { invoice_settings: { default_payment_method: method } }),
  );
}

/** Closes a page, so that nobody pays there any more, unless somebody has. */
export async function cancelPage(call: StripeCall, attempt: NamedAttempt): Promise<ProviderAnswer> {
  await orRefusal(call.stripe.checkout.sessions.expire(attempt.reference));
  return settlePage(call, attempt);
}

/** Has Stripe make a page on which the customer saves a method. */
export async function beginSetup(call: StripeCall, wanted: WantedSetup): Promise<MethodSetup> {
  const customer = await ensuredCustomer(call.stripe, call.context, wanted.customer_id);
  const params: Stripe.Checkout.SessionCreateParams = {
    mode: 'setup',
    customer,
    allowed_payment_method_types: wanted.methods.map(typeOf),
    success_url: wanted.success_url,
    ...(wanted.cancel_url === null ? {} : { cancel_url: wanted.cancel_url }),
    metadata: {
      counterfoil_environment: call.context.principal.environmentId,
      counterfoil_default: String(wanted.make_default),
    },
  };
  const { id, url } = await call.stripe.checkout.sessions.create(params, keyed(wanted.key, params));
  return { session_id: id, url: url ?? '' };
}

/** Makes what a customer has saved on a page the usual method, where that was wanted. Repeating it changes nothing. */
export async function finishSetup(stripe: Stripe, id: string): Promise<void> {
  const page = await stripe.checkout.sessions.retrieve(id, { expand: ['setup_intent'] });
  const { setup_intent: setup, metadata } = page;
  const customer = idOf(page.customer);
  if (metadata?.counterfoil_default !== 'true' || customer === null) return;
  if (setup === null || typeof setup === 'string' || setup.status !== 'succeeded') return;
  const method = idOf(setup.payment_method);
  if (method === null) return;
  await orRefusal(
    stripe.customers.update(customer, { invoice_settings: { default_payment_method: method } }),
  );
}
