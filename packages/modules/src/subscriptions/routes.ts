import {
  listShape,
  newRecord,
  newText,
  ofTable,
  pageSchema,
  pageShape,
  type RequestContext,
  type Routes,
  route,
  searchExample,
  withETag,
} from '@counterfoil/engine/define';
import {
  type Instant,
  invalidField,
  referenceSchema,
  type SubscriptionId,
} from '@counterfoil/kernel';
import { z } from 'zod';
import {
  customerEntitlementsQuerySchema,
  subscriptionEntitlementsSchema,
} from '../entitlements/index.ts';
import { redeemAll } from './coupons/prepare.ts';
import { prepareOrder } from './creation/prepare.ts';
import {
  activateSubscription,
  type Cancellation,
  cancelSubscription,
  changeSubscription,
  createSubscription,
  deleteDraft,
  existingSubscription,
  revertCancellation,
  type SubscriptionDecision,
} from './decisions.ts';
import { subscriptionEntitlements } from './entitlements/grants.ts';
import { subscriptionExpansion } from './expansion.ts';
import { changeParent } from './families/decisions.ts';
import { subscriptionNamed } from './families/prepare.ts';
import { lineItemTable, settlementTable, subscriptionTable } from './projection.ts';
import {
  getSubscription,
  searchLines,
  searchSubscriptions,
  settlementsOf,
  shown,
  subscriptionsOfExternal,
} from './queries.ts';
import {
  activateSubscriptionSchema,
  type CreateSubscription,
  cancelledSchema,
  cancelSubscriptionSchema,
  createSubscriptionSchema,
  lineItemSchema,
  settlementRecordSchema,
  subscriptionSchema,
  type UpdateSubscription,
  updateSubscriptionSchema,
} from './schema.ts';
import { lineSearchSchema, subscriptionSearchSchema } from './search-schema.ts';
import { subscription } from './subscription.ts';
import { cancelledView, subscriptionView } from './view.ts';

const tag = 'Subscriptions';
const idParameters = z.object({ id: referenceSchema('subs') });
const expand = subscriptionExpansion.parameter;
const nameOfSearch = {
  customer_id: 'cust',
  customer_ids: 'cust',
  invoicing_customer_ids: 'cust',
  external_customer_id: 'cust.external_id',
  plan_id: 'plan',
  subscription_ids: 'subs',
  parent_subscription_ids: 'subs',
} as const;

/** Carries a command out on one subscription, and answers it with its plan and its customer. */
async function answered(
  context: RequestContext,
  id: string,
  decision: SubscriptionDecision | { readonly prepare: () => Promise<SubscriptionDecision> },
) {
  const { state, revision } = await context.execute(subscription, id, decision);
  return withETag(await shown(context, subscriptionView(state)), revision);
}

/** The command that creates a subscription. Its coupons are redeemed before, as the last that can fail. */
async function creation(
  context: RequestContext,
  id: SubscriptionId,
  body: CreateSubscription,
): Promise<SubscriptionDecision> {
  const order = await prepareOrder(context, id, body);
  const create = createSubscription(order);
  if (order.coupons.length > 0) {
    // A faulty request redeems nothing.
    create(null, context.now);
    await redeemAll(context, id, order.coupons);
  }
  return create;
}

/** The command that an update asks for. */
async function updateOf(
  context: RequestContext,
  id: string,
  body: UpdateSubscription,
): Promise<SubscriptionDecision> {
  const { metadata, lookup_key, cancel_at_period_end, cancel_at } = body;
  const fields = changeSubscription(id, {
    metadata,
    lookup_key: lookup_key === undefined ? undefined : lookup_key || null,
  });
  const parent = await parentChange(context, id, body);
  if (parent !== null && (cancel_at_period_end ?? cancel_at ?? null) !== null) {
    throw invalidField('/parent_subscription_id', 'changes by itself, and not with its end');
  }
  const change = parent === null ? fields : both(fields, parent);
  if (cancel_at_period_end === true) return both(change, scheduledBy(context, id, null));
  if (cancel_at) return both(change, scheduledBy(context, id, cancel_at));
  return cancel_at_period_end === false ? both(change, revertCancellation(id)) : change;
}

