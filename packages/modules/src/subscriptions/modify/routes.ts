import { newText, type Routes, route, withETag } from '@counterfoil/engine/define';
import { referenceSchema } from '@counterfoil/kernel';
import { z } from 'zod';
import { existingSubscription } from '../decisions.ts';
import { shown } from '../queries.ts';
import { foldAll, subscription } from '../subscription.ts';
import { modificationOf, modifiedView, ownEvents } from './modification.ts';
import { boundTo, givenQuote, quoteExpiry, quoteId, quoteOf } from './quote.ts';
import { modifiedSchema, modifySubscriptionSchema } from './schema.ts';

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
  'inheritance_params.external_customer_ids_to_inherit_subscription.0',
  'inheritance_params.external_customer_ids_to_remove.0',
  'quote_id',
];
const body = {
  type: 'cancel',
  cancel_params: { cancellation_type: 'end_of_period', reason: newText('moved away') },
} as const;

export const modificationRoutes = {
  'POST /subscriptions/{id}/modify/preview': route({
    summary: 'Preview a modification of a subscription',
    tag,
    status: 200,
    permission: 'subscription:read',
    params: parameters,
    body: modifySubscriptionSchema,
    response: modifiedSchema,
    example: { body, texts },
    handle: async (context, { params: { id }, body: asked }) => {
      const at = context.now;
      const state = existingSubscription(await context.load(subscription, id), id);
      const decision = await modificationOf(context, id, asked, at);
      const events = decision(state, at);
      const after = foldAll(state, events, at);
      const view = modifiedView(after, events);
      const quote = quoteOf(ownEvents(events), at);
      return {
        ...view,
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
    response: modifiedSchema,
    example: { body, texts },
    handle: async (context, { params: { id }, body: asked }) => {
      const quote = givenQuote(asked.quote_id);
      const outcome = await context.execute(subscription, id, {
        prepare: async () =>
          boundTo(quote, await modificationOf(context, id, asked, quote?.at ?? null), ownEvents),
      });
      const view = modifiedView(outcome.state, outcome.events);
      return withETag(
        { ...view, subscription: await shown(context, view.subscription) },
        outcome.revision,
      );
    },
  }),
} satisfies Routes;
