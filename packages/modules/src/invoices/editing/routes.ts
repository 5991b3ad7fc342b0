import {
  newRecord,
  newText,
  type Outcome,
  type RequestContext,
  type Routes,
  route,
  withETag,
} from '@counterfoil/engine/define';
import { existing, type InvoiceId, referenceSchema } from '@counterfoil/kernel';
import { z } from 'zod';
import { assertReceives } from '../../wallets/index.ts';
import { couponsReturned } from '../coupon-returns.ts';
import type { InvoiceDecision } from '../decisions.ts';
import type { InvoiceEvent, requestableMessages } from '../events.ts';
import { type InvoiceState, invoice } from '../invoice.ts';
import { shownInvoice } from '../queries.ts';
import { recompute } from '../recalculation/recompute.ts';
import { invoiceSchema } from '../schema.ts';
import { moneyLeft, voidInvoice } from '../voiding/decisions.ts';
import { voidedInvoices } from '../voiding/reactions.ts';
import { changeInvoice, requestMessage, triggerCommunication } from './decisions.ts';
import { invoiceActSchema, triggerWebhookSchema, updateInvoiceSchema } from './schema.ts';

const tag = 'Invoices';
const params = z.object({ id: referenceSchema('inv') });

type InvoiceOutcome = Pick<Outcome<InvoiceState, InvoiceEvent>, 'state' | 'revision'>;

/** The answer of an act: what has happened, and the invoice after it. */
async function acted(
  context: RequestContext,
  { state, revision }: InvoiceOutcome,
  message: (number: string) => string,
) {
  const { id, invoice_number } = existing(state, 'invoice');
  const shown = await shownInvoice(context, state);
  return withETag({ message: message(invoice_number ?? id), invoice: shown }, revision);
}

const act = (context: RequestContext, id: InvoiceId, decision: InvoiceDecision) =>
  context.execute(invoice, id, decision);

/** The money on an invoice that becomes void goes to a wallet: there must be one, or be one to be made. Throws 400. */
async function assertMoneyTaken(context: RequestContext, state: InvoiceState): Promise<void> {
  if (state?.invoice_status !== 'FINALIZED' || moneyLeft(state) === '0') return;
  await assertReceives(context, state);
}

/** The part of a type of message that comes after `invoice.`. */
const tailOf = (type: `invoice.${(typeof requestableMessages)[number]}`) =>
  type.slice('invoice.'.length) as (typeof requestableMessages)[number];

export const editingRoutes = {
  'PUT /invoices/{id}': route({
    summary: 'Change the due date, the notes or the document of an invoice',
    description: 'What is left out stays. No figure of a final invoice ever changes.',
    tag,
    status: 200,
    permission: 'invoice:write',
    params,
    body: updateInvoiceSchema,
    response: invoiceSchema,
    example: { body: { metadata: { note: newText('sent by post') } } },
    handle: async (context, { params: { id }, body }) => {
      const { apply_discount, due_date, ...rest } = body;
      const change = changeInvoice(id, { ...rest, ...(due_date && { due_date }) });
      const { state, revision } = await context.execute(invoice, id, {
        prepare: async () => {
          if (!apply_discount) return change;
          const again = await recompute(context, id);
          return (before, at) => [...change(before, at), ...again(before, at)];
        },
      });
      return withETag(await shownInvoice(context, state), revision);
    },
  }),

  'POST /invoices/{id}/void': route({
    summary: 'Make an invoice void',
    description:
      'What was paid goes to a wallet of the customer, prepaid credits go back to their lots, and coupons that were redeemed for it can be redeemed again.',
    tag,
    status: 200,
    permission: 'invoice:write',
    params,
    response: invoiceActSchema,
    example: { params: { id: newRecord('inv') as InvoiceId } },
    handle: async (context, { params: { id } }) => {
      const outcome = await context.execute(invoice, id, {
        prepare: async () => {
          await assertMoneyTaken(context, await context.load(invoice, id));
          return voidInvoice(id);
        },
      });
      await context.carryOut(voidedInvoices, id, outcome);
      await context.carryOut(couponsReturned, id, outcome);
      return acted(context, outcome, (number) => `Invoice ${number} is void.`);
    },
  }),

  'POST /invoices/{id}/comms/trigger': route({
    summary: 'Have an invoice sent to its customer',
    description: 'Whoever receives `invoice.communication.triggered` sends it.',
    tag,
    status: 200,
    permission: 'invoice:write',
    params,
    response: invoiceActSchema,
    example: { params: { id: newRecord('inv') as InvoiceId } },
    handle: async (context, { params: { id } }) =>
      acted(
        context,
        await act(context, id, triggerCommunication(id)),
        (number) => `Invoice ${number} is to be sent to its customer.`,
      ),
  }),

  'POST /invoices/{id}/webhook/trigger': route({
    summary: 'Send a message about an invoice again',
    description: 'With the invoice as it is now.',
    tag,
    status: 200,
    permission: 'invoice:write',
    params,
    body: triggerWebhookSchema,
    bodyOptional: true,
    response: invoiceActSchema,
    example: { params: { id: newRecord('inv') as InvoiceId }, body: {} },
    handle: async (context, { params: { id }, body: { event_type } }) =>
      acted(
        context,
        await act(context, id, requestMessage(id, event_type ? tailOf(event_type) : null)),
        (number) => `A message about invoice ${number} is on its way.`,
      ),
  }),
} satisfies Routes;
