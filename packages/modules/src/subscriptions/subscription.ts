import {
  aggregate,
  createdStamps,
  existing,
  type Instant,
  type Period,
  type Stamped,
  updatedStamps,
  withChanges,
} from '@counterfoil/kernel';
import { endedWith, newAddon } from './addons/association.ts';
import { addonAfter } from './addons/changed.ts';
import { awaitedAfter, chargedStatus, paidFor, startingStatus } from './condition.ts';
import { couponsAfter, heldCoupons } from './coupons/changed.ts';
import { heldBy } from './entitlements/granted.ts';
import { ownAfter } from './entitlements/own-after.ts';
import { type CreatedData, type SubscriptionEvent, subscriptionEvents } from './events.ts';
import { familyAfter, newFamily } from './families/family.ts';
import type { Grant } from './grants/grant.ts';
import { type LinesChanged, linesAfter } from './lines/changed.ts';
import { afterCharges } from './lines/charged.ts';
import { chainsOf, type Line, newLine } from './lines/line.ts';
import type { Pause, PauseData } from './pauses/pause.ts';
import { phasesAfter } from './phases/changed.ts';
import { newPhase } from './phases/phase.ts';
import type { Subscription, SubscriptionState } from './state.ts';

export type {
  AwaitedSettlement,
  ScheduledCancellation,
  ScheduledPlanChange,
  Subscription,
  SubscriptionState,
} from './state.ts';

type Following = Exclude<Stamped<SubscriptionEvent>, { type: 'SubscriptionCreated' }>;

function created({ data, stamp }: Stamped<{ readonly data: CreatedData }>): Subscription {
  const { is_draft, lines, grants, addons, phases, family, tax_associations: _, ...terms } = data;
  return {
    ...terms,
    ...createdStamps(stamp),
    status: 'published',
    subscription_status: is_draft ? 'draft' : startingStatus(data.trial, terms),
    live_since: is_draft ? null : stamp.occurred_at,
    lines: lines.map(newLine),
    sold_chains: chainsOf(lines),
    grants: grants.map((grant) => ({ ...grant, next_index: 0 })),
    entitlements: heldBy(terms.id, terms.entitlements, createdStamps(stamp)),
    coupons: heldCoupons(terms.coupons, stamp),
    entitlements_made: terms.entitlements.filter(({ entity_id }) => entity_id === terms.id).length,
    addons: addons.map((addon) => newAddon(addon, stamp.occurred_at)),
    family: newFamily(family, data.start_date),
    phases: phases.map((phase, place) => newPhase(phase, stamp, place === 0)),
    opened: null,
    last_period: null,
    next_index: 0,
    noticed_index: null,
    pauses: [],
    awaits: null,
    threshold_count: 0,
    cancellation: null,
    plan_change: null,
    followed_by: null,
    cancelled_at: null,
    cancellation_reason: null,
    wallets: [],
  };
}

function evolve(state: SubscriptionState, event: Stamped<SubscriptionEvent>): SubscriptionState {
  if (event.type === 'SubscriptionCreated') return created(event);
  const before = existing(state, 'subscription');
  return after({ ...before, ...updatedStamps(event.stamp) }, event);
}

