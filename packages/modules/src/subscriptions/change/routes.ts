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
import { boundTo, givenQuote, quoteExpiry, quoteId, quoteOf } from '../modify/quote.ts';
import { foldAll, subscription } from '../subscription.ts';
import { changePlanTo } from './decisions.ts';
import { preparePlanChange } from './prepare.ts';
import { followingSubscriptions } from './reactions.ts';
import {
  type ChangePlan,
  changePlanSchema,
  planChangedSchema,
  planChangePreviewSchema,
} from './schema.ts';
import { changedView, decidedChange, previewView, settlementsOfChange } from './view.ts';

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

export const planChangeRoutes = {
  'POST /subscriptions/{id}/change/preview': route({
    summary: 'Preview a change of plan',
    description: 'Both sides prorated, what is taken along, and what is not.',
    tag,
    status: 200,
    permission: 'subscription:read',
    params: parameters,
    body: changePlanSchema,
    response: planChangePreviewSchema,
    example,
    handle: async (context, { params: { id }, body }) => {
      const at = context.now;
      const before = existingSubscription(await context.load(subscription, id), id);
      const events = (await decisionOf(context, id, body, at))(before, at);
      const after = foldAll(before, events, at);
      const quote = quoteOf(settlementsOfChange(events), at);
      return {
        ...previewView(before, decidedChange(events, after)),
        quote_id: quoteId(quote),
        quote_expires_at: quoteExpiry(quote),
      };
    },
  }),

  'POST /subscriptions/{id}/change/execute': route({
    summary: 'Change the plan of a subscription',
    description:
      'It ends, and another one follows. With a `quote_id` as previewed, or 409 says what has changed.',
    tag,
    status: 200,
    permission: 'subscription:write',
    params: parameters,
    body: changePlanSchema,
    response: planChangedSchema,
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
      return withETag(changedView(after, following, decided), outcome.revision);
    },
  }),
} satisfies Routes;
