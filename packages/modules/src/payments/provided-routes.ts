import {
  newRecord,
  type Reaction,
  type RequestContext,
  type Routes,
  route,
} from '@counterfoil/engine/define';
import { type CustomerId, notFound, Problem, referenceSchema } from '@counterfoil/kernel';
import { z } from 'zod';
import { customerReference } from '../customers/index.ts';
import { messageSchema } from '../message.ts';
import { carriedOut } from './carried-out.ts';
import { payment } from './payment.ts';
import { accountOf, moneyOnInvoice } from './prepare.ts';
import { cancelPayment, startRefund } from './provided-decisions.ts';
import { type PaymentProvider, ProviderUnavailable } from './provider.ts';
import {
  cancelPaymentSchema,
  methodSetupSchema,
  paymentSchema,
  refundPaymentSchema,
  savedMethodsSchema,
  setUpMethodSchema,
} from './schema.ts';
import { paymentView } from './view.ts';

const tag = 'Payments';
const idParameters = z.object({ id: referenceSchema('pay') });
const customerParameters = z.object({ id: referenceSchema('cust') });
const methodParameters = customerParameters.extend({
  method_id: z.string().min(1).max(255).meta({ description: 'Id of the method at the provider' }),
});

/** A method that a customer has saved. */
const savedExample = {
  params: { id: newRecord('saved_method', 'customer_id'), method_id: newRecord('saved_method') },
};

/** The parts that the routes need from outside. */
interface ProvidedOptions {
  readonly provider: PaymentProvider | null;
  readonly reacting: Reaction;
}

/** The id of the customer of a path, which may be an external one. Throws 404. */
async function customerOf(context: RequestContext, customer_id: string): Promise<CustomerId> {
  const fields = { id: 'id', externalId: 'id' };
  return (await customerReference(context, { customer_id }, fields)).id;
}

/** An answer of the provider. Throws 503 where it gives none. */
const answered = <Answer>(answer: Promise<Answer>): Promise<Answer> =>
  answer.catch((error: unknown) => {
    if (!(error instanceof ProviderUnavailable)) throw error;
    const message = 'The payment provider does not answer now. Send the request again.';
    throw new Problem('service_unavailable', message, { retryAfterSeconds: 5 });
  });

/** Has the provider act on a method that a customer has saved. Throws 404, and 503 where it does not answer. */
async function actOnMethod(
  context: RequestContext,
  provider: PaymentProvider | null,
  { id, method_id }: z.output<typeof methodParameters>,
  act: 'makeDefault' | 'removeMethod',
): Promise<void> {
  const customerId = await customerOf(context, id);
  const account = await accountOf(context, provider);
  const isKnown = await answered(account[act](customerId, method_id));
  if (!isKnown) throw notFound('payment method', method_id);
}

/** Payment methods that a provider has saved for customers. */
const methodRoutes = (provider: PaymentProvider | null) =>
  ({
    'GET /payments/customers/{id}/methods': route({
      operationId: 'listSavedPaymentMethods',
      summary: 'List the payment methods that a provider has saved for a customer',
      description: 'None where the environment has no payment provider.',
      tag,
      status: 200,
      permission: 'payment:read',
      params: customerParameters,
      response: savedMethodsSchema,
      handle: async (context, { params: { id } }) => {
        const customerId = await customerOf(context, id);
        const account = (await provider?.account(context)) ?? null;
        return { items: account ? [...(await answered(account.savedMethods(customerId)))] : [] };
      },
    }),

    'POST /payments/customers/{id}/setup/intent': route({
      operationId: 'setUpPaymentMethod',
      summary: 'Let a customer save a payment method',
      description:
        'Answers the address of a page of the provider. What is saved there can be charged without the customer, by POST /payments and by automatic collection.',
      tag,
      status: 200,
      permission: 'payment:write',
      params: customerParameters,
      body: setUpMethodSchema,
      response: methodSetupSchema,
      example: {
        needs: ['stripe_account'],
        body: { success_url: 'https://example.com/saved' },
      },
      handle: async (context, { params: { id }, body }) => {
        const customer_id = await customerOf(context, id);
        const account = await accountOf(context, provider);
        const { session_id, url } = await answered(
          account.beginSetup({
            customer_id,
            methods: body.payment_method_types,
            make_default: body.set_default,
            success_url: body.success_url,
            cancel_url: body.cancel_url ?? null,
            key: context.newId('attempt'),
          }),
        );
        return {
          customer_id,
          provider: provider?.name ?? '',
          checkout_session_id: session_id,
          checkout_url: url,
        };
      },
    }),

    'PUT /payments/customers/{id}/methods/{method_id}/default': route({
      operationId: 'makePaymentMethodDefault',
      summary: 'Make a saved payment method the usual one of a customer',
      description: 'Automatic collection charges the usual method.',
      tag,
      status: 200,
      permission: 'payment:write',
      params: methodParameters,
      response: messageSchema,
      example: savedExample,
      handle: async (context, { params }) => {
        await actOnMethod(context, provider, params, 'makeDefault');
        return { message: `Payment method ${params.method_id} is the usual one.` };
      },
    }),

    'DELETE /payments/customers/{id}/methods/{method_id}': route({
      operationId: 'removePaymentMethod',
      summary: 'Remove a saved payment method of a customer',
      description: 'The provider forgets it.',
      tag,
      status: 200,
      permission: 'payment:write',
      params: methodParameters,
      response: messageSchema,
      example: savedExample,
      handle: async (context, { params }) => {
        await actOnMethod(context, provider, params, 'removeMethod');
        return { message: `Payment method ${params.method_id} has been removed.` };
      },
    }),
  }) satisfies Routes;

/** Payments that a provider has brought, or is to bring. */
const movingRoutes = (reacting: Reaction) =>
  ({
    'POST /payments/{id}/cancel': route({
      summary: 'See to it that nothing comes of a payment any more',
      description:
        'One that waits has failed with it. Of one that a provider has under way the provider is asked: it ends as FAILED, or as SUCCEEDED where the money has come.',
      tag,
      status: 200,
      permission: 'payment:write',
      params: idParameters,
      body: cancelPaymentSchema,
      bodyOptional: true,
      response: paymentSchema,
      example: { params: { id: newRecord('pay_waiting') }, body: {} },
      handle: async (context, { params: { id }, body }) => {
        const outcome = await context.execute(payment, id, cancelPayment(id, body.reason));
        return paymentView(await carriedOut(context, reacting, id, outcome));
      },
    }),

    'POST /payments/{id}/refund': route({
      summary: 'Give money of a payment back through the provider that has brought it',
      description:
        'The invoice owes it again at once. What it does not have any more, because a credit note or a void gave it to the customer, does not go back. A refund that the provider refuses comes back as a payment of its own.',
      tag,
      status: 200,
      permission: 'payment:write',
      params: idParameters,
      body: refundPaymentSchema,
      bodyOptional: true,
      response: paymentSchema,
      example: { params: { id: newRecord('pay_charged') }, body: {} },
      handle: async (context, { params: { id }, body: { amount = null, reason = null } }) => {
        const refund_id = context.newId('refund');
        const outcome = await context.execute(payment, id, {
          prepare: async () =>
            startRefund(id, { refund_id, amount, reason }, await moneyOnInvoice(context, id)),
        });
        return paymentView(await carriedOut(context, reacting, id, outcome));
      },
    }),
  }) satisfies Routes;

/** The routes of what a provider takes, saves and gives back. */
export const providedRoutes = ({ provider, reacting }: ProvidedOptions) => ({
  ...methodRoutes(provider),
  ...movingRoutes(reacting),
});
