import {
  newRecord,
  newText,
  type RequestContext,
  type Routes,
  route,
} from '@counterfoil/engine/define';
import type { InvoiceId } from '@counterfoil/kernel';
import { stateFollowing } from '../../following.ts';
import type { InvoiceDecision } from '../decisions.ts';
import { finalization, followsFinalization } from '../finalizing/finalization.ts';
import { invoice } from '../invoice.ts';
import { shownInvoice } from '../queries.ts';
import { invoiceSchema } from '../schema.ts';
import { redeemNamed } from './coupons.ts';
import { prepareInvoice } from './prepare.ts';
import { type CreateInvoice, createInvoiceSchema } from './schema.ts';

/** The command that makes an invoice. Its coupons are redeemed before, as the last that can fail. */
async function creation(
  context: RequestContext,
  id: InvoiceId,
  body: CreateInvoice,
): Promise<InvoiceDecision> {
  const { create, coupons } = await prepareInvoice(context, id, body);
  await redeemNamed(context, id, coupons);
  return create;
}

export const oneOffRoutes = {
  'POST /invoices': route({
    summary: 'Make an invoice of your own',
    description:
      'Discounts and taxes are computed. It is final at once, with a number and a due date, unless `invoice_status` is DRAFT.',
    tag: 'Invoices',
    status: 201,
    permission: 'invoice:write',
    body: createInvoiceSchema,
    response: invoiceSchema,
    example: {
      body: {
        customer_id: newRecord('cust') as CreateInvoice['customer_id'],
        currency: 'usd',
        subtotal: '30',
        total: '30',
        amount_due: '30',
        line_items: [{ display_name: newText('Setup'), amount: '30', quantity: '1' }],
      },
      makes: 'inv',
      names: {
        'coupons.0': 'coupon',
        'invoice_coupons.0.coupon_id': 'coupon',
        'line_item_coupons.0.coupon_id': 'coupon',
      },
      texts: [
        ...['price_id', 'entity_id', 'plan_id', 'meter_id'].map((name) => `line_items.0.${name}`),
        'line_items.0.subscription_id',
        'line_items.0.subscription_line_item_id',
        'invoice_coupons.0.coupon_association_id',
        'line_item_coupons.0.coupon_association_id',
        'line_item_coupons.0.line_item_id',
      ],
    },
    handle: async (context, { body }) => {
      const id = context.newId('inv');
      const outcome = await context.execute(invoice, id, {
        prepare: () => creation(context, id, body),
      });
      // It is final by now, or will be as soon as it can be.
      await context.carryOut(finalization, id, outcome);
      const state = await stateFollowing(context, invoice, id, outcome, followsFinalization);
      return shownInvoice(context, state);
    },
  }),
} satisfies Routes;
