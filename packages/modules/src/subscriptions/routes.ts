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
import { type Instant, invalidField, referenceSchema } from '@counterfoil/kernel';
import { z } from 'zod';
import {
  customerEntitlementsQuerySchema,
  subscriptionEntitlementsSchema,
} from '../entitlements/index.ts';
import { beginningRoutes } from './creation/routes.ts';
import {
  type Cancellation,
  cancelSubscription,
  changeSubscription,
  deleteDraft,
  existingSubscription,
  revertCancellation,
  type SubscriptionDecision,
} from './decisions.ts';
import { subscriptionEntitlements } from './entitlements/grants.ts';
import { subscriptionExpansion } from './expansion.ts';
import { changeParent } from './families/decisions.ts';
import { subscriptionNamed } from './families/prepare.ts';
import { type Invoicing, noInvoicing } from './invoicing.ts';
import { lineItemTable, settlementTable, subscriptionTable } from './projection.ts';
import {
  getSubscription,
  searchLines,
  searchSubscriptions,
  settlementsOf,
  shown,
  shownWithInvoice,
  subscriptionsOfExternal,
} from './queries.ts';
import {
  cancelledSchema,
  cancelSubscriptionSchema,
  lineItemSchema,
  settlementRecordSchema,
  subscriptionWithInvoiceSchema,
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

type Commanded = SubscriptionDecision | { readonly prepare: () => Promise<SubscriptionDecision> };

/** Carries a command out on one subscription, and answers it with its plan, its customer and its latest invoice. */
async function answered(
  context: RequestContext,
  invoicing: Invoicing,
  id: string,
  decision: Commanded,
) {
  const { state, revision } = await context.execute(subscription, id, decision);
  return withETag(await shownWithInvoice(context, invoicing, subscriptionView(state)), revision);
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

/** The routes that show subscriptions. */
function readingRoutes(invoicing: Invoicing) {
  const schema = subscriptionWithInvoiceSchema(invoicing.schema);
  return {
    'GET /subscriptions': route({
      summary: 'List subscriptions',
      tag,
      status: 200,
      permission: 'subscription:read',
      query: ofTable(
        subscriptionTable,
        z.object({ ...listShape, customer_id: z.string().max(64).optional(), expand }),
      ),
      response: pageSchema(schema),
      example: { names: { customer_id: 'cust' } },
      handle: (context, { query }) => searchSubscriptions(context, invoicing, query),
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
      response: pageSchema(schema),
      example: { body: searchExample, names: nameOfSearch },
      handle: (context, { body }) => searchSubscriptions(context, invoicing, body),
    }),

    'GET /subscriptions/{id}': route({
      summary: 'Get a subscription',
      tag,
      status: 200,
      permission: 'subscription:read',
      params: idParameters,
      query: z.object({ expand }),
      response: schema,
      handle: async (context, { params }) => {
        const { resource, revision } = await getSubscription(context, invoicing, params.id);
        return withETag(resource, revision);
      },
    }),

    'GET /customers/external/{external_id}/subscriptions': route({
      summary: 'List the subscriptions of a customer, by external_id',
      tag,
      status: 200,
      permission: 'subscription:read',
      params: z.object({ external_id: z.string().max(255) }),
      query: z.object({ ...pageShape, expand }),
      response: pageSchema(schema),
      example: { params: { external_id: newRecord('cust', 'external_id') } },
      handle: (context, { params, query }) =>
        subscriptionsOfExternal(context, invoicing, params.external_id, query),
    }),
  } satisfies Routes;
}

/** The routes that change and end one. */
const changingRoutes = (invoicing: Invoicing) =>
  ({
    'PUT /subscriptions/{id}': route({
      summary: 'Change a subscription, or schedule its end',
      description: '`cancel_at_period_end` of false takes a scheduled cancellation back.',
      tag,
      status: 200,
      permission: 'subscription:write',
      params: idParameters,
      body: updateSubscriptionSchema,
      response: subscriptionWithInvoiceSchema(invoicing.schema),
      example: {
        body: { metadata: { note: newText('second') } },
        names: { parent_subscription_id: 'subs' },
      },
      handle: async (context, { params: { id }, body }) =>
        answered(context, invoicing, id, { prepare: () => updateOf(context, id, body) }),
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

    'POST /subscriptions/{id}/cancel': route({
      summary: 'Cancel a subscription, now or later',
      description:
        'Now: what is owed is billed, and what was paid for the time after it is credited. Later: nothing happens before then, and it can be taken back.',
      tag,
      status: 200,
      permission: 'subscription:write',
      params: idParameters,
      body: cancelSubscriptionSchema,
      response: cancelledSchema
        .extend({
          proration_invoice: invoicing.schema
            .optional()
            .meta({ description: 'What is billed at the end' }),
        })
        .meta({ id: 'CancelledSubscription' }),
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
        const proration_invoice = await invoicing.settle(context, id, outcome);
        const answer = cancelledView(after, resource, asked, outcome.events, context.now);
        return withETag(
          { ...answer, ...(proration_invoice && { proration_invoice }) },
          outcome.revision,
        );
      },
    }),
  }) satisfies Routes;

/** The routes that show parts of subscriptions. */
const partRoutes = {
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
} satisfies Routes;

/** The routes of subscriptions, with what is told of their invoices. */
export const subscriptionRoutesWith = (invoicing: Invoicing) => ({
  ...beginningRoutes(invoicing),
  ...readingRoutes(invoicing),
  ...changingRoutes(invoicing),
  ...partRoutes,
});

/** The same where nobody invoices. */
export const subscriptionRoutes = subscriptionRoutesWith(noInvoicing);
