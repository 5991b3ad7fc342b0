import type Stripe from 'stripe';
import { blankOf } from './blank.ts';
import { published } from './declarations.ts';

/** The ways in which a saved method behaves when it is charged. */
export type MethodManner = 'pays' | 'declines' | 'asks the customer' | 'takes days';

/** A thing of Stripe as it stands in its books. */
type Kept<Thing> = { -readonly [Name in keyof Thing]: Thing[Name] };

/** Money that moved, in the smallest unit of its currency: what is given back is negative. */
export interface Movement {
  readonly charge: string;
  readonly units: number;
  readonly currency: string;
}

/** A refusal as Stripe answers it. */
export class StripeRefusal extends Error {
  readonly status: number;
  readonly body: Readonly<Record<string, unknown>>;
  constructor(status: number, type: string, message: string, more: object = {}) {
    super(message);
    this.status = status;
    this.body = { error: { type, message, ...more } };
  }
}

const missing = (what: string, id: string) =>
  new StripeRefusal(404, 'invalid_request_error', `No such ${what}: '${id}'`, {
    code: 'resource_missing',
    param: 'id',
  });

const unexpected = (message: string) =>
  new StripeRefusal(400, 'invalid_request_error', message, {
    code: 'payment_intent_unexpected_state',
  });

/** A new thing with all that its declaration requires. */
const made = <Thing>(file: string, name: string, own: Partial<Thing>): Kept<Thing> =>
  ({ ...(blankOf(published(file, name)) as object), ...own }) as Kept<Thing>;

/** The books of one account: what its requests have brought about, and the money that moved because of them. */
export class Books {
  readonly customers = new Map<string, Kept<Stripe.Customer>>();
  readonly methods = new Map<string, Kept<Stripe.PaymentMethod>>();
  readonly intents = new Map<string, Kept<Stripe.PaymentIntent>>();
  readonly sessions = new Map<string, Kept<Stripe.Checkout.Session>>();
  readonly setups = new Map<string, Kept<Stripe.SetupIntent>>();
  readonly refunds = new Map<string, Kept<Stripe.Refund>>();
  readonly movements: Movement[] = [];
  /** The way in which the next refunds end. */
  refundStatus: 'succeeded' | 'pending' | 'failed' = 'succeeded';
  readonly #manners = new Map<string, MethodManner>();
  readonly #told: (type: string, object: object) => void;
  #count = 0;

  /** @param told hears of everything that Stripe would send a webhook about */
  constructor(told: (type: string, object: object) => void) {
    this.#told = told;
  }

