import type { ProviderAttempt } from '../payments/index.ts';
import type { StripeCall } from './call.ts';

/** The id of something that Stripe shows by its id, or whole. */
export const idOf = (shown: string | { readonly id: string } | null): string | null =>
  typeof shown === 'string' ? shown : (shown?.id ?? null);

/** The note on whatever belongs to a payment, by which a message about it finds the payment. */
export const noteOf = (
  { context }: StripeCall,
  { payment_id, key }: Pick<ProviderAttempt, 'payment_id' | 'key'>,
) => ({
  counterfoil_payment: payment_id,
  counterfoil_key: key,
  counterfoil_environment: context.principal.environmentId,
});
