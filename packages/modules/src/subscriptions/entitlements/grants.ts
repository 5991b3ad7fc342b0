import { type RequestContext, where } from '@counterfoil/engine/define';
import { type Instant, lastInstant } from '@counterfoil/kernel';
import {
  type CustomerEntitlementsQuery,
  customerEntitlements,
  type GrantedEntitlement,
  type GrantRhythm,
} from '../../entitlements/index.ts';
import { addonEntitlements } from '../addons/association.ts';
import { existingSubscription } from '../decisions.ts';
import { isInherited, usersOf } from '../families/family.ts';
import { phaseEntitlements } from '../phases/phase.ts';
import { subscriptionTable } from '../projection.ts';
import { type Subscription, subscription } from '../subscription.ts';
import { periodOf } from '../time/cycle.ts';
import { nextStep } from '../time/steps.ts';
import { ahead, LookAhead, stateAt } from './state-at.ts';

/** Subscriptions of one customer that are looked at. */
const subscriptionsMaximum = 1000;

/**
 * The entitlements that the active and trialing subscriptions of a customer give at an instant (E 8.2), as the log has the
 * subscriptions: one whose end has come gives nothing any more, however late it is booked. What is to come is as it is known
 * now, and so is what was.
 */
export async function grantsOf(
  context: RequestContext,
  customerId: string,
  at: Instant = context.now,
): Promise<readonly GrantedEntitlement[]> {
  const { now, read, recalled } = context;
  const lookAhead = new LookAhead();
  const isGiving = [
    ...where('customer_id', 'eq', customerId),
    // What has ended may have given something then. A pause may be over by now, or have begun.
    ...where('subscription_status', 'in', at < now ? undefined : livingStatuses),
  ];
  const ids = await read.ids(subscriptionTable, isGiving, subscriptionsMaximum);
  if (at < now) {
    const given: GrantedEntitlement[] = [];
    // One after the other: each is read from the log.
    for (const id of ids) given.push(...(await givenThen(context, id, at, lookAhead)));
    return given;
  }
  const given = ids.map(async (id) => {
    const state = await recalled.load(subscription, id);
    return state ? givenNow(context, state, at, lookAhead) : [];
  });
  return (await Promise.all(given)).flat();
}

/** The entitlements that a subscription gives at an instant that is not past: one that is inherited gives what its parent does. */
async function givenNow(
  { recalled }: Pick<RequestContext, 'recalled'>,
  state: Subscription,
  at: Instant,
  lookAhead?: LookAhead,
): Promise<readonly GrantedEntitlement[]> {
  const parentId = inheritedFrom(state, at);
  if (parentId === null) return entitlementsAt(state, at, lookAhead);
  const parent = await recalled.load(subscription, parentId);
  return parent ? asHeir(state, entitlementsAt(parent, at, lookAhead)) : [];
}

/** The entitlements that a subscription gave at an instant that is past. */
async function givenThen(
  context: RequestContext,
  id: string,
  at: Instant,
  lookAhead: LookAhead,
): Promise<readonly GrantedEntitlement[]> {
  const then = await stateAt(context, id, at, lookAhead);
  if (then === null) return [];
  const parentId = inheritedFrom(then, at);
  if (parentId === null) return givenBy(then, at);
  const parent = await stateAt(context, parentId, at, lookAhead);
  return parent ? asHeir(then, givenBy(parent, at)) : [];
}

/** The subscription that another one is inherited from, as long as it is. */
function inheritedFrom(state: Subscription, at: Instant): string | null {
  const { family, subscription_status: status, start_date } = state;
  if (!isInherited(state)) return null;
  const isOver = status === 'cancelled' || start_date > at;
  // What is over gives nothing, as any other.
  return isOver ? null : (family.parent?.subscription_id ?? null);
}

const asHeir = (
  { id: subscription_id }: Subscription,
  given: readonly GrantedEntitlement[],
): readonly GrantedEntitlement[] =>
  given.map((each) => ({ ...each, subscription_id, is_inherited: true }));

const livingStatuses = ['active', 'trialing', 'paused'] as const;

/** The entitlements that a state gives from its last event until something happens to it by itself. */
interface Standing {
  readonly until: Instant | null;
  readonly given: readonly GrantedEntitlement[];
}

/** States are folded once and asked many times: to count their periods takes longer than anything else here. */
const standings = new WeakMap<Subscription, Standing>();

/** The entitlements that a subscription gives at an instant, which is not before its last event. */
export function entitlementsAt(
  state: Subscription,
  at: Instant,
  lookAhead = new LookAhead(),
): readonly GrantedEntitlement[] {
  const { until, given } = standingOf(state);
  if (state.start_date <= at && (until === null || at < until)) return given;
  return givenBy(ahead(state, at, lookAhead), at);
}

function standingOf(state: Subscription): Standing {
  const known = standings.get(state);
  if (known) return known;
  const standing = { until: nextStep(state)?.at ?? null, given: givenBy(state, lastInstant) };
  standings.set(state, standing);
  return standing;
}

/** The entitlements of a subscription to which everything has happened that was due by an instant. */
function givenBy(current: Subscription, at: Instant): readonly GrantedEntitlement[] {
  const { id: subscription_id, subscription_status, start_date } = current;
  const { entitlements, addons, phases } = current;
  const isGiving = subscription_status === 'active' || subscription_status === 'trialing';
  if (!isGiving || start_date > at) return [];
  const rhythm = rhythmOf(current);
  const ofPhase = phaseEntitlements(phases);
  const replaced = new Set(ofPhase.map((each) => each.parent_entitlement_id));
  // What the phase stands in for may have an override of its own, which does not count meanwhile.
  const standing = entitlements.filter(
    ({ entity_type, entitlement_id, parent_entitlement_id: parent }) =>
      entity_type !== 'SUBSCRIPTION' || !replaced.has(parent ?? entitlement_id),
  );
  const isShared = current.family.heirs.length > 0;
  const shared = { subscription_id, users: usersOf(current) };
  const given = { subscription_id, quantity: 1, rhythm, ...(isShared && { shared }) };
  return [
    ...[...standing, ...addonEntitlements(addons)].map((granted) => ({ ...granted, ...given })),
    ...ofPhase.map((granted) => ({ ...granted, ...given, is_of_phase: true })),
  ];
}

/** The rhythm in which limits start over. Before the first period and between two it is the one to come that runs. */
function rhythmOf(current: Subscription): GrantRhythm {
  const { cycle, timezone: zone, start_date: start, opened, trial, next_index } = current;
  const { start: from, end } = opened ?? trial ?? periodOf(current, next_index);
  return { start, anchor: cycle.anchor, zone, billing: { start: from, end } };
}

/** The entitlements of one subscription by feature at an instant, as far as they are asked for. Throws 404. */
export async function subscriptionEntitlements(
  context: RequestContext,
  id: string,
  { feature_ids, as_of }: Pick<CustomerEntitlementsQuery, 'feature_ids' | 'as_of'>,
) {
  const state = existingSubscription(await context.recalled.load(subscription, id), id);
  const granted = async (_: RequestContext, _customer: string, at: Instant = context.now) => {
    return at >= context.now
      ? givenNow(context, state, at)
      : givenThen(context, id, at, new LookAhead());
  };
  const query = { feature_ids, as_of, subscription_ids: undefined };
  const { features } = await customerEntitlements(context, granted, state.customer_id, query);
  return { subscription_id: id, plan_id: state.plan_id, features };
}
