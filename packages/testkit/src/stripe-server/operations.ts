import type Stripe from 'stripe';
import type { Books } from './books.ts';
import { type Placed, published } from './declarations.ts';

/** A request to one thing, or to a kind of things. */
interface Asked {
  readonly id: string;
  readonly params: Readonly<Record<string, unknown>>;
  readonly books: Books;
}

/** An operation of Stripe with the published shapes of what it is asked and of what it answers. */
export interface Operation {
  readonly method: 'GET' | 'POST';
  /** The path, with `:id` for the name of a thing. */
  readonly path: string;
  readonly params: Placed | null;
  readonly answer: Placed;
  /** True for one that answers a list of what `answer` is. */
  readonly isList?: boolean;
  readonly run: (asked: Asked) => unknown;
}

const customer = published('Customers', 'Customer');
const method = published('PaymentMethods', 'PaymentMethod');
const intent = published('PaymentIntents', 'PaymentIntent');
const session = published('Checkout/Sessions', 'Session');
const refund = published('Refunds', 'Refund');

const sessionParams = (name: string) =>
  published('Checkout/Sessions', `Checkout.Session${name}Params`);

const customers: readonly Operation[] = [
  {
    method: 'GET',
    path: '/v1/customers',
    params: published('Customers', 'CustomerListParams'),
    answer: customer,
    isList: true,
    run: ({ books }) => [...books.customers.values()],
  },
  {
    method: 'POST',
    path: '/v1/customers',
    params: published('Customers', 'CustomerCreateParams'),
    answer: customer,
    run: ({ books, params }) => books.createCustomer(params as Stripe.CustomerCreateParams),
  },
  {
    method: 'GET',
    path: '/v1/customers/:id',
    params: null,
    answer: customer,
    run: ({ books, id }) => books.customer(id),
  },
  {
    method: 'POST',
    path: '/v1/customers/:id',
    params: published('Customers', 'CustomerUpdateParams'),
    answer: customer,
    run: ({ books, id, params }) => {
      const found = books.customer(id);
      const { invoice_settings: settings } = params as Stripe.CustomerUpdateParams;
      const usual = settings?.default_payment_method;
      if (usual !== undefined) {
        books.method(usual);
        found.invoice_settings = { ...found.invoice_settings, default_payment_method: usual };
      }
      return found;
    },
  },
  {
    method: 'GET',
    path: '/v1/payment_methods',
    params: published('PaymentMethods', 'PaymentMethodListParams'),
    answer: method,
    isList: true,
    run: ({ books, params }) =>
      [...books.methods.values()]
        .filter((each) => each.customer === books.customer(String(params.customer)).id)
        .toReversed(),
  },
  {
    method: 'GET',
    path: '/v1/payment_methods/:id',
    params: null,
    answer: method,
    run: ({ books, id }) => books.method(id),
  },
  {
    method: 'POST',
    path: '/v1/payment_methods/:id/detach',
    params: published('PaymentMethods', 'PaymentMethodDetachParams'),
    answer: method,
    run: ({ books, id }) => Object.assign(books.method(id), { customer: null }),
  },
];

const charges: readonly Operation[] = [
  {
    method: 'POST',
    path: '/v1/payment_intents',
    params: published('PaymentIntents', 'PaymentIntentCreateParams'),
    answer: intent,
    run: ({ books, params }) => {
      const amount = Number(params.amount);
      return books.createIntent({ ...params, amount } as Stripe.PaymentIntentCreateParams);
    },
  },
  {
    method: 'GET',
    path: '/v1/payment_intents/:id',
    params: null,
    answer: intent,
    run: ({ books, id }) => books.intent(id),
  },
  {
    method: 'POST',
    path: '/v1/payment_intents/:id/confirm',
    params: published('PaymentIntents', 'PaymentIntentConfirmParams'),
    answer: intent,
    run: ({ books, id }) => books.confirm(id),
  },
  {
    method: 'POST',
    path: '/v1/payment_intents/:id/cancel',
    params: published('PaymentIntents', 'PaymentIntentCancelParams'),
    answer: intent,
    run: ({ books, id }) => books.cancel(id),
  },
  {
    method: 'GET',
    path: '/v1/refunds',
    params: published('Refunds', 'RefundListParams'),
    answer: refund,
    isList: true,
    run: ({ books, params }) =>
      [...books.refunds.values()]
        .filter((each) => each.payment_intent === params.payment_intent)
        .toReversed(),
  },
  {
    method: 'POST',
    path: '/v1/refunds',
    params: published('Refunds', 'RefundCreateParams'),
    answer: refund,
    run: ({ books, params }) => books.createRefund(params as Stripe.RefundCreateParams),
  },
];

const pages: readonly Operation[] = [
  {
    method: 'POST',
    path: '/v1/checkout/sessions',
    params: sessionParams('Create'),
    answer: session,
    run: ({ books, params }) => books.createSession(params as Stripe.Checkout.SessionCreateParams),
  },
  {
    method: 'GET',
    path: '/v1/checkout/sessions/:id',
    params: sessionParams('Retrieve'),
    answer: session,
    run: ({ books, id, params }) => {
      const found = books.session(id);
      const setup = books.setups.get(String(found.setup_intent));
      const isWhole = setup !== undefined && [params.expand].flat().includes('setup_intent');
      return isWhole ? { ...found, setup_intent: setup } : found;
    },
  },
  {
    method: 'POST',
    path: '/v1/checkout/sessions/:id/expire',
    params: sessionParams('Expire'),
    answer: session,
    run: ({ books, id }) => books.expire(id),
  },
];

/** The operations that the adapter may use. Everything else is answered as unknown. */
export const operations: readonly Operation[] = [...customers, ...charges, ...pages];

/** The operation of a request, with the name of the thing that its path has. */
export function operationOf(
  method: string,
  path: string,
): { readonly operation: Operation; readonly id: string } | null {
  for (const operation of operations) {
    const pattern = new RegExp(`^${operation.path.replace(':id', '([^/]+)')}$`);
    const found = operation.method === method ? pattern.exec(path) : null;
    if (found) return { operation, id: found[1] ?? '' };
  }
  return null;
}
