import {
  type AskingContext,
  asOf,
  newRecord,
  type Outcome,
  type Reaction,
  type RequestContext,
  type Routes,
  route,
} from '@counterfoil/engine/define';
import {
  derivedId,
  digitsFault,
  existing,
  invalidField,
  invalidOperation,
  type PaymentId,
  referenceSchema,
  zeroText,
} from '@counterfoil/kernel';
import { z } from 'zod';
import { carryOutFrom, firstOf } from '../following.ts';
import {
  amountsOf,
  type Invoice,
  type InvoiceState,
  invoice,
  invoiceSchema,
  invoiceView,
  notePayment,
  paymentStatusOf,
} from '../invoices/index.ts';
import { messageSchema } from '../message.ts';
import { carriedOut } from './carried-out.ts';
import { type CollectionEvent, collection } from './collection/collection.ts';
import { beginRound } from './collection/decisions.ts';
import { endsOfPayments } from './collection/reactions.ts';
import { collectable } from './collection/under-way.ts';
import { createAndProcess } from './decisions.ts';
import { payment } from './payment.ts';
import { newPayment, payableInvoice } from './prepare.ts';
import { attemptPaymentSchema, type RecordPaymentBody, recordPaymentSchema } from './schema.ts';

const tag = 'Invoices';
const idParameters = z.object({ id: referenceSchema('inv') });

/** The reactions that the routes carry out at once: of payments, and of rounds of a collection. */
export interface Reacting {
  readonly reacting: Reaction;
  readonly rounds: Reaction;
}

/** The routes by which an invoice is paid: what callers know of its payment, and a round of collection. */
export const invoicePaymentRoutes = ({ reacting, rounds }: Reacting) =>
  ({
    'PUT /invoices/{id}/payment': route({
      operationId: 'updateInvoicePayment',
      summary: 'Tell what became of the payment of an invoice',
      description:
        'SUCCEEDED writes an OFFLINE payment down, of `amount` or of all that remains. PENDING, PROCESSING, INITIATED and FAILED are noted. What goes back is told by PUT /payments/{id} or a credit note.',
      tag,
      status: 200,
      permission: 'invoice:write',
      params: idParameters,
      body: recordPaymentSchema,
      response: invoiceSchema,
      example: { params: { id: newRecord('inv') }, body: { payment_status: 'SUCCEEDED' } },
      handle: async (context, { params: { id }, body }) =>
        invoiceView(existing(await recorded(context, reacting, id, body), 'invoice')),
    }),

    'POST /invoices/{id}/payment/attempt': route({
      operationId: 'attemptInvoicePayment',
      summary: 'Collect what an invoice is owed',
      description:
        'From the POST_PAID wallets of the customer, each for the charges that it may pay. What they do not have is owed still. What payments that are under way bring is not collected again.',
      tag,
      status: 200,
      permission: 'invoice:write',
      params: idParameters,
      body: attemptPaymentSchema,
      bodyOptional: true,
      response: messageSchema,
      example: { params: { id: newRecord('inv') }, body: {} },
      handle: async (context, { params: { id } }) => {
        const outcome = await context.execute(collection, id, {
          prepare: async () => {
            await assertCollectable(context, await payableInvoice(context, id));
            return beginRound('request');
          },
        });
        await carryOutRound(context, { reacting, rounds }, id, firstOf(outcome));
        const then = outcome.replayed ? await afterRound(context, id, outcome) : context;
        return { message: collected(existing(await then.load(invoice, id), 'invoice')) };
      },
    }),
  }) satisfies Routes;

/** Refuses to collect what payments that are under way bring already. Throws 400. */
async function assertCollectable(context: RequestContext, state: Invoice): Promise<void> {
  if ((await collectable(context, state)) !== zeroText) return;
  throw invalidOperation(
    `Payments that are under way bring all that remains of invoice ${state.id}. Collect the rest when they have come or failed.`,
    { reason: 'payment_under_way', payment_status: paymentStatusOf(state) },
  );
}

/** The world as it was when the round that a request had begun was over. */
async function afterRound(
  context: RequestContext,
  id: string,
  outcome: Pick<Outcome<unknown, CollectionEvent>, 'revision' | 'events'>,
): Promise<AskingContext> {
  const from = Math.max(0, Math.min(firstOf(outcome), outcome.revision));
  let position = '0';
  for await (const event of context.history(collection, id, { from })) {
    if (event.revision > outcome.revision && event.type === 'RoundDue') break;
    position = event.position;
    if (event.type === 'RoundEnded') break;
  }
  return asOf(context, position);
}

