import { type RequestContext, where } from '@counterfoil/engine/define';
import {
  type Currency,
  type CustomerId,
  type DecimalText,
  digitsFault,
  existing,
  invalidField,
  invalidOperation,
  notFound,
  type PaymentId,
  refusal,
  type WalletId,
  writable,
} from '@counterfoil/kernel';
import { customerReference } from '../customers/index.ts';
import {
  amountsOf,
  hasRoom,
  type Invoice,
  invoice,
  paymentStatusOf,
  paymentsMaximum,
  returnableOf,
} from '../invoices/index.ts';
import { type Wallet, wallet, walletTable } from '../wallets/index.ts';
import {
  type AskedProvider,
  isProvided,
  type NewPayment,
  type PaymentChange,
} from './decisions.ts';
import { type Payment, payment } from './payment.ts';
import type { PaymentProvider, ProviderAccount } from './provider.ts';
import type { CreatePaymentBody } from './schema.ts';

/** The invoice with an id, which must be final and have something to be paid (E 16, D60). Throws 404 and 400. */
export async function payableInvoice(
  context: Pick<RequestContext, 'load'>,
  id: string,
  field = 'id',
): Promise<Invoice> {
  const state = await context.load(invoice, id);
  if (!state) throw notFound('invoice', id, field);
  const { invoice_status } = state;
  if (invoice_status !== 'FINALIZED') {
    throw invalidOperation(`Invoice ${id} is ${invoice_status}; only a FINALIZED one is paid.`, {
      reason: 'invoice_not_final',
      invoice_status,
    });
  }
  assertRoom(state);
  if (amountsOf(state).amount_remaining !== '0') return state;
  const payment_status = paymentStatusOf(state);
  throw invalidOperation(`Of invoice ${id} nothing remains to be paid: it is ${payment_status}.`, {
    reason: 'invoice_paid',
    payment_status,
  });
}

/** Refuses another payment of an invoice that has taken as many as it can. Throws 400. */
function assertRoom(state: Invoice): void {
  if (hasRoom(state)) return;
  throw invalidOperation(
    `Invoice ${state.id} has ${paymentsMaximum} payments, and takes no more.`,
    {
      reason: 'limit_reached',
      limit: paymentsMaximum,
    },
  );
}

/** Refuses to begin with a payment whose invoice has taken as many as it can: all of it would go to the customer. Throws 400. */
export async function assertTaken(
  context: Pick<RequestContext, 'load'>,
  { destination_type, destination_id }: Pick<Payment, 'destination_type' | 'destination_id'>,
): Promise<void> {
  if (destination_type !== 'INVOICE') return;
  assertRoom(existing(await context.load(invoice, destination_id), 'invoice'));
}

/** The part of a payment that follows from what it is for. */
interface Destination {
  readonly customer_id: CustomerId;
  readonly invoice_number: string | null;
}

async function destinationOf(
  context: RequestContext,
  { destination_type, destination_id, currency }: CreatePaymentBody,
): Promise<Destination> {
  if (destination_type === 'CUSTOMER') {
    const reference = { customer_id: destination_id };
    const fields = { id: 'destination_id', externalId: 'destination_id' };
    const found = await customerReference(context, reference, fields);
    writable(found, 'customer', found.id);
    return { customer_id: found.id, invoice_number: null };
  }
  const paid = await payableInvoice(context, destination_id, 'destination_id');
  if (paid.currency !== currency) {
    throw invalidField('/currency', `must be ${paid.currency}, the currency of the invoice`);
  }
  return { customer_id: paid.customer_id, invoice_number: paid.invoice_number };
}

/** POST_PAID wallets that are looked at to find the only one. */
const walletsRead = 2;

/** The wallet that pays with credits: the one that is named, else the customer's only POST_PAID one (E 16). Throws 404 and 400. */
async function payingWallet(
  context: RequestContext,
  customerId: CustomerId,
  currency: Currency,
  named: string | undefined,
): Promise<WalletId> {
  if (named !== undefined) {
    const state = await context.load(wallet, named);
    if (!state || state.customer_id !== customerId) {
      throw notFound('wallet', named, 'payment_method_id');
    }
    assertPays(state, currency);
    return state.id;
  }
  const { items } = await context.read.list(walletTable, { limit: walletsRead, offset: 0 }, [
    ...where('customer_id', 'eq', customerId),
    ...where('currency', 'eq', currency),
    ...where('wallet_type', 'eq', 'POST_PAID'),
    ...where('wallet_status', 'eq', 'active'),
  ]);
  const [only, another] = items;
  if (only && !another) return only.id as WalletId;
  const message = only
    ? `Customer ${customerId} has several POST_PAID wallets in ${currency}. Name one in payment_method_id.`
    : `Customer ${customerId} has no active POST_PAID wallet in ${currency}.`;
  throw invalidOperation(message, { reason: only ? 'unsuitable' : 'no_active_wallet' });
}

