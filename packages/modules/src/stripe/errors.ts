import type Stripe from 'stripe';

/** A request that Stripe has answered, and of which nothing comes: it was understood and refused. */
export interface Refusal {
  readonly message: string;
  readonly code: string | null;
}

type StripeError = InstanceType<typeof Stripe.errors.StripeError>;

/** Tells whether an error is one of the client: an answer of Stripe, or none. */
export const isOfStripe = (error: unknown): error is StripeError =>
  error instanceof Error && 'type' in error && String(error.type).startsWith('Stripe');

/**
 * The refusal that an error is: a card that is declined, or a request that can never succeed. Null for every other error, after
 * which the outcome is not known: a time-out, 5xx, 429, a key in use, credentials that do not hold.
 */
export function refusalIn(error: unknown): Refusal | null {
  if (!isOfStripe(error)) return null;
  const isRefused = error.type === 'StripeCardError' || error.type === 'StripeInvalidRequestError';
  if (!isRefused || error.code === 'lock_timeout') return null;
  return { message: error.message, code: error.code ?? null };
}

/** Tells whether Stripe says that there is no such thing. */
export const isMissing = (error: unknown): boolean => refusalIn(error)?.code === 'resource_missing';

/** The result of a request, or its refusal. Throws where the outcome is not known. */
export const orRefusal = <Result>(request: Promise<Result>): Promise<Result | Refused> =>
  request.catch((error: unknown) => {
    const refusal = refusalIn(error);
    if (refusal) return new Refused(refusal);
    throw error;
  });

/** A refusal in the place of a result. */
export class Refused {
  readonly message: string;
  readonly code: string | null;
  constructor({ message, code }: Refusal) {
    this.message = message;
    this.code = code;
  }
}

/** Tells whether Stripe does not accept the key. */
export const isUnauthorised = (error: unknown): boolean =>
  isOfStripe(error) &&
  (error.type === 'StripeAuthenticationError' || error.type === 'StripePermissionError');
