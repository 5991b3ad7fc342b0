import type Stripe from 'stripe';
import type { ProviderAttempt, SavedMethod } from '../payments/index.ts';
import type { StripeCall } from './call.ts';
import { linkedCustomer } from './customers.ts';
import { isMissing, orRefusal, Refused } from './errors.ts';
import { idOf } from './shown.ts';

/** Methods of one customer that are looked at. */
const methodsMaximum = 100;

/** The methods that a customer has saved at Stripe, the newest first, with the one that is charged when nobody names any. */
async function methodsOf(stripe: Stripe, customer: string): Promise<readonly SavedMethod[]> {
  const [shown, { data }] = await Promise.all([
    stripe.customers.retrieve(customer),
    stripe.paymentMethods.list({ customer, limit: methodsMaximum }),
  ]);
  if (shown.deleted) return [];
  const usable = data.flatMap((method) => savedMethod(method) ?? []);
  const named = idOf(shown.invoice_settings.default_payment_method);
  const usual = usable.find(({ id }) => id === named) ?? usable[0];
  return usable.map((method) => ({ ...method, is_default: method.id === usual?.id }));
}

/** A method as we know it; null for one of another kind. */
function savedMethod({
  id,
  type,
  card,
  us_bank_account: bank,
}: Stripe.PaymentMethod): SavedMethod | null {
  const unknown = { id, is_default: false, brand: null, last4: null, expires: null };
  if (type === 'card' && card) {
    const expires = `${card.exp_year}-${String(card.exp_month).padStart(2, '0')}`;
    const { brand, last4 } = card;
    return { ...unknown, payment_method_type: 'CARD', brand, last4, expires };
  }
  if (type === 'us_bank_account' && bank) {
    return { ...unknown, payment_method_type: 'ACH', brand: bank.bank_name, last4: bank.last4 };
  }
  return null;
}

/** The methods that Stripe has saved for a customer. None for one whom it does not know. */
export async function savedMethods(
  { stripe, context }: StripeCall,
  id: string,
): Promise<readonly SavedMethod[]> {
  const customer = await linkedCustomer(context, id);
  if (customer === null) return [];
  return methodsOf(stripe, customer).catch((error: unknown) => {
    if (isMissing(error)) return [];
    throw error;
  });
}

/** The id of the method of a kind that is charged when nobody names one; null where the customer has none. */
export async function usualMethod(
  stripe: Stripe,
  customer: string,
  kind: ProviderAttempt['method'],
): Promise<string | null> {
  const own = (await methodsOf(stripe, customer)).filter(
    ({ payment_method_type }) => payment_method_type === kind,
  );
  return (own.find(({ is_default }) => is_default) ?? own[0])?.id ?? null;
}

/** Does something with a method of a customer. False: the customer has no such method. */
async function withMethod(
  call: StripeCall,
  id: string,
  method: string,
  act: (customer: string) => Promise<unknown>,
): Promise<boolean> {
  const customer = await linkedCustomer(call.context, id);
  if (customer === null) return false;
  const found = await orRefusal(call.stripe.paymentMethods.retrieve(method));
  if (found instanceof Refused || idOf(found.customer) !== customer) return false;
  await act(customer);
  return true;
}

/** Makes a method the one that is charged when nobody names any. */
export const makeDefault = (call: StripeCall, id: string, method: string): Promise<boolean> =>
  withMethod(call, id, method, (customer) =>
    call.stripe.customers.update(customer, {
      invoice_settings: { default_payment_method: method },
    }),
  );

/** Has Stripe forget a method. */
export const removeMethod = (call: StripeCall, id: string, method: string): Promise<boolean> =>
  withMethod(call, id, method, () => call.stripe.paymentMethods.detach(method));