  #id(prefix: string): string {
    this.#count += 1;
    return `${prefix}_${String(this.#count).padStart(6, '0')}`;
  }

  /** The amount of money that came by charges and did not go back, in the smallest unit. */
  get balance(): number {
    return this.movements.reduce((sum, { units }) => sum + units, 0);
  }

  customer(id: string): Kept<Stripe.Customer> {
    const found = this.customers.get(id);
    if (!found) throw missing('customer', id);
    return found;
  }

  createCustomer({ name, email, metadata }: Stripe.CustomerCreateParams): Stripe.Customer {
    const own: Partial<Stripe.Customer> = {
      id: this.#id('cus'),
      name: name ?? null,
      email: email ?? null,
      metadata: (metadata || {}) as Stripe.Metadata,
    };
    const customer = made<Stripe.Customer>('Customers', 'Customer', own);
    this.customers.set(customer.id, customer);
    return customer;
  }

  /** Saves a method for a customer, as a page of Stripe does. */
  saveMethod(customer: string, manner: MethodManner = 'pays'): Stripe.PaymentMethod {
    const card = made<Stripe.PaymentMethod.Card>('PaymentMethods', 'PaymentMethod.Card', {
      brand: 'visa',
      last4: manner === 'pays' ? '4242' : '0002',
      exp_month: 9,
      exp_year: 2031,
    });
    const own: Partial<Stripe.PaymentMethod> = { id: this.#id('pm'), type: 'card', card, customer };
    const method = made<Stripe.PaymentMethod>('PaymentMethods', 'PaymentMethod', own);
    this.methods.set(method.id, method);
    this.#manners.set(method.id, manner);
    return method;
  }

  method(id: string): Kept<Stripe.PaymentMethod> {
    const found = this.methods.get(id);
    if (!found) throw missing('PaymentMethod', id);
    return found;
  }

  intent(id: string): Kept<Stripe.PaymentIntent> {
    const found = this.intents.get(id);
    if (!found) throw missing('payment_intent', id);
    return found;
  }

  createIntent(params: Stripe.PaymentIntentCreateParams): Stripe.PaymentIntent {
    const {
      amount,
      currency,
      customer = null,
      payment_method = null,
      metadata,
      description,
    } = params;
    if (payment_method !== null && this.method(payment_method).customer !== customer) {
      throw new StripeRefusal(
        400,
        'invalid_request_error',
        'The PaymentMethod belongs to nobody else.',
      );
    }
    const intent = made<Stripe.PaymentIntent>('PaymentIntents', 'PaymentIntent', {
      id: this.#id('pi'),
      ...{ amount, currency, customer, payment_method, description: description ?? null },
      metadata: (metadata ?? {}) as Stripe.Metadata,
      status: payment_method === null ? 'requires_payment_method' : 'requires_confirmation',
      ...{ capture_method: 'automatic', confirmation_method: 'automatic' },
    });
    this.intents.set(intent.id, intent);
    return intent;
  }

  /** Takes the money of a charge, once: whatever is asked of it later. */
  confirm(id: string): Stripe.PaymentIntent {
    const intent = this.intent(id);
    if (intent.status !== 'requires_confirmation') {
      throw unexpected(`This PaymentIntent's state is ${intent.status}: it cannot be confirmed.`);
    }
    const manner = this.#manners.get(String(intent.payment_method)) ?? 'pays';
    switch (manner) {
      case 'pays':
        return this.#take(intent);
      case 'takes days':
        intent.status = 'processing';
        this.#told('payment_intent.processing', intent);
        return intent;
      case 'declines':
      case 'asks the customer':
        throw this.#declined(intent, manner);
      default:
        return manner satisfies never;
    }
  }

  #take(intent: Kept<Stripe.PaymentIntent>): Stripe.PaymentIntent {
    const { id, amount, currency } = intent;
    intent.status = 'succeeded';
    intent.amount_received = amount;
    this.movements.push({ charge: id, units: amount, currency });
    this.#told('payment_intent.succeeded', intent);
    return intent;
  }

  #declined(intent: Kept<Stripe.PaymentIntent>, manner: 'declines' | 'asks the customer') {
    const code = manner === 'declines' ? 'card_declined' : 'authentication_required';
    const message = manner === 'declines' ? 'Your card was declined.' : 'The card needs its owner.';
    const error = { type: 'card_error', code, message } as const;
    intent.status = 'requires_payment_method';
    intent.last_payment_error = made<Stripe.PaymentIntent.LastPaymentError>(
      'PaymentIntents',
      'PaymentIntent.LastPaymentError',
      error,
    );
    this.#told('payment_intent.payment_failed', intent);
    return new StripeRefusal(402, 'card_error', message, { code, payment_intent: intent });
  }

  /** Ends a charge that takes days. */
  finish(id: string, isPaid: boolean): void {
    const intent = this.intent(id);
    if (intent.status !== 'processing') throw new Error(`${id} is ${intent.status}`);
    if (isPaid) this.#take(intent);
    else this.#declined(intent, 'declines');
  }

  cancel(id: string): Stripe.PaymentIntent {
    const intent = this.intent(id);
    if (['succeeded', 'canceled', 'processing'].includes(intent.status)) {
      throw unexpected(`You cannot cancel this PaymentIntent because it is ${intent.status}.`);
    }
    intent.status = 'canceled';
    this.#told('payment_intent.canceled', intent);
    return intent;
  }

  session(id: string): Kept<Stripe.Checkout.Session> {
    const found = this.sessions.get(id);
    if (!found) throw missing('checkout.session', id);
    return found;
  }

  createSession(params: Stripe.Checkout.SessionCreateParams): Stripe.Checkout.Session {
    const { mode = 'payment', customer = null, line_items = [], metadata, success_url } = params;
    if (success_url === undefined) {
      throw new StripeRefusal(400, 'invalid_request_error', 'Missing required param: success_url.');
    }
    const units = line_items.map(
      ({ quantity, price_data }) => Number(quantity ?? 1) * Number(price_data?.unit_amount ?? 0),
    );
    const id = this.#id('cs');
    const session = made<Stripe.Checkout.Session>('Checkout/Sessions', 'Session', {
      id,
      ...{ mode, customer, success_url, status: 'open', payment_status: 'unpaid' },
      amount_total: mode === 'payment' ? units.reduce((sum, each) => sum + each, 0) : null,
      currency: line_items[0]?.price_data?.currency ?? null,
      metadata: (metadata ?? {}) as Stripe.Metadata,
      url: `https://checkout.example/${id}`,
    });
    this.sessions.set(id, session);
    return session;
  }

  expire(id: string): Stripe.Checkout.Session {
    const session = this.session(id);
    if (session.status !== 'open') {
      throw new StripeRefusal(400, 'invalid_request_error', 'Only open Sessions can be expired.');
    }
    session.status = 'expired';
    session.url = null;
    this.#told('checkout.session.expired', session);
    return session;
  }

  /** The customer uses a page: pays, or saves a method. */
  useSession(id: string, manner: 'pays' | 'takes days' = 'pays'): void {
    const session = this.session(id);
    if (session.status !== 'open') throw new Error(`the page ${id} is ${session.status}`);
    const customer = String(session.customer);
    const method = this.saveMethod(customer, manner);
    session.status = 'complete';
    session.url = null;
    if (session.mode === 'setup') {
      const own = { id: this.#id('seti'), payment_method: method.id, customer } as const;
      const setup = made<Stripe.SetupIntent>('SetupIntents', 'SetupIntent', {
        ...own,
        status: 'succeeded',
      });
      this.setups.set(setup.id, setup);
      session.setup_intent = setup.id;
      session.payment_status = 'no_payment_required';
    } else {
      const { id: charge } = this.createIntent({
        amount: session.amount_total ?? 0,
        currency: session.currency ?? '',
        customer,
        payment_method: method.id,
        metadata: session.metadata ?? {},
      });
      session.payment_intent = charge;
      this.confirm(charge);
      session.payment_status = manner === 'pays' ? 'paid' : 'unpaid';
    }
    this.#told('checkout.session.completed', session);
  }

  createRefund({ payment_intent, amount, metadata }: Stripe.RefundCreateParams): Stripe.Refund {
    const intent = this.intent(payment_intent ?? '');
    const left = this.movements
      .filter(({ charge }) => charge === intent.id)
      .reduce((sum, { units }) => sum + units, 0);
    const units = Number(amount ?? left);
    if (units > left) {
      const message = `Refund amount (${units}) is greater than unrefunded amount on charge (${left})`;
      throw new StripeRefusal(400, 'invalid_request_error', message);
    }
    const { currency } = intent;
    const refund = made<Stripe.Refund>('Refunds', 'Refund', {
      id: this.#id('re'),
      ...{ amount: units, currency, payment_intent: intent.id, status: this.refundStatus },
      ...(this.refundStatus === 'failed' ? { failure_reason: 'expired_or_canceled_card' } : {}),
      metadata: (metadata || {}) as Stripe.Metadata,
    });
    this.refunds.set(refund.id, refund);
    if (refund.status !== 'failed')
      this.movements.push({ charge: intent.id, units: -units, currency });
    this.#told('refund.created', refund);
    return refund;
  }

  /** Ends a refund that takes days. */
  finishRefund(id: string, isPaid: boolean): void {
    const refund = this.refunds.get(id);
    if (refund?.status !== 'pending') throw new Error(`${id} is ${refund?.status}`);
    refund.status = isPaid ? 'succeeded' : 'failed';
    const { amount: units, currency } = refund;
    if (!isPaid) this.movements.push({ charge: String(refund.payment_intent), units, currency });
    this.#told('refund.updated', refund);
  }
}
