import {
  newRecord,
  newText,
  type Outcome,
  type RequestContext,
  type Routes,
  route,
  withETag,
} from '@counterfoil/engine/define';
import { referenceSchema, type SubscriptionId } from '@counterfoil/kernel';
import { z } from 'zod';
import { redeemAll } from '../coupons/prepare.ts';
import {
  activateSubscription,
  createSubscription,
  type SubscriptionDecision,
} from '../decisions.ts';
import type { SubscriptionEvent } from '../events.ts';
import type { Invoicing } from '../invoicing.ts';
import { shown } from '../queries.ts';
import {
  activateSubscriptionSchema,
  type CreateSubscription,
  createSubscriptionSchema,
  subscriptionWithInvoiceSchema,
} from '../schema.ts';
import { type SubscriptionState, subscription } from '../subscription.ts';
import { subscriptionView } from '../view.ts';
import { prepareOrder } from './prepare.ts';

type Commanded = SubscriptionDecision | { readonly prepare: () => Promise<SubscriptionDecision> };

/** Carries a command out that begins a subscription: answered with the invoice that it leads to, and what comes of that at once. */
async function begun(
  context: RequestContext,
  invoicing: Invoicing,
  id: string,
  decision: Commanded,
) {
  const outcome = await context.execute(subscription, id, decision);
  const latest_invoice = await invoicing.settle(context, id, outcome);
  const { state, revision } = await stateAfter(context, id, outcome);
  const resource = await shown(context, subscriptionView(state));
  return withETag({ ...resource, ...(latest_invoice && { latest_invoice }) }, revision);
}

/** The events that its opening invoice leads to. */
const followingTypes: readonly string[] = ['ChargesInvoiced', 'FirstPaymentMade', 'CreditsGranted'];

/** A subscription after a command and what followed from it: of a command that is repeated no more than that. */
async function stateAfter(
  context: RequestContext,
  id: string,
  outcome: Outcome<SubscriptionState, SubscriptionEvent>,
) {
  let { state, revision } = outcome;
  for await (const event of context.history(subscription, id, { from: revision + 1 })) {
    if (outcome.replayed && !followingTypes.includes(event.type)) break;
    state = subscription.evolve(state, event);
    revision = event.revision;
  }
  return { state, revision };
}

/**
 * The command that creates a subscription. Its coupons are redeemed before, as the last that can fail; and where it is refused unless
 * it is paid, that is known before anything is written.
 */
async function creation(
  context: RequestContext,
  invoicing: Invoicing,
  id: SubscriptionId,
  body: CreateSubscription,
): Promise<SubscriptionDecision> {
  const order = await prepareOrder(context, id, body);
  const create = createSubscription(order);
  const isRefusedUnpaid = order.payment_behavior === 'error_if_incomplete' && !order.is_draft;
  if (order.coupons.length === 0 && !isRefusedUnpaid) return create;
  // A faulty request redeems nothing.
  const events = create(null, context.now);
  if (isRefusedUnpaid) await invoicing.assertPaidAtOnce(context, id, events);
  await redeemAll(context, id, order.coupons);
  return create;
}

const tag = 'Subscriptions';

/** The routes by which subscriptions begin. */
export function beginningRoutes(invoicing: Invoicing) {
  const schema = subscriptionWithInvoiceSchema(invoicing.schema);
  return {
    'POST /subscriptions': route({
      summary: 'Create a subscription',
      description:
        'Under the prices of the plan that fit its currency and period. It begins now, has begun, or begins later; a draft waits for its activation.',
      tag,
      status: 201,
      permission: 'subscription:write',
      body: createSubscriptionSchema,
      response: schema,
      example: {
        body: {
          customer_id: newRecord('cust'),
          plan_id: newRecord('price', 'entity_id'),
          currency: 'usd',
          billing_period: 'MONTHLY',
          metadata: { note: newText('first') },
        },
        makes: 'subs',
        names: {
          external_customer_id: 'cust.external_id',
          'override_line_items.0.price_id': 'price',
          'line_items.0.price_id': 'price',
          'override_entitlements.0.entitlement_id': 'ent',
          'addons.0.addon_id': 'addon',
          'coupons.0': 'coupon',
          'inheritance.invoicing_customer_external_id': 'cust.external_id',
          'inheritance.external_customer_ids_to_inherit_subscription.0': 'cust.external_id',
          'inheritance.parent_subscription_id': 'subs',
          'inheritance.subscriptions_ids_for_grouped_invoicing.0': 'subs',
        },
        texts: [
          'gateway_payment_method_id',
          'line_items.0.price.meter_id',
          'addons.0.override_line_items.0.price_id',
          'line_items.0.subscription_phase_id',
          'subscription_coupons.0.price_id',
          'phases.0.line_items.0.price_id',
          'phases.0.line_items.0.commitment_time_buckets.0.id',
          'phases.0.subscription_coupons.0.price_id',
          'phases.0.line_items.0.price.meter_id',
          'phases.0.line_items.0.subscription_phase_id',
          'phases.0.override_line_items.0.price_id',
          'phases.0.override_entitlements.0.entitlement_id',
        ],
      },
      handle: async (context, { body }) => {
        const id = context.newId('subs');
        return begun(context, invoicing, id, {
          prepare: () => creation(context, invoicing, id, body),
        });
      },
    }),

    'POST /subscriptions/{id}/activate': route({
      summary: 'Start a draft',
      description: 'Start, trial, periods and lines are decided anew from `start_date`.',
      tag,
      status: 200,
      permission: 'subscription:write',
      params: z.object({ id: referenceSchema('subs') }),
      body: activateSubscriptionSchema,
      bodyOptional: true,
      response: schema,
      example: { params: { id: newRecord('subs_draft') }, body: {} },
      handle: async (context, { params: { id }, body }) =>
        begun(context, invoicing, id, activateSubscription(id, body.start_date ?? null)),
    }),
  } satisfies Routes;
}
