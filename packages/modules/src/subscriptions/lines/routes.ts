import { newRecord, newText, type Routes, route, withETag } from '@counterfoil/engine/define';
import { invariant, referenceSchema } from '@counterfoil/kernel';
import { z } from 'zod';
import { existingSubscription } from '../decisions.ts';
import type { SubscriptionEvent } from '../events.ts';
import { type SubscriptionState, subscription } from '../subscription.ts';
import { lineItemView, settlementSum } from '../view.ts';
import { addingLine, endingLine, subscriptionOfLine, updatingLine } from './requests.ts';
import {
  addLineItemSchema,
  endLineItemSchema,
  settledLineItemSchema,
  updateLineItemSchema,
} from './schema.ts';

const tag = 'Subscriptions';
const subscriptionParameters = z.object({ id: referenceSchema('subs') });
const lineParameters = z.object({ id: referenceSchema('subs_line') });

interface Changed {
  readonly state: SubscriptionState;
  readonly revision: Parameters<typeof withETag>[1];
  readonly events: readonly SubscriptionEvent[];
}

/** A line after its change, with what that charges and credits. */
function answered({ state, revision, events }: Changed, lineId: string) {
  const current = existingSubscription(state, state?.id ?? '');
  const line = current.lines.find(({ id }) => id === lineId);
  invariant(line, `the line ${lineId} is there after its change`);
  const settlement = settlementSum(events.filter(isOfLines));
  return withETag({ ...lineItemView(current, current, line), settlement }, revision);
}

/** Steps that were due are settled with the same command, but are no part of the change. */
const isOfLines = (event: SubscriptionEvent): boolean =>
  event.type === 'SettlementRecorded' && event.data.reason.startsWith('line_');

/** The line that a change has made, or the one that it was asked of. */
const madeBy = (events: readonly SubscriptionEvent[], asked: string): string =>
  events.flatMap((event) => (event.type === 'LinesChanged' ? event.data.begun : []))[0]?.id ??
  asked;

export const lineItemRoutes = {
  'POST /subscriptions/{id}/lineitems': route({
    summary: 'Add a line to a subscription',
    description: 'Prorated, it is charged for the rest of the period.',
    tag,
    status: 201,
    permission: 'subscription:write',
    params: subscriptionParameters,
    body: addLineItemSchema,
    response: settledLineItemSchema,
    example: {
      body: { price_id: newRecord('price'), display_name: newText('more') },
      makes: 'subs_line',
      names: { price_id: 'price' },
      texts: ['price.meter_id', 'subscription_phase_id'],
    },
    handle: async (context, { params: { id }, body }) => {
      const outcome = await context.execute(subscription, id, {
        prepare: () => addingLine(context, id, body, null),
      });
      return answered(outcome, madeBy(outcome.events, ''));
    },
  }),

  'PUT /subscriptions/lineitems/{id}': route({
    summary: 'Change the price of a line, or its metadata',
    description: 'Figures begin another line in its place; `metadata` changes at once.',
    tag,
    status: 200,
    permission: 'subscription:write',
    params: lineParameters,
    body: updateLineItemSchema,
    response: settledLineItemSchema,
    example: {
      body: { metadata: { note: newText('changed') } },
      texts: ['commitment_time_buckets.0.id'],
    },
    handle: async (context, { params: { id: lineId }, body }) => {
      const id = await subscriptionOfLine(context, lineId);
      const outcome = await context.execute(subscription, id, {
        prepare: () => updatingLine(context, id, lineId, body, null),
      });
      return answered(outcome, madeBy(outcome.events, lineId));
    },
  }),

  'DELETE /subscriptions/lineitems/{id}': route({
    summary: 'End a line',
    description: 'Prorated, what was charged for the time after it is credited.',
    tag,
    status: 200,
    permission: 'subscription:write',
    params: lineParameters,
    body: endLineItemSchema,
    bodyOptional: true,
    response: settledLineItemSchema,
    example: { body: { proration_behavior: 'none' } },
    handle: async (context, { params: { id: lineId }, body }) => {
      const id = await subscriptionOfLine(context, lineId);
      const decision = endingLine(id, lineId, body, null);
      return answered(await context.execute(subscription, id, decision), lineId);
    },
  }),
} satisfies Routes;
