import { withoutNulls } from '@counterfoil/kernel';
import { broughtCoupons } from '../coupons/changed.ts';
import { existingSubscription } from '../decisions.ts';
import { lineChangeOf, type SubscriptionEvent } from '../events.ts';
import type { Subscription, SubscriptionState } from '../subscription.ts';
import { currentPeriod } from '../time/steps.ts';
import { settlementSum, subscriptionView } from '../view.ts';
import type { ChangedResources, Modified } from './schema.ts';

/** Reasons of settlements that modifications have; those of steps that were due are no part of them. */
const ownReasons: ReadonlySet<string> = new Set([
  'quantity_changed',
  'line_added',
  'line_changed',
  'line_removed',
  'addon_added',
  'addon_removed',
  'phase_added',
  'phase_removed',
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
  beside: Partial<ChangedResources>,
): Modified {
  const own = ownEvents(events);
  const current = existingSubscription(state, state?.id ?? '');
  const coupon_associations = changedCoupons(current, events);
  return {
    subscription: subscriptionView(state),
    changed_resources: {
      line_items: changedLines(current, own),
      subscriptions: changedSubscriptions(current, events),
      ...(coupon_associations.length > 0 && { coupon_associations }),
      ...beside,
    },
    settlement: settlementSum(own),
  };
}

function changedLines(
  { lines }: Subscription,
  own: readonly SubscriptionEvent[],
): ChangedResources['line_items'] {
  const changes = own.flatMap((event) => lineChangeOf(event) ?? []);
  const touched = [
    ...changes.flatMap(({ ended }) => ended.map((each) => [each.id, 'ended'] as const)),
    ...changes.flatMap(({ begun }) => begun.map((each) => [each.id, 'created'] as const)),
  ];
  return touched.flatMap(([id, change_action]) => {
    const line = lines.find((each) => each.id === id);
    if (!line) return [];
    const { price, quantity, start_date, end_date } = line;
    return [
      withoutNulls({ id, price_id: price.id, quantity, start_date, end_date, change_action }),
    ];
  });
}

/** Coupons that come or go by a modification. */
function changedCoupons(
  { coupons }: Subscription,
  events: readonly SubscriptionEvent[],
): NonNullable<ChangedResources['coupon_associations']> {
  const shown = (id: string, change_action: 'created' | 'ended') =>
    coupons
      .filter((each) => each.id === id)
      .map(({ coupon_id }) => ({ id, coupon_id, change_action }));
  return events.flatMap((event) =>
    event.type === 'CouponDetached'
      ? shown(event.data.coupon_association_id, 'ended')
      : broughtCoupons(event).flatMap(({ id }) => shown(id, 'created')),
  );
}

/** Subscriptions beside this one that come or go by a modification, and this one where its trial has another end. */
function changedSubscriptions(
  current: Subscription,
  events: readonly SubscriptionEvent[],
): ChangedResources['subscriptions'] {
  return events.flatMap((event): ChangedResources['subscriptions'] => {
    switch (event.type) {
      case 'HeirsChanged': {
        const { subscription_status: status } = current;
        const added = event.data.added.map(({ subscription_id: id }) => ({ id, status }));
        return [
          ...added.map((each) => ({ ...each, action: 'created' as const })),
          ...event.data.removed.map((id) => ({
            ...{ id, action: 'updated' as const, status: 'cancelled' as const },
          })),
        ];
      }
      case 'TrialMoved':
        return [
          {
            id: current.id,
            action: 'updated',
            status: current.subscription_status,
            trial_end: event.data.trial.end,
            current_period_end: currentPeriod(current).end,
          },
        ];
      default:
        return [];
    }
  });
}
