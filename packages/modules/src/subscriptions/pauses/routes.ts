import {
  newRecord,
  newText,
  type RequestContext,
  type Routes,
  route,
  withETag,
} from '@counterfoil/engine/define';
import { type Instant, invariant, referenceSchema } from '@counterfoil/kernel';
import { z } from 'zod';
import { existingSubscription, type SubscriptionDecision } from '../decisions.ts';
import type { SubscriptionEvent } from '../events.ts';
import { shown } from '../queries.ts';
import { settlementSumSchema, subscriptionSchema } from '../schema.ts';
import { foldAll, type Subscription, subscription } from '../subscription.ts';
import { settlementSum, subscriptionView } from '../view.ts';
import { pauseSubscription, resumeSubscription } from './decisions.ts';
import {
  billingImpactSchema,
  type PauseSubscription,
  pauseSchema,
  pauseSubscriptionSchema,
  pausesSchema,
  resumeSubscriptionSchema,
} from './schema.ts';
import { billingImpact, pauseView } from './view.ts';

const tag = 'Subscriptions';
const parameters = z.object({ id: referenceSchema('subs') });

const pausedSchema = z
  .object({
    subscription: subscriptionSchema,
    pause: pauseSchema,
    billing_impact: billingImpactSchema,
    settlement: settlementSumSchema,
    dry_run: z.boolean(),
  })
  .meta({ id: 'PausedSubscription' });

/** The command of a pause. */
export const pausing = (
  context: RequestContext,
  id: string,
  body: PauseSubscription,
  quoted: Instant | null,
): SubscriptionDecision =>
  pauseSubscription(id, {
    id: context.newId('pause'),
    pause_mode: body.pause_mode,
    start: body.pause_start ?? null,
    end: body.pause_end ?? null,
    days: body.pause_days ?? null,
    bills_usage: body.bill_usage ?? false,
    reason: body.reason || null,
    metadata: body.metadata ?? {},
    quoted,
  });

/** Carries out what is asked of the pauses of a subscription, or only tells what it would do. */
async function answered(
  context: RequestContext,
  id: string,
  decision: SubscriptionDecision,
  dryRun: boolean | null | undefined,
) {
  if (dryRun !== true) {
    const { state, revision, events } = await context.execute(subscription, id, decision);
    const after = existingSubscription(state, id);
    return withETag(await pausedView(context, after, events, false), revision);
  }
  const state = existingSubscription(await context.load(subscription, id), id);
  const events = decision(state, context.now);
  const after = foldAll(state, events, context.now);
  return pausedView(context, after, events, true);
}

async function pausedView(
  context: RequestContext,
  after: Subscription,
  events: readonly SubscriptionEvent[],
  dry_run: boolean,
) {
  const pause = after.pauses.at(-1);
  invariant(pause, `${after.id}: it has a pause after something was done to one`);
  const settlement = settlementSum(events.filter(isOfPause));
  return {
    subscription: await shown(context, subscriptionView(after)),
    pause: pauseView(after.id, pause),
    billing_impact: billingImpact(pause, settlement),
    settlement,
    dry_run,
  };
}

/** Steps that were due are settled with the same command, but are no part of it. */
const isOfPause = (event: SubscriptionEvent): boolean =>
  event.type === 'SettlementRecorded' && event.data.reason === 'pause_ended';

export const pauseRoutes = {
  'POST /subscriptions/{id}/pause': route({
    summary: 'Pause a subscription, now or later',
    description:
      'Its period lasts longer by the length of the pause. Meanwhile nothing is charged, granted or given.',
    tag,
    status: 200,
    permission: 'subscription:write',
    params: parameters,
    body: pauseSubscriptionSchema,
    response: pausedSchema,
    example: { body: { pause_mode: 'immediate', pause_days: 5, reason: newText('on leave') } },
    handle: (context, { params: { id }, body }) =>
      answered(context, id, pausing(context, id, body, null), body.dry_run),
  }),

  'POST /subscriptions/{id}/resume': route({
    summary: 'End a pause, now or at another instant',
    description: 'A pause that has not begun is given up.',
    tag,
    status: 200,
    permission: 'subscription:write',
    params: parameters,
    body: resumeSubscriptionSchema,
    bodyOptional: true,
    response: pausedSchema,
    example: { params: { id: newRecord('subs_paused') }, body: { resume_mode: 'immediate' } },
    handle: (context, { params: { id }, body }) => {
      const resume_mode = body.resume_mode ?? 'immediate';
      const decision = resumeSubscription(id, { resume_mode, at: body.resume_at ?? null });
      return answered(context, id, decision, body.dry_run);
    },
  }),

  'GET /subscriptions/{id}/pauses': route({
    summary: 'List the pauses of a subscription',
    tag,
    status: 200,
    permission: 'subscription:read',
    params: parameters,
    response: pausesSchema,
    handle: async (context, { params: { id } }) => {
      const state = existingSubscription(await context.recalled.load(subscription, id), id);
      const items = state.pauses.map((pause) => pauseView(state.id, pause)).reverse();
      return { items, total: items.length };
    },
  }),
} satisfies Routes;
