import type Stripe from 'stripe';
import type { ProviderContext } from '../payments/index.ts';

/** A client of the account of an environment, with the place for which it is asked. */
export interface StripeCall {
  readonly stripe: Stripe;
  readonly context: ProviderContext;
}
