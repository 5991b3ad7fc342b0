import {
  newRecord,
  newText,
  type Routes,
  route,
  where,
  withETag,
} from '@counterfoil/engine/define';
import { invariant, type RecordStamps, referenceSchema } from '@counterfoil/kernel';
import { z } from 'zod';
import { foundById } from '../../record/index.ts';
import { existingSubscription } from '../decisions.ts';
import type { SubscriptionEvent } from '../events.ts';
import { type Subscription, subscription } from '../subscription.ts';
import { currentPeriod } from '../time/steps.ts';
import { settlementSum, subscriptionView } from '../view.ts';
import { addonAssociationTable, associationExpansion, associationView } from './projection.ts';
import { attachingAddon, removingAddon } from './requests.ts';
import {
  type AddonAssociation,
  addAddonSchema,
  addonAssociationSchema,
  removeAddonSchema,
  settledAddonSchema,
} from './schema.ts';

const tag = 'Subscriptions';

/** Associations that one list has at most: all that overlap a period. */
const listed = 1000;

/** An add-on after its change, with what that charges and credits. */
function settledView(
  { id: subscription_id, addons }: Subscription,
  association_id: string,
  events: readonly SubscriptionEvent[],
  stamps: RecordStamps,
): AddonAssociation & { readonly settlement: ReturnType<typeof settlementSum> } {
  const addon = addons.find(({ id }) => id === association_id);
  invariant(addon, `the add-on ${association_id} is there after its change`);
  const own = events.filter(
    (event) => event.type === 'SettlementRecorded' && event.data.reason.startsWith('addon_'),
  );
  return {
    ...associationView({ addon, subscription_id, stamps }),
    settlement: settlementSum(own),
  };
}

/** The routes of the add-ons of subscriptions (E 11.5). */
export const addonAssociationRoutes = {
  'POST /subscriptions/addon': route({
    operationId: 'addAddonToSubscription',
    summary: 'Attach an add-on to a subscription',
    description: 'Prorated, its lines are charged for the rest of the period.',
    tag,
    status: 200,
    permission: 'subscription:write',
    body: addAddonSchema,
    response: settledAddonSchema,
    example: {
      body: { subscription_id: newRecord('subs'), addon_id: newRecord('addon') },
      makes: 'addon_assoc',
      names: { 'override_line_items.0.price_id': 'price' },
    },
    handle: async (context, { body: { subscription_id: id, ...body } }) => {
      const outcome = await context.execute(subscription, id, {
        prepare: () => attachingAddon(context, id, body, null),
      });
      const attached = outcome.events.find(({ type }) => type === 'AddonAttached');
      invariant(attached?.type === 'AddonAttached', 'an add-on was attached');
      const state = existingSubscription(outcome.state, id);
      const { updated_at, updated_by } = state;
      const stamps = { ...state, created_at: updated_at, created_by: updated_by };
      return withETag(
        settledView(state, attached.data.addon.id, outcome.events, stamps),
        outcome.revision,
      );
    },
  }),

  'DELETE /subscriptions/addon': route({
    operationId: 'removeAddonFromSubscription',
    summary: 'End an add-on of a subscription',
    description: 'Prorated, what was charged for the time after it is credited.',
    tag,
    status: 200,
    permission: 'subscription:write',
    body: removeAddonSchema,
    response: settledAddonSchema,
    example: {
      body: { addon_association_id: newRecord('addon_assoc'), reason: newText('not used') },
    },
    handle: async (context, { body }) => {
      const { addon_association_id } = body;
      const found = await foundById(
        context,
        addonAssociationTable,
        'add-on of a subscription',
        addon_association_id,
      );
      const { entity_id: id, ...row } = found.resource;
      const outcome = await context.execute(subscription, id, removingAddon(id, body));
      const state = existingSubscription(outcome.state, id);
      const stamps = { ...row, updated_at: state.updated_at, updated_by: state.updated_by };
      return withETag(
        settledView(state, addon_association_id, outcome.events, stamps),
        outcome.revision,
      );
    },
  }),

  'GET /subscriptions/{id}/addons/associations': route({
    summary: 'List the add-ons of a subscription in its current period',
    tag,
    status: 200,
    permission: 'subscription:read',
    params: z.object({ id: referenceSchema('subs') }),
    response: z.array(addonAssociationSchema),
    handle: async (context, { params: { id } }) => {
      const state = existingSubscription(await context.recalled.load(subscription, id), id);
      const period = currentPeriod(state);
      const { items } = await context.read.list(
        addonAssociationTable,
        { limit: listed, offset: 0, sort: [{ column: 'created_at', order: 'desc' }] },
        [
          ...where('subscription_id', 'eq', id),
          ...where('start_date', 'lte', period.end),
          ...where('end_date', 'gt', period.start),
        ],
      );
      const of = subscriptionView(state);
      const shown = await associationExpansion.show(context, items);
      return shown.map((each) => ({ ...each, subscription: of }));
    },
  }),
} satisfies Routes;
