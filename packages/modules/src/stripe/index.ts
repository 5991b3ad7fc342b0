import { module } from '@counterfoil/engine/define';
import { stripeAccount } from './account.ts';
import { type StripeRoutesOptions, stripeRoutes } from './routes.ts';

export type { StripeOptions } from './client.ts';
export { type StripeNotice, takeStripeNotice } from './notices.ts';
export { stripeProvider } from './provider.ts';
export { paymentProviderOf, providerVariables } from './variables.ts';

/** The account of an environment at Stripe. The payments that it brings are those of the slice `payments`. */
export const stripe = (options: StripeRoutesOptions) =>
  module({
    name: 'stripe',
    aggregates: [stripeAccount],
    tables: [],
    routes: stripeRoutes(options),
    publicEvents: [],
  });

/** The routes with their exact types, for the typed client. */
export type StripeRoutes = ReturnType<typeof stripeRoutes>;