function after(subscription: Subscription, event: Following): Subscription {
  switch (event.type) {
    case 'SubscriptionActivated':
      return activated(subscription, event);
    case 'SubscriptionUpdated':
      return withChanges<Subscription>(subscription, event.data.changes);
    case 'SubscriptionDeleted':
      return { ...subscription, status: 'deleted', subscription_status: 'cancelled' };
    case 'LinesChanged':
      return { ...subscription, ...withLines(subscription, event.data) };
    case 'AddonAttached':
      return attached(subscription, event);
    case 'AddonRemoved':
    case 'AddonBegun':
    case 'AddonEnded':
      return withAddonChanged(subscription, event);
    case 'CouponAttached':
    case 'CouponDetached':
      return { ...subscription, coupons: couponsAfter(subscription.coupons, event) };
    case 'EntitlementAdded':
    case 'EntitlementChanged':
    case 'EntitlementRemoved':
    case 'GrantAdded':
    case 'GrantChanged':
      return { ...subscription, ...ownAfter(subscription, event) };
    case 'PhaseAdded':
    case 'PhaseRemoved':
    case 'PhaseChanged':
    case 'PhaseBegun':
      return phased(subscription, event);
    case 'TrialEnded':
      return { ...subscription, subscription_status: chargedStatus(subscription) };
    case 'FirstPaymentMade':
      return paidFor(subscription, event.stamp);
    case 'TrialMoved':
      return trialMoved(subscription, event);
    case 'HeirsChanged':
    case 'ParentChanged':
    case 'MemberChanged':
      return { ...subscription, family: familyAfter(subscription.family, event) };
    case 'HeirsTold':
      return subscription;
    case 'PeriodOpened':
      return openedWith(subscription, event.data);
    case 'PeriodClosed':
      return closed(subscription, event.data.end);
    case 'SettlementRecorded':
      return settledBy(subscription, event);
    case 'ChargesReturned':
    case 'ChargesInvoiced':
      return { ...subscription, lines: afterCharges(subscription.lines, event) };
    case 'CreditsGranted':
    case 'CreditsSkipped':
      return { ...subscription, grants: granted(subscription.grants, event.data) };
    case 'WalletChosen':
      return { ...subscription, wallets: [...subscription.wallets, event.data.wallet_id] };
    case 'RenewalNoticed':
      return { ...subscription, noticed_index: event.data.index };
    case 'PauseScheduled':
    case 'PauseStarted':
    case 'PauseEndChanged':
    case 'PauseCancelled':
    case 'PauseEnded':
      return paused(subscription, event);
    case 'CancellationScheduled':
    case 'CancellationReverted':
    case 'PlanChangeScheduled':
    case 'PlanChangeReverted':
      return scheduled(subscription, event);
    case 'PlanChanged':
      return {
        ...subscription,
        status: 'archived',
        followed_by: event.data.to.id,
        plan_change: null,
      };
    case 'SubscriptionCancelled':
      return cancelled(subscription, event.data);
    default:
      return event satisfies never;
  }
}

const openedWith = (subscription: Subscription, period: Period): Subscription => ({
  ...subscription,
  opened: period,
  last_period: period,
  threshold_count: 0,
  next_index: period.index + 1,
});

/** A subscription with what a settlement charges of its lines. */
function settledBy(
  subscription: Subscription,
  event: Stamped<Extract<SubscriptionEvent, { type: 'SettlementRecorded' }>>,
): Subscription {
  const isByAmount = event.data.reason === 'threshold_reached';
  return {
    ...subscription,
    lines: afterCharges(subscription.lines, event),
    awaits: awaitedAfter(subscription, event.data),
    threshold_count: subscription.threshold_count + (isByAmount ? 1 : 0),
  };
}

/** A subscription after its period: lines and add-ons that have ended can be charged no more. */
const closed = (subscription: Subscription, end: Instant): Subscription => ({
  ...subscription,
  opened: null,
  lines: subscription.lines.filter((line) => lasts(line, end)),
  addons: subscription.addons.filter(({ addon_status }) => addon_status !== 'cancelled'),
});

/** A subscription after an act that is to come was asked for, or was taken back. */
function scheduled(
  subscription: Subscription,
  event: Extract<
    Following,
    { type: `${'Cancellation' | 'PlanChange'}${'Scheduled' | 'Reverted'}` }
  >,
): Subscription {
  switch (event.type) {
    case 'CancellationScheduled': {
      const { replaces: _, ...cancellation } = event.data;
      return {
        ...subscription,
        cancellation: { ...cancellation, created_at: event.stamp.occurred_at },
      };
    }
    case 'CancellationReverted':
      return { ...subscription, cancellation: null };
    case 'PlanChangeScheduled':
      return {
        ...subscription,
        plan_change: { ...event.data, created_at: event.stamp.occurred_at },
      };
    case 'PlanChangeReverted':
      return { ...subscription, plan_change: null };
    default:
      return event satisfies never;
  }
}

/** A subscription whose trial ends at another instant. */
function trialMoved(
  subscription: Subscription,
  event: Stamped<Extract<SubscriptionEvent, { type: 'TrialMoved' }>>,
): Subscription {
  const { data } = event;
  const { trial, cycle, period } = data;
  const dates = new Map(data.lines.map((line) => [line.id, line]));
  const starts = new Map(data.grants.map(({ id, start_date }) => [id, { start_date }]));
  return {
    ...subscription,
    trial,
    cycle,
    opened: period,
    last_period: period ?? subscription.last_period,
    lines: subscription.lines.map((line) => ({ ...line, ...dates.get(line.id) })),
    grants: subscription.grants.map((grant) => ({ ...grant, ...starts.get(grant.id) })),
    addons: subscription.addons.map((addon) => addonAfter(addon, event)),
  };
}

