import { notFound, Problem } from '@counterfoil/kernel';
import type Stripe from 'stripe';
import {
  askAboutPayment,
  type PaymentProvider,
  type ProviderContext,
  ProviderUnavailable,
} from '../payments/index.ts';
import { clientOf, credentialsOf, type StripeOptions } from './client.ts';
import { isOfStripe } from './errors.ts';
import { finishSetup } from './pages.ts';

/** A webhook as it came: whoever sent it. */
export interface StripeNotice {
  readonly bytes: Uint8Array;
  /** The header `Stripe-Signature`. */
  readonly signature: string | null;
}

/**
 * Takes a webhook of Stripe. Its signature says that Stripe has sent it; then Stripe is asked about what it is about, and nothing of
 * its contents is believed: it may come late, twice or out of order. Throws 404 in an environment that takes none, 400 for
 * another signature, and 503 where the outcome cannot be known now: Stripe sends it again.
 */
export async function takeStripeNotice(
  context: ProviderContext,
  { bytes, signature }: StripeNotice,
  provider: PaymentProvider,
  options: StripeOptions,
): Promise<void> {
  const credentials = await credentialsOf(context, options);
  const secret = credentials?.webhookSecret;
  if (!credentials || !secret) throw notFound('webhook', context.principal.environmentId);
  const stripe = await clientOf(credentials.key, options);
  const event = verified(stripe, bytes, signature, secret);
  try {
    await hear(context, stripe, event, provider);
  } catch (error) {
    if (!isOfStripe(error) && !(error instanceof ProviderUnavailable)) throw error;
    const message = 'Stripe does not say what has become of it. Send it again.';
    throw new Problem('service_unavailable', message, { retryAfterSeconds: 30 });
  }
}

function verified(
  stripe: Stripe,
  bytes: Uint8Array,
  signature: string | null,
  secret: string,
): Stripe.Event {
  try {
    return stripe.webhooks.constructEvent(Buffer.from(bytes), signature ?? '', secret);
  } catch {
    throw new Problem('validation_error', 'The signature is not one of Stripe over this body.');
  }
}

/** The parts of an object of an event that say what it is about. */
interface Subject {
  readonly id?: unknown;
  readonly object?: unknown;
  readonly mode?: unknown;
  readonly metadata?: Readonly<Record<string, unknown>> | null;
}

async function hear(
  context: ProviderContext,
  stripe: Stripe,
  { data }: Stripe.Event,
  provider: PaymentProvider,
): Promise<void> {
  const { id, object, mode, metadata } = data.object as Subject;
  // An account may serve several environments: each hears of its own.
  if (metadata?.counterfoil_environment !== context.principal.environmentId) return;
  if (object === 'checkout.session' && mode === 'setup' && typeof id === 'string') {
    await finishSetup(stripe, id);
    return;
  }
  const { counterfoil_payment: payment } = metadata;
  if (typeof payment === 'string') await askAboutPayment(context, payment, provider);
}
