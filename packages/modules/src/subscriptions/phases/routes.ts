import { newText, type Routes, route, withETag } from '@counterfoil/engine/define';
import { invariant, referenceSchema } from '@counterfoil/kernel';
import { z } from 'zod';
import { existingSubscription } from '../decisions.ts';
import type { SubscriptionEvent } from '../events.ts';
import { readied } from '../modify/beside.ts';
import { pairsSchema, phaseBodySchema, settlementSumSchema } from '../schema.ts';
import { type SubscriptionState, subscription } from '../subscription.ts';
import { settlementSum } from '../view.ts';
import { changePhase, removePhase } from './decisions.ts';
import { addingPhase, subscriptionOfPhase } from './requests.ts';
import { phaseSchema } from './schema.ts';
import { phaseView } from './view.ts';

const tag = 'Subscriptions';
const ofSubscription = z.object({ id: referenceSchema('subs') });
const ofPhase = z.object({ id: referenceSchema('phase') });

const settledPhaseSchema = phaseSchema
  .extend({ settlement: settlementSumSchema })
  .meta({ id: 'SettledPhase' });

const phasesSchema = z
  .object({ items: z.array(phaseSchema), total: z.number().int() })
  .meta({ id: 'SubscriptionPhases' });

const updatePhaseSchema = z.object({ metadata: pairsSchema }).meta({ id: 'UpdatePhase' });

/** A phase of a subscription, with what its change charges and credits. */
function answered(
  state: SubscriptionState,
  id: string,
  events: readonly SubscriptionEvent[],
  status: 'published' | 'deleted' = 'published',
) {
  const phase = state?.phases.find((each) => each.id === id);
  invariant(state && phase, `the phase ${id} is there`);
  const settlement = settlementSum(events.filter(isOfPhases));
  return { ...phaseView(state, phase), status, settlement };
}

/** Steps that were due are settled with the same command, but are no part of it. */
const isOfPhases = (event: SubscriptionEvent): boolean =>
  event.type === 'SettlementRecorded' && event.data.reason.startsWith('phase_');

export const phaseRoutes = {
  'POST /subscriptions/{id}/phases': route({
    summary: 'Let a phase follow on all others of a subscription',
    description: 'The lines of the plan, or of the phase before it, end with its beginning.',
    tag,
    status: 201,
    permission: 'subscription:write',
    params: ofSubscription,
    body: phaseBodySchema,
    response: settledPhaseSchema,
    example: {
      body: { start_date: '2099-01-01T00:00:00Z', metadata: { note: newText('next') } },
      makes: 'phase',
      names: {
        'override_line_items.0.price_id': 'price',
        'line_items.0.price_id': 'price',
        'override_entitlements.0.entitlement_id': 'ent',
      },
      texts: [
        'line_items.0.price.meter_id',
        'line_items.0.commitment_time_buckets.0.id',
        'line_items.0.subscription_phase_id',
        'subscription_coupons.0.price_id',
      ],
    },
    handle: async (context, { params: { id }, body }) => {
      const { state, revision, events } = await context.execute(subscription, id, {
        prepare: async () => {
          const { decision, beside } = await addingPhase(context, id, body);
          return readied(context, id, { decision, beside });
        },
      });
      const added = events.find((event) => event.type === 'PhaseAdded');
      invariant(added, 'a phase was added');
      return withETag(answered(state, added.data.phase.id, events), revision);
    },
  }),

  'GET /subscriptions/{id}/phases': route({
    summary: 'List the phases of a subscription',
    tag,
    status: 200,
    permission: 'subscription:read',
    params: ofSubscription,
    response: phasesSchema,
    handle: async (context, { params: { id } }) => {
      const state = existingSubscription(await context.recalled.load(subscription, id), id);
      const items = state.phases.map((phase) => phaseView(state, phase));
      return { items, total: items.length };
    },
  }),

  'PUT /subscriptions/phases/{id}': route({
    summary: 'Change the metadata of a phase',
    tag,
    status: 200,
    permission: 'subscription:write',
    params: ofPhase,
    body: updatePhaseSchema,
    response: settledPhaseSchema,
    example: { body: { metadata: { note: newText('changed') } } },
    handle: async (context, { params: { id: phaseId }, body }) => {
      const id = await subscriptionOfPhase(context, phaseId);
      const decision = changePhase(id, phaseId, body.metadata ?? {});
      const { state, revision } = await context.execute(subscription, id, decision);
      return withETag(answered(state, phaseId, []), revision);
    },
  }),

  'DELETE /subscriptions/phases/{id}': route({
    summary: 'Give up a phase that has not begun',
    description: 'What was before it goes on in its place.',
    tag,
    status: 200,
    permission: 'subscription:write',
    params: ofPhase,
    response: settledPhaseSchema,
    handle: async (context, { params: { id: phaseId } }) => {
      const id = await subscriptionOfPhase(context, phaseId);
      const before = await context.load(subscription, id);
      const { revision, events } = await context.execute(
        subscription,
        id,
        removePhase(id, phaseId),
      );
      return withETag(answered(before, phaseId, events, 'deleted'), revision);
    },
  }),
} satisfies Routes;