/** A subscription after something of an add-on that it has was changed, or has come. */
function withAddonChanged(
  subscription: Subscription,
  event: Extract<Following, { type: 'AddonRemoved' | 'AddonBegun' | 'AddonEnded' }>,
): Subscription {
  const changed = withAddon(subscription, event);
  switch (event.type) {
    case 'AddonRemoved':
      return { ...changed, lines: linesAfter(subscription.lines, event.data.change) };
    case 'AddonBegun':
      return changed;
    case 'AddonEnded': {
      const { addon_association_id: ended } = event.data;
      const grants = subscription.grants.filter((each) => each.addon_association_id !== ended);
      return { ...changed, grants };
    }
    default:
      return event satisfies never;
  }
}

/** A subscription after something of its phases has changed. */
function phased(
  subscription: Subscription,
  event: Extract<Following, { type: `Phase${string}` }>,
): Subscription {
  const phases = phasesAfter(subscription.phases, event);
  switch (event.type) {
    case 'PhaseAdded': {
      const { change, end_date } = event.data;
      const coupons = couponsAfter(subscription.coupons, event);
      return { ...subscription, ...withLines(subscription, change), phases, end_date, coupons };
    }
    case 'PhaseRemoved':
      return { ...subscription, phases, lines: linesAfter(subscription.lines, event.data.change) };
    default:
      return { ...subscription, phases };
  }
}

/** The lines after a change, and the chains that a line was ever under. */
const withLines = (
  { lines, sold_chains }: Subscription,
  change: LinesChanged,
): Pick<Subscription, 'lines' | 'sold_chains'> => ({
  lines: linesAfter(lines, change),
  sold_chains: [...new Set([...sold_chains, ...chainsOf(change.begun)])],
});

const attached = (
  subscription: Subscription,
  { data, stamp }: Stamped<Extract<SubscriptionEvent, { type: 'AddonAttached' }>>,
): Subscription => ({
  ...subscription,
  lines: linesAfter(subscription.lines, data.change),
  grants: [
    ...subscription.grants,
    ...data.grants.map(({ first: _, ...grant }) => ({ ...grant, next_index: 0 })),
  ],
  addons: [...subscription.addons, newAddon(data.addon, stamp.occurred_at)],
});

const withAddon = (
  subscription: Subscription,
  event: Stamped<Extract<SubscriptionEvent, { data: { readonly addon_association_id: unknown } }>>,
): Subscription => ({
  ...subscription,
  addons: subscription.addons.map((addon) =>
    addon.id === event.data.addon_association_id ? addonAfter(addon, event) : addon,
  ),
});

function activated(
  subscription: Subscription,
  event: Stamped<Extract<SubscriptionEvent, { type: 'SubscriptionActivated' }>>,
): Subscription {
  const { data, stamp } = event;
  const { lines, grants, addons, coupons: _, ...start } = data;
  const starts = new Map(grants.map(({ id, start_date }) => [id, { start_date }]));
  const dates = new Map(lines.map((line) => [line.id, line]));
  const addonDates = new Map(addons.map((addon) => [addon.id, addon]));
  return {
    ...subscription,
    ...start,
    subscription_status: startingStatus(data.trial, subscription),
    live_since: stamp.occurred_at,
    lines: subscription.lines.map((line) => ({ ...line, ...dates.get(line.id) })),
    coupons: couponsAfter(subscription.coupons, event),
    grants: subscription.grants.map((grant) => ({ ...grant, ...starts.get(grant.id) })),
    addons: subscription.addons.map((addon) =>
      newAddon({ ...addon, ...addonDates.get(addon.id) }, stamp.occurred_at),
    ),
  };
}

/** A line that ended with the period or before it charges nothing any more. */
const lasts = ({ end_date }: Line, end: Instant): boolean => end_date === null || end_date > end;

const granted = (
  grants: readonly Grant[],
  { grant_id, next }: Extract<SubscriptionEvent, { type: 'CreditsSkipped' }>['data'],
): readonly Grant[] =>
  grants.map((grant) =>
    grant.id === grant_id ? { ...grant, next_index: next?.index ?? null } : grant,
  );

type Stamp = Following['stamp'];
type Pausing = Extract<Following, { type: `Pause${string}` }>;