/** The command that gives a subscription another parent, or none; null where an update says nothing of it. */
async function parentChange(
  context: RequestContext,
  id: string,
  { parent_subscription_id: parentId }: UpdateSubscription,
): Promise<SubscriptionDecision | null> {
  if (parentId === undefined) return null;
  if (!parentId) return changeParent(id, null);
  return changeParent(id, await subscriptionNamed(context, parentId, 'parent_subscription_id'));
}

/** Two decisions that touch different things, one after the other. */
const both =
  (first: SubscriptionDecision, second: SubscriptionDecision): SubscriptionDecision =>
  (state, at) => [...first(state, at), ...second(state, at)];

const scheduledBy = (
  context: RequestContext,
  id: string,
  cancel_at: Instant | null,
): SubscriptionDecision =>
  cancelSubscription(id, {
    cancellation_type: cancel_at === null ? 'end_of_period' : 'scheduled_date',
    cancel_at,
    proration_behavior: 'create_prorations',
    skips_arrears: false,
    reason: null,
    schedule_id: context.newId('sched'),
  });

export const subscriptionRoutes = {
  'POST /subscriptions': route({
    summary: 'Create a subscription',
    description:
      'Under the prices of the plan that fit its currency and period. It begins now, has begun, or begins later; a draft waits for its activation.',
    tag,
    status: 201,
    permission: 'subscription:write',
    body: createSubscriptionSchema,
    response: subscriptionSchema,
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
      return answered(context, id, {
        prepare: () => creation(context, id, body),
      });
    },
  }),

  'GET /subscriptions': route({
    summary: 'List subscriptions',
    tag,
    status: 200,
    permission: 'subscription:read',
    query: ofTable(
      subscriptionTable,
      z.object({ ...listShape, customer_id: z.string().max(64).optional(), expand }),
    ),
    response: pageSchema(subscriptionSchema),
    example: { names: { customer_id: 'cust' } },
    handle: (context, { query }) => searchSubscriptions(context, query),
  }),

  'POST /subscriptions/search': route({
    summary: 'Search subscriptions',
    tag,
    status: 200,
    permission: 'subscription:read',
    body: ofTable(
      subscriptionTable,
      subscriptionSearchSchema.extend({ expand }).meta({ id: 'SubscriptionSearch' }),
    ),
    bodyOptional: true,
    response: pageSchema(subscriptionSchema),
    example: { body: searchExample, names: nameOfSearch },
    handle: (context, { body }) => searchSubscriptions(context, body),
  }),

  'POST /subscriptions/lineitems/search': route({
    summary: 'Search the lines of all subscriptions',
    tag,
    status: 200,
    permission: 'subscription:read',
    body: ofTable(lineItemTable, lineSearchSchema.meta({ id: 'SubscriptionLineItemSearch' })),
    bodyOptional: true,
    response: pageSchema(lineItemSchema),
    example: {
      body: searchExample,
      names: { subscription_ids: 'subs', customer_ids: 'cust', price_ids: 'price' },
      texts: ['subscription_line_item_ids', 'meter_ids', 'entity_ids', 'addon_association_ids'],
    },
    handle: (context, { body }) => searchLines(context, body),
  }),

  'GET /subscriptions/{id}': route({
    summary: 'Get a subscription',
    tag,
    status: 200,
    permission: 'subscription:read',
    params: idParameters,
    query: z.object({ expand }),
    response: subscriptionSchema,
    handle: async (context, { params }) => {
      const { resource, revision } = await getSubscription(context, params.id);
      return withETag(resource, revision);
    },
  }),

  'PUT /subscriptions/{id}': route({
    summary: 'Change a subscription, or schedule its end',
    description: '`cancel_at_period_end` of false takes a scheduled cancellation back.',
    tag,
    status: 200,
    permission: 'subscription:write',
    params: idParameters,
    body: updateSubscriptionSchema,
    response: subscriptionSchema,
    example: {
      body: { metadata: { note: newText('second') } },
      names: { parent_subscription_id: 'subs' },
    },
    handle: async (context, { params: { id }, body }) =>
      answered(context, id, { prepare: () => updateOf(context, id, body) }),
  }),

  'DELETE /subscriptions/{id}': route({
    summary: 'Give a draft up',
    description: 'A subscription that lives is cancelled instead.',
    tag,
    status: 204,
    permission: 'subscription:write',
    params: idParameters,
    example: { params: { id: newRecord('subs_draft') } },
    handle: async (context, { params: { id } }) => {
      await context.execute(subscription, id, deleteDraft(id));
      return undefined;
    },
  }),

  'POST /subscriptions/{id}/activate': route({
    summary: 'Start a draft',
    description: 'Start, trial, periods and lines are decided anew from `start_date`.',
    tag,
    status: 200,
    permission: 'subscription:write',
    params: idParameters,
    body: activateSubscriptionSchema,
    bodyOptional: true,
    response: subscriptionSchema,
    example: { params: { id: newRecord('subs_draft') }, body: {} },
    handle: async (context, { params: { id }, body }) =>
      answered(context, id, activateSubscription(id, body.start_date ?? null)),
  }),

  'POST /subscriptions/{id}/cancel': route({
    summary: 'Cancel a subscription, now or later',
    description:
      'Now: what is owed is billed, and what was paid for the time after it is credited. Later: nothing happens before then, and it can be taken back.',
    tag,
    status: 200,
    permission: 'subscription:write',
    params: idParameters,
    body: cancelSubscriptionSchema,
    response: cancelledSchema,
    example: { body: { cancellation_type: 'immediate', reason: newText('moved away') } },
    handle: async (context, { params: { id }, body }) => {
      const asked: Cancellation = {
        cancellation_type: body.cancellation_type,
        cancel_at: body.cancel_at ?? null,
        proration_behavior: body.proration_behavior ?? 'create_prorations',
        skips_arrears: body.cancel_immediately_inovice_policy === 'skip',
        reason: body.reason || null,
        schedule_id: context.newId('sched'),
      };
      const outcome = await context.execute(subscription, id, cancelSubscription(id, asked));
      const after = existingSubscription(outcome.state, id);
      const resource = await shown(context, subscriptionView(after));
      return withETag(
        cancelledView(after, resource, asked, outcome.events, context.now),
        outcome.revision,
      );
    },
  }),

  'GET /subscriptions/{id}/entitlements': route({
    summary: 'Get what a subscription gives',
    description: 'By feature, with the source of each part.',
    tag,
    status: 200,
    permission: 'subscription:read',
    params: idParameters,
    query: customerEntitlementsQuerySchema.omit({ subscription_ids: true }),
    response: subscriptionEntitlementsSchema,
    example: { texts: ['feature_ids'] },
    handle: (context, { params: { id }, query }) => subscriptionEntitlements(context, id, query),
  }),

  'GET /subscriptions/{id}/settlements': route({
    summary: 'List what was charged and credited for a subscription',
    tag,
    status: 200,
    permission: 'subscription:read',
    params: idParameters,
    query: ofTable(settlementTable, z.object(pageShape)),
    response: pageSchema(settlementRecordSchema),
    handle: (context, { params: { id }, query }) => settlementsOf(context, id, query),
  }),

  'GET /customers/external/{external_id}/subscriptions': route({
    summary: 'List the subscriptions of a customer, by external_id',
    tag,
    status: 200,
    permission: 'subscription:read',
    params: z.object({ external_id: z.string().max(255) }),
    query: z.object({ ...pageShape, expand }),
    response: pageSchema(subscriptionSchema),
    example: { params: { external_id: newRecord('cust', 'external_id') } },
    handle: (context, { params, query }) =>
      subscriptionsOfExternal(context, params.external_id, query),
  }),
} satisfies Routes;
