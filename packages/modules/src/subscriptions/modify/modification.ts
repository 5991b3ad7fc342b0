import type { RequestContext } from '@counterfoil/engine/define';
import { type Instant, invariant, withoutNulls } from '@counterfoil/kernel';
import { attachingAddon, removingAddon } from '../addons/requests.ts';
import {
  cancelSubscription,
  existingSubscription,
  type SubscriptionDecision,
} from '../decisions.ts';
import { lineChangeOf, type SubscriptionEvent } from '../events.ts';
import { changeHeirs } from '../families/decisions.ts';
import { heirsOrder } from '../families/prepare.ts';
import { addingLine, changingQuantities, endingLine } from '../lines/requests.ts';
import { pausing } from '../pauses/routes.ts';
import type { CancelSubscription } from '../schema.ts';
import type { SubscriptionState } from '../subscription.ts';
import { moveTrialEnd } from '../trials/decisions.ts';
import { settlementSum, subscriptionView } from '../view.ts';
import type { Modified, ModifySubscription } from './schema.ts';

/**
 * The command of a modification, after all that it refers to was found.
 *
 * @param at the instant of a quote, for everything that the request leaves open; null: that of the decision
 */
export async function modificationOf(
  context: RequestContext,
  id: string,
  body: ModifySubscription,
  at: Instant | null,
): Promise<SubscriptionDecision> {
  switch (body.type) {
    case 'quantity_change':
      invariant(body.quantity_change_params, 'params go with their type');
      return changingQuantities(context, id, body.quantity_change_params, at);
    case 'add_line':
      invariant(body.add_line_params, 'params go with their type');
      return addingLine(context, id, body.add_line_params, at, '/add_line_params');
    case 'remove_line':
      invariant(body.remove_line_params, 'params go with their type');
      return endingLine(id, body.remove_line_params.id, body.remove_line_params, at);
    case 'add_addon':
      invariant(body.add_addon_params, 'params go with their type');
      return attachingAddon(context, id, body.add_addon_params, at, '/add_addon_params');
    case 'remove_addon':
      invariant(body.remove_addon_params, 'params go with their type');
      return removingAddon(id, body.remove_addon_params);
    case 'cancel':
      invariant(body.cancel_params, 'params go with their type');
      return cancelling(context, id, body.cancel_params, at);
    case 'pause':
      invariant(body.pause_params, 'params go with their type');
      return pausing(context, id, body.pause_params, at);
    case 'trial_end': {
      invariant(body.trial_end_params, 'params go with their type');
      return moveTrialEnd(id, { end: body.trial_end_params.trial_end ?? null, quoted: at });
    }
    case 'inheritance':
      invariant(body.inheritance_params, 'params go with their type');
      return changeHeirs(id, await heirsOrder(context, body.inheritance_params));
    default:
      return body.type satisfies never;
  }
}

/** The command that cancels a subscription; an immediate one takes effect at the instant of its quote. */
const cancelling = (
  context: RequestContext,
  id: string,
  body: CancelSubscription,
  at: Instant | null,
): SubscriptionDecision =>
  cancelSubscription(id, {
    cancellation_type: body.cancellation_type,
    cancel_at: body.cancel_at ?? (body.cancellation_type === 'immediate' ? at : null),
    proration_behavior: body.proration_behavior ?? 'create_prorations',
    skips_arrears: body.cancel_immediately_inovice_policy === 'skip',
    reason: body.reason || null,
    schedule_id: context.newId('sched'),
  });

/** Reasons of settlements that modifications have; those of steps that were due are no part of them. */
const ownReasons: ReadonlySet<string> = new Set([
  'quantity_changed',
  'line_added',
  'line_removed',
  'addon_added',
  'addon_removed',
  'cancelled',
]);

/** The events of a modification without those of steps that were due before it. The end of a trial brings steps of its own. */
export function ownEvents(events: readonly SubscriptionEvent[]): readonly SubscriptionEvent[] {
  const moved = events.findIndex(({ type }) => type === 'TrialMoved');
  return events.filter((event, place) =>
    event.type === 'SettlementRecorded'
      ? ownReasons.has(event.data.reason) || (moved >= 0 && place > moved)
      : lineChangeOf(event) !== null,
  );
}

/** A modification as it is answered, from its events and the subscription after them. */
export function modifiedView(
  state: SubscriptionState,
  events: readonly SubscriptionEvent[],
): Modified {
  const own = ownEvents(events);
  const current = existingSubscription(state, state?.id ?? '');
  const changes = own.flatMap((event) => lineChangeOf(event) ?? []);
  const touched = [
    ...changes.flatMap(({ ended }) => ended.map((each) => [each.id, 'ended'] as const)),
    ...changes.flatMap(({ begun }) => begun.map((each) => [each.id, 'created'] as const)),
  ];
  const line_items = touched.flatMap(([id, change_action]) => {
    const line = current.lines.find((each) => each.id === id);
    if (!line) return [];
    const { price, quantity, start_date, end_date } = line;
    return [
      withoutNulls({ id, price_id: price.id, quantity, start_date, end_date, change_action }),
    ];
  });
  return {
    subscription: subscriptionView(state),
    changed_resources: { line_items },
    settlement: settlementSum(own),
  };
}
