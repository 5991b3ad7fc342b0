import {
  type PaymentProvider,
  type ProviderAccount,
  type ProviderAttempt,
  ProviderUnavailable,
} from '../payments/index.ts';
import type { StripeCall } from './call.ts';
import { cancelCharge, prepareCharge, settleCharge } from './charges.ts';
import { clientOf, credentialsOf, type StripeOptions } from './client.ts';
import { providerName } from './customers.ts';
import { isOfStripe } from './errors.ts';
import { makeDefault, removeMethod, savedMethods } from './methods.ts';
import { beginSetup, cancelPage, preparePage, settlePage } from './pages.ts';
import { settleRefund } from './refunds.ts';

/** Stripe behind the port of payment providers: off in environments that have set no account. */
export const stripeProvider = (options: StripeOptions): PaymentProvider => ({
  name: providerName,
  methods: ['CARD', 'ACH', 'PAYMENT_LINK'],
  account: async (context) => {
    const credentials = await credentialsOf(context, options);
    if (!credentials) return null;
    return accountWith({ stripe: await clientOf(credentials.key, options), context });
  },
});

/** The functions of an account. Whatever is no outcome is told as one that cannot be known now. */
const accountWith = (call: StripeCall): ProviderAccount => ({
  prepare: (attempt) =>
    known(isPage(attempt) ? preparePage(call, attempt) : prepareCharge(call, attempt)),
  settle: (attempt) =>
    known(isPage(attempt) ? settlePage(call, attempt) : settleCharge(call, attempt)),
  cancel: (attempt) =>
    known(isPage(attempt) ? cancelPage(call, attempt) : cancelCharge(call, attempt)),
  refund: (refund) => known(settleRefund(call, refund)),
  savedMethods: (id) => known(savedMethods(call, id)),
  beginSetup: (wanted) => known(beginSetup(call, wanted)),
  makeDefault: (id, method) => known(makeDefault(call, id, method)),
  removeMethod: (id, method) => known(removeMethod(call, id, method)),
});

const isPage = ({ method }: Pick<ProviderAttempt, 'method'>): boolean => method === 'PAYMENT_LINK';

const known = <Answer>(answer: Promise<Answer>): Promise<Answer> =>
  answer.catch((error: unknown) => {
    throw isOfStripe(error) ? new ProviderUnavailable(error.message, { cause: error }) : error;
  });
