import { type RequestContext, where } from '@counterfoil/engine/define';
import type { Instant } from '@counterfoil/kernel';
import {
  customerEntitlements,
  type GrantedEntitlement,
  type GrantRhythm,
} from '../../entitlements/index.ts';
import { existingSubscription } from '../decisions.ts';
import { subscriptionTable } from '../projection.ts';
import { foldInto, type Subscription, subscription } from '../subscription.ts';
import { periodOf } from '../time/cycle.ts';
import { dueEvents } from '../time/due.ts';
import { isLive } from '../time/steps.ts';

/** Subscriptions of one customer that are looked at. */
const subscriptionsMaximum = 1000;

/**
 * The entitlements that the active and trialing subscriptions of a customer give now (E 8.2), as the log has the
 * subscriptions: one whose end has come gives nothing any more, however late it is booked.
 */
export async function grantsOf(
  context: RequestContext,
  customerId: string,
): Promise<readonly GrantedEntitlement[]> {
  const page = { limit: subscriptionsMaximum, offset: 0 };
  const { items } = await context.read.list(subscriptionTable, page, [
    ...where('customer_id', 'eq', customerId),
    ...where('subscription_status', 'in', ['active', 'trialing']),
  ]);
  const states = await Promise.all(items.map(({ id }) => context.recalled.load(subscription, id)));
  return states.flatMap((state) => (state ? entitlementsAt(state, context.now) : []));
}

/** The entitlements that a subscription gives at an instant, which is not before its last event. */
export function entitlementsAt(state: Subscription, at: Instant): readonly GrantedEntitlement[] {
  const current = isLive(state)
    ? dueEvents(state, at).reduce<Subscription>((folded, event) => foldInto(folded, event), state)
    : state;
  const { id: subscription_id, subscription_status, start_date, entitlements } = current;
  const isGiving = subscription_status === 'active' || subscription_status === 'trialing';
  if (!isGiving || start_date > at) return [];
  const rhythm = rhythmOf(current);
  return entitlements.map((granted) => ({ ...granted, subscription_id, quantity: 1, rhythm }));
}

/** The rhythm in which limits start over. Before the first period and between two it is the one to come that runs. */
function rhythmOf(current: Subscription): GrantRhythm {
  const { cycle, timezone: zone, start_date: start, opened, trial, next_index } = current;
  const { start: from, end } = opened ?? trial ?? periodOf(current, next_index);
  return { start, anchor: cycle.anchor, zone, billing: { start: from, end } };
}

/** The entitlements of one subscription by feature, as far as they are asked for. Throws 404. */
export async function subscriptionEntitlements(
  context: RequestContext,
  id: string,
  feature_ids: string[] | undefined,
) {
  const state = existingSubscription(await context.recalled.load(subscription, id), id);
  const granted = async () => entitlementsAt(state, context.now);
  const query = { feature_ids, subscription_ids: undefined };
  const { features } = await customerEntitlements(context, granted, state.customer_id, query);
  return { subscription_id: id, plan_id: state.plan_id, features };
}
