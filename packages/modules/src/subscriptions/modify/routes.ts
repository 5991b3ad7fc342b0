import { newText, type Routes, route, withETag } from '@counterfoil/engine/define';
import { referenceSchema } from '@counterfoil/kernel';
import { z } from 'zod';
import { existingSubscription } from '../decisions.ts';
import { type Invoicing, noInvoicing, type ShownInvoice } from '../invoicing.ts';
import { shown } from '../queries.ts';
import { foldAll, subscription } from '../subscription.ts';
import { readied } from './beside.ts';
import { besideOf, modificationOf } from './modification.ts';
import { boundTo, givenQuote, quoteExpiry, quoteId, quoteOf } from './quote.ts';
import { type Modified, modifiedSchema, modifySubscriptionSchema } from './schema.ts';
import { modifiedView, ownEvents } from './view.ts';

const tag = 'Subscriptions';
const parameters = z.object({ id: referenceSchema('subs') });
/** Ids within the params of other types; the routes of their own show that those of others are not found. */
const texts = [
  'quantity_change_params.line_items.0.id',
  'remove_line_params.id',
  'add_line_params.price_id',
  'add_line_params.price.meter_id',
  'add_line_params.subscription_phase_id',
  'add_addon_params.addon_id',
  'add_addon_params.override_line_items.0.price_id',
  'remove_addon_params.addon_association_id',
  'addon_params.add.addon_id',
  'addon_params.add.override_line_items.0.price_id',
  'addon_params.remove.addon_association_id',
  'coupon_params.subscription_line_item_id',
  'coupon_params.coupon_association_id',
  'coupon_params.subscription_id',
  'tax_params.tax_rate_id',
  'tax_params.tax_association_id',
  'grouped_invoicing_params.parent_subscription_id',
  'grouped_invoicing_params.child_subscription_ids',
  'grouped_invoicing_params.child_subscription_ids.0',
  'update_line_params.id',
  'update_line_params.commitment_time_buckets.0.id',
  'remove_phase_params.id',
  'add_phase_params.line_items.0.price_id',
  'add_phase_params.line_items.0.commitment_time_buckets.0.id',
  'add_phase_params.line_items.0.price.meter_id',
  'add_phase_params.line_items.0.subscription_phase_id',
  'add_phase_params.override_line_items.0.price_id',
  'add_phase_params.override_entitlements.0.entitlement_id',
  'add_phase_params.subscription_coupons.0.price_id',
  'inheritance_params.external_customer_ids_to_inherit_subscription.0',
  'inheritance_params.external_customer_ids_to_remove.0',
  'quote_id',
];
const body = {
  type: 'cancel',
  cancel_params: { cancellation_type: 'end_of_period', reason: newText('moved away') },
} as const;

/** A modification with the invoice of what it settles. */
const withInvoice = (modified: Modified, invoice: ShownInvoice | null) =>
  invoice === null
    ? modified
    : {
        ...modified,
        invoice,
        changed_resources: {
          ...modified.changed_resources,
          invoices: [
            { id: invoice.id, action: 'created' as const, status: invoice.invoice_status },
          ],
        },
      };

/** The routes of modifications, with the invoices that they lead to. */
export function modificationRoutesWith(invoicing: Invoicing) {
  const schema = modifiedSchema
    .extend({
      invoice: invoicing.schema.optional().meta({ description: 'Of what it settles' }),
    })
    .meta({ id: 'ModifiedSubscription' });
  return {
    'POST /subscriptions/{id}/modify/preview': route({
      summary: 'Preview a modification of a subscription',
      tag,
      status: 200,
      permission: 'subscription:read',
      params: parameters,
      body: modifySubscriptionSchema,
      response: schema,
      example: { body, texts },
      handle: async (context, { params: { id }, body: asked }) => {
        const at = context.now;
        const state = existingSubscription(await context.load(subscription, id), id);
        const beside = besideOf(context, id, asked);
        const { decision, beside: inFull } = await modificationOf(context, id, asked, at, beside);
        const events = decision(state, at);
        await inFull.check();
        const after = foldAll(state, [...events, ...(beside.foreseen?.(state) ?? [])], at);
        const view = modifiedView(after, events, await beside.changed());
        const quote = quoteOf(ownEvents(events), at);
        const foreseen = await invoicing.foresee(context, id, events);
        return {
          ...withInvoice(view, foreseen),
          subscription: await shown(context, view.subscription),
          quote_id: quoteId(quote),
          quote_expires_at: quoteExpiry(quote),
        };
      },
    }),

    'POST /subscriptions/{id}/modify/execute': route({
      summary: 'Modify a subscription',
      description: 'With a `quote_id` as previewed, or 409 says what has changed.',
      tag,
      status: 200,
      permission: 'subscription:write',
      params: parameters,
      body: modifySubscriptionSchema,
      response: schema,
      example: { body, texts },
      handle: async (context, { params: { id }, body: asked }) => {
        const quote = givenQuote(asked.quote_id);
        const at = quote?.at ?? null;
        const beside = besideOf(context, id, asked);
        const outcome = await context.execute(subscription, id, {
          prepare: async () => {
            const modification = await modificationOf(context, id, asked, at, beside);
            const decision = boundTo(quote, modification.decision, ownEvents);
            return readied(context, id, { ...modification, decision });
          },
        });
        await beside.after?.();
        // What was done beside may have come back to the subscription by now.
        const state = beside.after ? await context.load(subscription, id) : outcome.state;
        const view = modifiedView(state, outcome.events, await beside.changed());
        const made = await invoicing.settle(context, id, outcome);
        const subscribed = await shown(context, view.subscription);
        const answer = { ...withInvoice(view, made), subscription: subscribed };
        return beside.after ? answer : withETag(answer, outcome.revision);
      },
    }),
  } satisfies Routes;
}

/** The same where nobody invoices. */
export const modificationRoutes = modificationRoutesWith(noInvoicing);
