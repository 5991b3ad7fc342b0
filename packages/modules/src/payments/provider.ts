import type { CommandContext, Place } from '@counterfoil/engine/define';
import type {
  Currency,
  CustomerId,
  DecimalText,
  Instant,
  PaymentId,
  RefundId,
} from '@counterfoil/kernel';
import type { PaymentMethod } from '../invoices/index.ts';

/** An attempt as it stands in the log before anything is sent. */
export interface ProviderAttempt {
  readonly payment_id: PaymentId;
  /** The key of the attempt: it goes with whatever is sent for it. */
  readonly key: string;
  readonly customer_id: CustomerId;
  /** The text that the payer reads: the number of the invoice, else the id of the payment. */
  readonly description: string;
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

/** An attempt whose name at the provider is in the log. */
export interface NamedAttempt extends ProviderAttempt {
  readonly reference: string;
}

/** The answer of a provider that was asked to write an attempt down. `refused`: nothing will ever come of it. */
export type PreparedAttempt =
  | {
      readonly kind: 'prepared';
      /** The name of the attempt at the provider: under one name money is taken once, at any time. */
      readonly reference: string;
      /** The page on which the customer pays; null where the money is taken without. */
      readonly url: string | null;
    }
  | { readonly kind: 'refused'; readonly message: string };

/**
 * The answer of a provider about an attempt. `waiting`: its end comes later. `failed`: no money comes of it any more, whatever
 * happens.
 */
export type ProviderAnswer =
  | { readonly kind: 'succeeded'; readonly gateway_payment_id: string }
  | { readonly kind: 'failed'; readonly message: string }
  | { readonly kind: 'waiting' };

/** A refund as it stands in the log before anything is sent. */
export interface ProviderRefund {
  readonly payment_id: PaymentId;
  readonly refund_id: RefundId;
  readonly key: string;
  readonly started_at: Instant;
  /** The id of the payment at the provider. */
  readonly gateway_payment_id: string;
  readonly amount: DecimalText;
  readonly currency: Currency;
}

/** The answer of a provider about a refund. `failed`: no money goes back by it any more. */
export type RefundAnswer =
  | { readonly kind: 'succeeded'; readonly gateway_refund_id: string }
  | { readonly kind: 'failed'; readonly message: string }
  | { readonly kind: 'waiting' };

/** A way of paying that a provider has saved for a customer. */
export interface SavedMethod {
  readonly id: string;
  readonly payment_method_type: PaymentMethod;
  readonly is_default: boolean;
  readonly brand: string | null;
  readonly last4: string | null;
  readonly expires: string | null;
}

/** The page on which a customer saves a method. */
export interface MethodSetup {
  readonly session_id: string;
  readonly url: string;
}

/** The wish of a customer to save a method. */
export interface WantedSetup {
  readonly customer_id: CustomerId;
  readonly methods: readonly PaymentMethod[];
  readonly make_default: boolean;
  readonly success_url: string;
  readonly cancel_url: string | null;
  /** Repetitions under one key give one page. */
  readonly key: string;
}

/**
 * The outcome of a request to a provider cannot be known now: it does not answer, or not with an outcome. Nothing is concluded
 * from it; the same is asked again later.
 */
export class ProviderUnavailable extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'ProviderUnavailable';
  }
}

/**
 * The account of an environment at a provider. Every function throws `ProviderUnavailable` where the outcome cannot be known now, and
 * is called again later: by the request, by the projector, after a crash, and when every read model is lost.
 */
export interface ProviderAccount {
  /**
   * Has the attempt written down, without taking anything. A repetition may give it another name; only the one that stands in
   * the log is ever settled.
   */
  prepare(attempt: ProviderAttempt): Promise<PreparedAttempt>;
  /** Takes the money of a named attempt, or tells what has become of it. */
  settle(attempt: NamedAttempt): Promise<ProviderAnswer>;
  /** Sees to it that no money comes of a named attempt any more, or tells that it has come. */
  cancel(attempt: NamedAttempt): Promise<ProviderAnswer>;
  /** Asks what has become of a refund, and sends it where the provider knows nothing of it and still keeps keys of that age. */
  refund(refund: ProviderRefund): Promise<RefundAnswer>;
  savedMethods(customerId: CustomerId): Promise<readonly SavedMethod[]>;
  beginSetup(wanted: WantedSetup): Promise<MethodSetup>;
  /** Makes a method the usual one. False: the customer has no such method. */
  makeDefault(customerId: CustomerId, methodId: string): Promise<boolean>;
  /** Forgets a method. False: the customer has no such method. */
  removeMethod(customerId: CustomerId, methodId: string): Promise<boolean>;
}

/** The place in which a provider is asked, with the records that it may look at and write. */
export interface ProviderContext extends Pick<CommandContext, 'now' | 'load' | 'execute'> {
  readonly principal: Place;
}

/**
 * The gateway that takes money by card, by bank or by a payment page. None is set unless an installation has one: payments
 * by such methods are refused then.
 */
export interface PaymentProvider {
  readonly name: string;
  readonly methods: readonly PaymentMethod[];
  /** The account of an environment; null where it has none, and so takes nothing. */
  account(context: ProviderContext): Promise<ProviderAccount | null>;
}
