import {
  newRecord,
  newText,
  ofTable,
  pageSchema,
  type Reaction,
  type Routes,
  route,
} from '@counterfoil/engine/define';
import { invalidField, referenceSchema } from '@counterfoil/kernel';
import { z } from 'zod';
import { deleted, messageSchema } from '../message.ts';
import { foundById } from '../record/index.ts';
import { carriedOut } from './carried-out.ts';
import {
  changePayment,
  createAndProcess,
  createPayment,
  deletePayment,
  type PaymentChange,
  processPayment,
  readable,
} from './decisions.ts';
import { attemptUnderWay, type OwnStatus, type Payment, payment } from './payment.ts';
import { assertTaken, leftOnInvoice, newPayment, providerFor } from './prepare.ts';
import { paymentTable } from './projection.ts';
import type { PaymentProvider } from './provider.ts';
import { listPayments, paymentExpansion } from './queries.ts';
import { isCredits } from './returns.ts';
import {
  createPaymentSchema,
  paymentSchema,
  paymentsQuerySchema,
  processPaymentSchema,
  type UpdatePaymentBody,
  updatePaymentSchema,
} from './schema.ts';
import { paymentView } from './view.ts';

const tag = 'Payments';
const idParameters = z.object({ id: referenceSchema('pay') });
const expand = paymentExpansion.parameter;
/** Ids that the provider has given. */
const gatewayIds = ['gateway_payment_id', 'gateway_tracking_id'];

/** The parts that the routes need from outside. */
export interface PaymentRoutesOptions {
  readonly provider: PaymentProvider | null;
  readonly reacting: Reaction;
}

const readingRoutes = {
  'GET /payments': route({
    summary: 'List payments',
    tag,
    status: 200,
    permission: 'payment:read',
    query: ofTable(paymentTable, paymentsQuerySchema.extend({ expand })),
    response: pageSchema(paymentSchema),
    example: {
      names: { payment_ids: 'pay', destination_id: 'inv' },
      texts: gatewayIds,
    },
    handle: (context, { query }) => listPayments(context, query),
  }),

  'GET /payments/{id}': route({
    summary: 'Get a payment',
    tag,
    status: 200,
    permission: 'payment:read',
    params: idParameters,
    query: z.object({ expand }),
    response: paymentSchema,
    handle: async (context, { params: { id }, query }) => {
      const { resource } = await foundById(context, paymentTable, 'payment', id);
      const [shown = resource] = await paymentExpansion.show(context, [resource], query.expand);
      return shown;
    },
  }),
} satisfies Routes;