function collected(state: Invoice): string {
  const { amount_paid, amount_remaining } = amountsOf(state);
  return `Invoice ${state.id} is ${paymentStatusOf(state)}: ${amount_paid} ${state.currency} paid, ${amount_remaining} remaining.`;
}

/**
 * Notes what a caller knows, or writes down the money that has come as a payment of its own. Returns the invoice after that: of
 * a request that is repeated as it was then (D30).
 */
async function recorded(
  context: RequestContext,
  reacting: Reaction,
  id: string,
  { payment_status, amount }: RecordPaymentBody,
): Promise<InvoiceState> {
  switch (payment_status) {
    case 'SUCCEEDED':
    case 'OVERPAID':
      return recordMoney(context, reacting, id, amount);
    case 'PENDING':
    case 'PROCESSING':
    case 'INITIATED':
    case 'FAILED': {
      if (amount !== undefined) {
        throw invalidField('/amount', 'can only be given with payment_status SUCCEEDED');
      }
      const outcome = await context.execute(invoice, id, {
        prepare: async () => {
          await payableInvoice(context, id);
          return notePayment({ payment_id: null, payment_status });
        },
      });
      return outcome.state;
    }
    case 'REFUNDED':
    case 'PARTIALLY_REFUNDED':
    case 'VOIDED':
      throw invalidField(
        '/payment_status',
        `cannot be ${payment_status}: tell it by PUT /payments/{id}, or make a credit note`,
      );
    default:
      return payment_status satisfies never;
  }
}

async function recordMoney(
  context: RequestContext,
  reacting: Reaction,
  invoiceId: string,
  given: RecordPaymentBody['amount'],
): Promise<InvoiceState> {
  const id = await idOfMoney(context, invoiceId, given);
  const outcome = await context.execute(payment, id, {
    prepare: async () => {
      const { currency, ...state } = await payableInvoice(context, invoiceId);
      const amount = given ?? amountsOf({ currency, ...state }).amount_remaining;
      const fault = digitsFault(amount, currency);
      if (fault) throw invalidField('/amount', fault);
      const data = await newPayment(context, id, {
        destination_type: 'INVOICE',
        destination_id: invoiceId,
        payment_method_type: 'OFFLINE',
        amount,
        currency,
        gateway_options: {},
        save_card_and_make_default: false,
        process_payment: true,
        metadata: {},
      });
      return (state, at) => (state === null ? createAndProcess(data, null)(state, at) : []);
    },
  });
  await carriedOut(context, reacting, id, outcome);
  return outcome.replayed ? settledBy(context, invoiceId, id) : context.load(invoice, invoiceId);
}

/**
 * The id of the payment of money that has come. All that remains comes once: two who say so of one state of the invoice without
 * a key speak of one payment.
 */
async function idOfMoney(
  context: RequestContext,
  invoiceId: string,
  given: RecordPaymentBody['amount'],
): Promise<PaymentId> {
  const id = context.newId('pay');
  if (given !== undefined || context.idempotencyKey !== null) return id;
  const state = await context.load(invoice, invoiceId);
  return state ? derivedId('pay', `${invoiceId}\nall after ${state.version}`) : id;
}

/** An invoice as it was when it had taken a payment; as it is where it has not. */
async function settledBy(
  context: RequestContext,
  invoiceId: string,
  paymentId: PaymentId,
): Promise<InvoiceState> {
  let state = invoice.initial;
  for await (const event of context.history(invoice, invoiceId)) {
    state = invoice.evolve(state, event);
    if (event.type === 'PaymentSettled' && event.data.payment_id === paymentId) break;
  }
  return state;
}

/** Carries out at once what a round of a collection leads to; what fails is left to the reactions. */
export const carryOutRound = (
  context: RequestContext,
  { reacting, rounds }: Reacting,
  id: string,
  from: number,
): Promise<void> =>
  carryOutFrom(context, collection, [rounds], id, from, async (event) => {
    if (event.type !== 'RoundPlanned') return;
    for (const { payment_id } of event.data.payments) {
      await carryOutFrom(context, payment, [reacting, endsOfPayments], payment_id, 0);
    }
  });