function assertPays({ id, wallet_type, wallet_status, currency: own }: Wallet, currency: Currency) {
  if (wallet_type === 'POST_PAID' && own === currency && wallet_status === 'active') return;
  throw invalidField(
    '/payment_method_id',
    `must name an active POST_PAID wallet in ${currency}; ${id} is ${wallet_status}, ${wallet_type} and in ${own}`,
  );
}

/** The payment that a request asks for, after everything that it refers to was found. Throws 404 and 400. */
export async function newPayment(
  context: RequestContext,
  id: PaymentId,
  body: CreatePaymentBody,
): Promise<NewPayment> {
  const { payment_method_type: method, currency, amount } = body;
  const fault = digitsFault(amount, currency);
  if (fault) throw invalidField('/amount', fault);
  const destination = await destinationOf(context, body);
  const isCredits = method === 'CREDITS';
  if (isCredits && body.destination_type === 'CUSTOMER') {
    throw invalidField('/payment_method_type', 'cannot be CREDITS for the account of a customer');
  }
  const { customer_id } = destination;
  const wallet_id = isCredits
    ? await payingWallet(context, customer_id, currency, body.payment_method_id)
    : null;
  return {
    id,
    ...{ destination_type: body.destination_type, destination_id: body.destination_id },
    ...destination,
    ...{ currency, amount, payment_method_type: method, wallet_id, collection_round: null },
    payment_method_id: isCredits ? null : (body.payment_method_id ?? null),
    payment_gateway: body.payment_gateway ?? null,
    gateway_payment_id: null,
    gateway_tracking_id: null,
    error_message: null,
    metadata: body.metadata,
    gateway_options: body.gateway_options,
    success_url: body.success_url ?? null,
    cancel_url: body.cancel_url ?? null,
    save_card_and_make_default: body.save_card_and_make_default,
    idempotency_key: context.idempotencyKey,
  };
}

/**
 * The money of a payment that its invoice still has, where a change says that it goes back to the payer. Null for other changes, and
 * for a payment that is for no invoice.
 */
export async function leftOnInvoice(
  context: Pick<RequestContext, 'load'>,
  id: string,
  { payment_status }: PaymentChange,
): Promise<DecimalText | null> {
  const isBack = ['REFUNDED', 'PARTIALLY_REFUNDED', 'VOIDED'].some((to) => to === payment_status);
  return isBack ? moneyOnInvoice(context, id) : null;
}

/** The money of a payment that its invoice still has. Null for a payment that is for no invoice. */
export async function moneyOnInvoice(
  context: Pick<RequestContext, 'load'>,
  id: string,
): Promise<DecimalText | null> {
  const state = await context.load(payment, id);
  if (state?.destination_type !== 'INVOICE') return null;
  const paid = existing(await context.load(invoice, state.destination_id), 'invoice');
  return returnableOf(paid, id);
}

/** The parts of a request that say which provider takes a payment, and by which page. */
type AskedPayment = Pick<CreatePaymentBody, 'payment_method_type'> &
  Partial<Pick<CreatePaymentBody, 'payment_gateway' | 'success_url'>>;

/**
 * The provider that takes a payment; null for methods that need none. Throws 400 where the environment has none that does, where
 * the request names another, and for a page that the customer does not come back from.
 */
export async function providerFor(
  context: RequestContext,
  provider: PaymentProvider | null,
  { payment_method_type: method, payment_gateway, success_url }: AskedPayment,
): Promise<AskedProvider | null> {
  if (!isProvided(method)) return null;
  if (!provider?.methods.includes(method) || !(await provider.account(context))) {
    throw refusal(
      `There is no payment provider here that takes ${method}. Set one up, or write the payment down with process_payment false and tell what becomes of it by PUT /payments/{id}.`,
      { reason: 'no_payment_provider', payment_method_type: method },
    );
  }
  const { name } = provider;
  if (payment_gateway !== undefined && payment_gateway !== name) {
    throw invalidField('/payment_gateway', `must be ${name}, or be left out`);
  }
  if (method === 'PAYMENT_LINK' && success_url === undefined) {
    throw invalidField(
      '/success_url',
      'is required for PAYMENT_LINK: the page sends the customer there',
    );
  }
  return { name, attemptId: context.newId('attempt') };
}

/** The account of the environment at the provider of the installation. Throws 400 where there is none. */
export async function accountOf(
  context: RequestContext,
  provider: PaymentProvider | null,
): Promise<ProviderAccount> {
  const account = await provider?.account(context);
  if (account) return account;
  throw refusal('There is no payment provider here. Set one up before you save payment methods.', {
    reason: 'no_payment_provider',
  });
}