const writingRoutes = ({ provider, reacting }: PaymentRoutesOptions) =>
  ({
    'POST /payments': route({
      summary: 'Pay an invoice, or into the account of a customer',
      description:
        'OFFLINE is money that has come by other ways, and counts at once. CREDITS takes it from a POST_PAID wallet, all or nothing. Other methods need a payment provider. What an invoice does not need goes to a wallet of the customer.',
      tag,
      status: 201,
      permission: 'payment:write',
      body: createPaymentSchema,
      response: paymentSchema,
      example: {
        body: {
          destination_type: 'CUSTOMER',
          destination_id: newRecord('cust'),
          payment_method_type: 'OFFLINE',
          amount: '25',
          currency: 'usd',
          metadata: { reference: newText('transfer') },
        },
        makes: 'pay',
        texts: ['payment_method_id'],
      },
      handle: async (context, { body }) => {
        const id = context.newId('pay');
        const outcome = await context.execute(payment, id, {
          prepare: async () => {
            const data = await newPayment(context, id, body);
            if (!body.process_payment) return createPayment(data);
            return createAndProcess(data, await providerFor(context, provider, body));
          },
        });
        return paymentView(await carriedOut(context, reacting, id, outcome));
      },
    }),

    'PUT /payments/{id}': route({
      summary: 'Change a payment, or tell what became of it',
      description:
        'Fields that are given change. `payment_status` moves as a payment can; of one that CREDITS pay the wallet decides. Money that went back to the payer is owed again.',
      tag,
      status: 200,
      permission: 'payment:write',
      params: idParameters,
      body: updatePaymentSchema,
      response: paymentSchema,
      example: {
        body: { metadata: { reference: newText('transfer') } },
        texts: [...gatewayIds, 'payment_method_id'],
      },
      handle: async (context, { params: { id }, body }) => {
        const change = changeOf(body);
        const outcome = await context.execute(payment, id, {
          prepare: async () => changePayment(id, change, await leftOnInvoice(context, id, change)),
        });
        const changed = await carriedOut(context, reacting, id, outcome);
        const isAsked = outcome.events.some(({ type }) => type === 'ReturnAsked');
        if (isAsked && changed.is_refused) throw isCredits(changed);
        return paymentView(changed);
      },
    }),

    'DELETE /payments/{id}': route({
      summary: 'Delete a payment that was never made',
      description: 'One that waits or has failed.',
      tag,
      status: 200,
      permission: 'payment:write',
      params: z.object({ id: referenceSchema('pay') }),
      response: messageSchema,
      example: { params: { id: newRecord('pay_waiting') } },
      handle: async (context, { params: { id } }) => {
        await context.execute(payment, id, deletePayment(id));
        return deleted('payment', id);
      },
    }),

    'POST /payments/{id}/process': route({
      summary: 'Begin with a payment that waits',
      tag,
      status: 200,
      permission: 'payment:write',
      params: idParameters,
      body: processPaymentSchema,
      bodyOptional: true,
      response: paymentSchema,
      example: { params: { id: newRecord('pay_waiting') }, body: {} },
      handle: async (context, { params: { id } }) => {
        const outcome = await context.execute(payment, id, {
          prepare: async () => {
            const waiting = readable(await context.load(payment, id), id);
            // Of one that is on its way it is asked what has become of it.
            if (!attemptUnderWay(waiting)) await assertTaken(context, waiting);
            return processPayment(id, await providerFor(context, provider, askedAgain(waiting)));
          },
        });
        return paymentView(await carriedOut(context, reacting, id, outcome));
      },
    }),
  }) satisfies Routes;

/** The routes of payments, with the provider that they ask and what they carry out at once. */
export const paymentRoutes = (options: PaymentRoutesOptions) => ({
  ...readingRoutes,
  ...writingRoutes(options),
});

/** A payment that waits, as it is asked of a provider. */
const askedAgain = ({ payment_method_type, payment_gateway, success_url }: Payment) => ({
  payment_method_type,
  ...(payment_gateway === null ? {} : { payment_gateway }),
  ...(success_url === null ? {} : { success_url }),
});

const instantFields = {
  succeeded_at: ['SUCCEEDED'],
  failed_at: ['FAILED'],
  refunded_at: ['REFUNDED', 'PARTIALLY_REFUNDED'],
  voided_at: ['VOIDED'],
} as const satisfies Readonly<Record<string, readonly OwnStatus[]>>;
type InstantField = keyof typeof instantFields;

/** The change that a body asks for. An instant belongs to the state that it is of, and to no other. */
function changeOf(body: UpdatePaymentBody): PaymentChange {
  const payment_status = body.payment_status === 'OVERPAID' ? 'SUCCEEDED' : body.payment_status;
  const instants = (Object.keys(instantFields) as InstantField[]).filter(
    (field) => body[field] !== undefined,
  );
  for (const field of instants) {
    const states: readonly string[] = instantFields[field];
    if (payment_status !== undefined && states.includes(payment_status)) continue;
    throw invalidField(`/${field}`, `can only be given with payment_status ${states.join(' or ')}`);
  }
  if (body.refunded_amount !== undefined && payment_status !== 'PARTIALLY_REFUNDED') {
    throw invalidField('/refunded_amount', 'can only be given with PARTIALLY_REFUNDED');
  }
  const [field] = instants;
  return {
    fields: {
      payment_gateway: body.payment_gateway,
      gateway_payment_id: body.gateway_payment_id,
      gateway_tracking_id: body.gateway_tracking_id,
      payment_method_id: body.payment_method_id,
      error_message: body.error_message,
      metadata: body.metadata,
    },
    payment_status: payment_status ?? null,
    at: (field && body[field]) ?? null,
    refunded_amount: body.refunded_amount ?? null,
  };
}