/** A subscription after something of its pauses has changed. */
function paused(subscription: Subscription, event: Pausing): Subscription {
  const { stamp } = event;
  switch (event.type) {
    case 'PauseScheduled':
      return withPause(subscription, event.data, { status: 'scheduled' }, stamp);
    case 'PauseStarted': {
      const started = withPause(subscription, event.data, { status: 'active' }, stamp);
      return { ...started, subscription_status: 'paused' };
    }
    case 'PauseEndChanged': {
      const { pause_id, ...end } = event.data;
      return withPause(subscription, { id: pause_id }, end, stamp);
    }
    case 'PauseCancelled': {
      const id = event.data.pause_id;
      return withPause(subscription, { id }, { status: 'cancelled' }, stamp);
    }
    case 'PauseEnded':
      return {
        ...resumed(subscription, event.data, stamp),
        addons: subscription.addons.map((addon) => addonAfter(addon, event)),
        phases: phasesAfter(subscription.phases, event),
      };
    default:
      return event satisfies never;
  }
}

/** A subscription with a pause that it has, or that is new, changed. */
function withPause(
  subscription: Subscription,
  pause: PauseData | Pick<PauseData, 'id'>,
  change: Partial<Pause>,
  stamp: Stamp,
): Subscription {
  const before = subscription.pauses.find(({ id }) => id === pause.id);
  const fresh = { resumed_at: null, ...createdStamps(stamp) };
  const changed = { ...fresh, ...before, ...pause, ...change, ...updatedStamps(stamp) } as Pause;
  const others = subscription.pauses.filter(({ id }) => id !== pause.id);
  return { ...subscription, pauses: [...others, changed] };
}

/** A subscription after a pause: its period, its rhythm and its lines are later by its length. */
function resumed(
  subscription: Subscription,
  data: Extract<Pausing, { type: 'PauseEnded' }>['data'],
  stamp: Stamp,
): Subscription {
  const { pause_id: id, end, cycle, period, cancel_at } = data;
  const change = { status: 'completed', end, resumed_at: end } as const;
  const lines = new Map(data.lines.map((line) => [line.id, line]));
  const { cancellation, plan_change, last_period } = subscription;
  const { change_at } = data;
  return {
    ...withPause(subscription, { id }, change, stamp),
    subscription_status: 'active',
    cycle,
    opened: period,
    last_period: period ?? last_period,
    lines: subscription.lines.map((line) => ({ ...line, ...lines.get(line.id) })),
    cancellation:
      cancellation === null || cancel_at === null ? cancellation : { ...cancellation, cancel_at },
    plan_change:
      plan_change === null || change_at === null ? plan_change : { ...plan_change, at: change_at },
  };
}

const cancelled = (
  subscription: Subscription,
  {
    effective_at,
    reason,
    lines,
    addons,
  }: Extract<SubscriptionEvent, { type: 'SubscriptionCancelled' }>['data'],
): Subscription => ({
  ...subscription,
  subscription_status: 'cancelled',
  cancelled_at: effective_at,
  cancellation_reason: reason,
  plan_change: null,
  pauses: subscription.pauses.map((pause) =>
    pause.status === 'scheduled' ? { ...pause, status: 'cancelled' } : pause,
  ),
  end_date: effective_at,
  lines: subscription.lines.map((line) =>
    lines.includes(line.id) ? { ...line, end_date: effective_at } : line,
  ),
  addons: subscription.addons.map((addon) =>
    addons.includes(addon.id) ? endedWith(addon, effective_at, reason) : addon,
  ),
});

export const subscription = aggregate({
  name: 'subscription',
  scope: 'environment',
  events: subscriptionEvents,
  initial: null as SubscriptionState,
  evolve,
});

/** Folds an event that has no stamp yet; the stamps of the record do not matter to decisions. */
export function foldInto(
  current: Subscription,
  event: SubscriptionEvent,
  at: Instant = current.updated_at,
): Subscription {
  const { tenant_id, environment_id } = current;
  const actor = { user_id: null, key_id: null };
  const stamp = { tenant_id, environment_id, occurred_at: at, actor };
  return subscription.evolve(current, { ...event, stamp } as never) ?? current;
}

/** Folds events that have no stamps yet, one after the other. */
export const foldAll = (
  current: Subscription,
  events: readonly SubscriptionEvent[],
  at?: Instant,
): Subscription =>
  events.reduce<Subscription>((folded, event) => foldInto(folded, event, at), current);

/** A subscription right after it was created, for the steps that follow in the same decision. */
export const blankSubscription = (data: CreatedData, at: Instant): Subscription =>
  existing(
    subscription.evolve(null, {
      type: 'SubscriptionCreated',
      data,
      stamp: { occurred_at: at, actor: { user_id: null, key_id: null } },
    } as never),
    'subscription',
  );
