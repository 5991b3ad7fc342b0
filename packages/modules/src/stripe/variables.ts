import { z } from 'zod';
import type { PaymentProvider } from '../payments/index.ts';
import type { StripeOptions } from './client.ts';
import { stripeProvider } from './provider.ts';

/** The environment variables by which an operator switches a payment provider on. */
export const providerVariables = {
  /** Cards, bank accounts and payment pages; without it they are refused. */
  PAYMENT_PROVIDER: z.enum(['none', 'stripe']).default('none'),
  /** The address of the API of Stripe, where it is not its own. */
  STRIPE_API_URL: z.url().optional(),
} as const;

type ProviderVariables = z.output<z.ZodObject<typeof providerVariables>>;

/** The payment provider that an installation has switched on; null without one. */
export const paymentProviderOf = (
  { PAYMENT_PROVIDER: name, STRIPE_API_URL: apiUrl }: ProviderVariables,
  { sealer }: Pick<StripeOptions, 'sealer'>,
): PaymentProvider | null => (name === 'none' ? null : stripeProvider({ sealer, apiUrl }));
