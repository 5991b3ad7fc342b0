import type { Currency, CustomerId, DecimalText, Instant, PaymentId } from '@counterfoil/kernel';
import type { PaymentMethod } from '../invoices/index.ts';

/** An attempt as it stands in the log before anything is sent. */
export interface ProviderAttempt {
  readonly payment_id: PaymentId;
  /** The key of the attempt at the provider: under one key money is taken once. */
  readonly key: string;
  readonly started_at: Instant;
  readonly customer_id: CustomerId;
  readonly method: PaymentMethod;
  /** The saved method, where the payment names one. */
  readonly method_id: string | null;
  readonly amount: DecimalText;
  readonly currency: Currency;
  readonly options: Readonly<Record<string, string>>;
  readonly success_url: string | null;
  readonly cancel_url: string | null;
  readonly save_card_and_make_default: boolean;
}

/** The answer of a provider about an attempt. `waiting`: its end comes later, by its own message. */
export type ProviderAnswer =
  | { readonly kind: 'succeeded'; readonly gateway_payment_id: string }
  | { readonly kind: 'failed'; readonly message: string }
  | { readonly kind: 'waiting' };

/** The end of an attempt that nobody waits for any more, as far as the provider knows it. `unknown`: it was never sent. */
export type ProviderOutcome = ProviderAnswer | { readonly kind: 'unknown' };

/** A way of paying that a provider has saved for a customer. */
export interface SavedMethod {
  readonly id: string;
  readonly payment_method_type: PaymentMethod;
  readonly is_default: boolean;
  readonly brand: string | null;
  readonly last4: string | null;
  readonly expires: string | null;
}

/**
 * The gateway that takes money by card or by a payment page. None is set unless an installation has one: payments by
 * such methods are refused then.
 *
 * `settle` is called with an attempt that is in the log, any number of times: by the request, by the projector, after
 * a crash, and when every read model is lost. It asks the provider by the key what has become of the attempt, and sends
 * it only where the provider knows nothing of it and still keeps keys of that age; the same key goes with it, so that two
 * who send at once take the money once. It throws where the outcome cannot be known now, and is called again later.
 */
export interface PaymentProvider {
  readonly name: string;
  readonly methods: readonly PaymentMethod[];
  settle(attempt: ProviderAttempt): Promise<ProviderAnswer>;
  /**
   * Asks by the key what has become of an attempt, and sends nothing: a caller has given the payment up before its end
   * was known. It throws where that cannot be known now, and is called again later.
   */
  outcomeOf(attempt: ProviderAttempt): Promise<ProviderOutcome>;
  savedMethods(customerId: CustomerId): Promise<readonly SavedMethod[]>;
}
