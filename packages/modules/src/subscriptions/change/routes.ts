import {
  newRecord,
  newText,
  type RequestContext,
  type Routes,
  route,
  withETag,
} from '@counterfoil/engine/define';
import { type Instant, referenceSchema } from '@counterfoil/kernel';
import { z } from 'zod';
import { existingSubscription, type SubscriptionDecision } from '../decisions.ts';
import type { SubscriptionEvent } from '../events.ts';
import { type Invoicing, noInvoicing, type Recorded, type ShownInvoice } from '../invoicing.ts';
import { boundTo, givenQuote, quoteExpiry, quoteId, quoteOf } from '../modify/quote.ts';
import { foldAll, type Subscription, subscription } from '../subscription.ts';
import { changePlanTo, followSubscription } from './decisions.ts';
import { preparePlanChange } from './prepare.ts';
import { followingSubscriptions } from './reactions.ts';
import {
  type ChangePlan,
  changePlanSchema,
  planChangedSchema,
  planChangePreviewSchema,
} from './schema.ts';
import {
  changedView,
  type DecidedChange,
  decidedChange,
  previewView,
  settlementsOfChange,
} from './view.ts';

const tag = 'Subscriptions';
const parameters = z.object({ id: referenceSchema('subs') });
const example = {
  body: {
    target_plan_id: newRecord('price', 'entity_id'),
    metadata: { note: newText('more') },
  },
  names: { target_plan_id: 'plan' },
  texts: ['quote_id'],
} as const;

const decisionOf = async (
  context: RequestContext,
  id: string,
  body: ChangePlan,
  at: Instant | null,
): Promise<SubscriptionDecision> =>
  changePlanTo(id, await preparePlanChange(context, id, body, at));

/** An invoice of a change, which there is not always. */
const optional = ({ schema }: Invoicing) =>
  schema
    .optional()
    .meta({ description: 'Of the subscription to come; where it owes nothing, of this one' });

/** The invoice of a change that takes effect now: that of the subscription to come, else that of what is billed of this one. */
async function settledAtOnce(
  context: RequestContext,
  invoicing: Invoicing,
  { id, followed_by }: Subscription,
  outcome: Recorded,
): Promise<ShownInvoice | null> {
  const own = await invoicing.settle(context, id, outcome);
  if (followed_by === null) return null;
  const events: SubscriptionEvent[] = [];
  for await (const event of context.history(subscription, followed_by)) events.push(event);
  const recorded = { events, revision: events.length - 1, replayed: outcome.replayed };
  return (await invoicing.settle(context, followed_by, recorded)) ?? own;
}

/** The same before it has happened; null for one that is scheduled. */
async function foreseen(
  context: RequestContext,
  invoicing: Invoicing,
  { id, followed_by }: Subscription,
  events: readonly SubscriptionEvent[],
  { change }: DecidedChange,
): Promise<ShownInvoice | null> {
  if (followed_by === null) return null;
  const following = followSubscription(change, id)(null, change.at);
  const next = await invoicing.foresee(context, followed_by, following);
  return next ?? invoicing.foresee(context, id, events);
}

const previewRoutes = (invoicing: Invoicing) =>
  ({
    'POST /subscriptions/{id}/change/preview': route({
      summary: 'Preview a change of plan',
      description: 'Both sides prorated, what is taken along, and what is not.',
      tag,
      status: 200,
      permission: 'subscription:read',
      params: parameters,
      body: changePlanSchema,
      response: planChangePreviewSchema
        .extend({ next_invoice_preview: optional(invoicing) })
        .meta({ id: 'PlanChangePreview' }),
      example,
      handle: async (context, { params: { id }, body }) => {
        const at = context.now;
        const before = existingSubscription(await context.load(subscription, id), id);
        const events = (await decisionOf(context, id, body, at))(before, at);
        const after = foldAll(before, events, at);
        const quote = quoteOf(settlementsOfChange(events), at);
        const decided = decidedChange(events, after);
        const next_invoice_preview = await foreseen(context, invoicing, after, events, decided);
        return {
          ...previewView(before, decided),
          ...(next_invoice_preview && { next_invoice_preview }),
          quote_id: quoteId(quote),
          quote_expires_at: quoteExpiry(quote),
        };
      },
    }),
  }) satisfies Routes;

const executionRoutes = (invoicing: Invoicing) =>
  ({
    'POST /subscriptions/{id}/change/execute': route({
      summary: 'Change the plan of a subscription',
      description:
        'It ends, and another one follows. With a `quote_id` as previewed, or 409 says what has changed.',
      tag,
      status: 200,
      permission: 'subscription:write',
      params: parameters,
      body: changePlanSchema,
      response: planChangedSchema
        .extend({ invoice: optional(invoicing) })
        .meta({ id: 'PlanChanged' }),
      example,
      handle: async (context, { params: { id }, body }) => {
        const quote = givenQuote(body.quote_id);
        const outcome = await context.execute(subscription, id, {
          prepare: async () =>
            boundTo(
              quote,
              await decisionOf(context, id, body, quote?.at ?? null),
              settlementsOfChange,
            ),
        });
        const after = existingSubscription(outcome.state, id);
        if (after.followed_by !== null) await context.carryOut(followingSubscriptions, id, outcome);
        const following =
          after.followed_by === null ? null : await context.load(subscription, after.followed_by);
        const decided = decidedChange(outcome.events, after);
        const invoice = await settledAtOnce(context, invoicing, after, outcome);
        const answer = changedView(after, following, decided);
        return withETag({ ...answer, ...(invoice && { invoice }) }, outcome.revision);
      },
    }),
  }) satisfies Routes;

/** The routes of changes of plan, with the invoices that they lead to. */
export const planChangeRoutesWith = (invoicing: Invoicing) => ({
  ...previewRoutes(invoicing),
  ...executionRoutes(invoicing),
});

/** The same where nobody invoices. */
export const planChangeRoutes = planChangeRoutesWith(noInvoicing);
