import {
  type Instant,
  laterOf,
  millisecondsOf,
  nearestInstant,
  type Period,
} from '@counterfoil/kernel';
import type { Addon } from '../addons/association.ts';
import { isInherited } from '../families/family.ts';
import { type Grant, nextApplication } from '../grants/grant.ts';
import { type Pause, pausedSpans, pendingPause } from '../pauses/pause.ts';
import { comingPhases, type Phase } from '../phases/phase.ts';
import type { Subscription, SubscriptionState } from '../subscription.ts';
import { periodOf } from './cycle.ts';

/**
 * The kinds of things that happen to a subscription by itself, in their order at one instant (ADR 41, E 10.5 B).
 */
export const stepOrder = [
  'resume',
  'trial_end',
  'close',
  'cancel',
  'change',
  'phase',
  'addon_end',
  'addon_begin',
  'pause',
  'open',
  'grant',
  'notice',
] as const;

/** One thing that happens by itself, at its nominal instant. */
export type Step =
  | { readonly kind: 'resume' | 'trial_end' | 'close' | 'cancel' | 'change'; readonly at: Instant }
  | { readonly kind: 'pause'; readonly at: Instant; readonly pause: Pause }
  | { readonly kind: 'phase'; readonly at: Instant; readonly phase: Phase }
  | { readonly kind: 'open' | 'notice'; readonly at: Instant; readonly period: Period }
  | { readonly kind: 'addon_end' | 'addon_begin'; readonly at: Instant; readonly addon: Addon }
  | { readonly kind: 'grant'; readonly at: Instant; readonly grant: Grant };

const dayMilliseconds = 24 * 60 * 60 * 1000;

/** Days before the end of a period at which its renewal is announced, at most half a period before (D69, E 10.5 B). */
export const noticeDays = 7;

/** The first thing that will happen to a subscription by itself; null where nothing will. One that is inherited waits for its parent. */
export function nextStep(state: SubscriptionState): Step | null {
  if (!state || !isLive(state) || isInherited(state)) return null;
  return stepsOf(state).reduce<Step | null>(
    (first, step) => (first === null || isBefore(step, first) ? step : first),
    null,
  );
}

/** Tells whether time does something to a subscription. */
export const isLive = ({ subscription_status: status, status: record }: Subscription): boolean =>
  record === 'published' && status !== 'draft' && status !== 'cancelled';

function isBefore(left: Step, right: Step): boolean {
  if (left.at !== right.at) return left.at < right.at;
  return stepOrder.indexOf(left.kind) < stepOrder.indexOf(right.kind);
}

/** The things of each kind that are the next of their kind. */
const stepsOf = (subscription: Subscription): readonly Step[] =>
  subscription.subscription_status === 'incomplete'
    ? unpaidSteps(subscription)
    : livingSteps(subscription);

/**
 * A subscription that waits for its first payment opens its first period, after that of a trial, and ends. Everything else comes when
 * it is paid, each at its instant (ADR 47).
 */
const unpaidSteps = (subscription: Subscription): readonly Step[] => [
  ...(subscription.awaits === null
    ? [...periodEnd(subscription), ...periodStart(subscription)]
    : []),
  ...end(subscription),
];

const livingSteps = (subscription: Subscription): readonly Step[] => [
  ...pauseSteps(subscription),
  ...trialEnd(subscription),
  ...periodEnd(subscription),
  ...end(subscription),
  ...planChange(subscription),
  ...nextPhase(subscription),
  ...addonSteps(subscription),
  ...periodStart(subscription),
  ...nextGrants(subscription),
  ...notice(subscription),
];

const isPaused = ({ subscription_status }: Pick<Subscription, 'subscription_status'>): boolean =>
  subscription_status === 'paused';

/** The beginning of a pause that is to come, or the end of one that runs. */
function pauseSteps(subscription: Subscription): readonly Step[] {
  const pause = pendingPause(subscription);
  if (pause === null) return [];
  if (pause.status === 'scheduled') return [{ kind: 'pause', at: pause.start, pause }];
  return pause.end === null ? [] : [{ kind: 'resume', at: pause.end }];
}

/** The end of a trial, unless the subscription ends with it (E 10.4). */
function trialEnd({ subscription_status, trial, ...rest }: Subscription): readonly Step[] {
  if (subscription_status !== 'trialing' || trial === null) return [];
  const last = endOf(rest);
  return last !== null && last <= trial.end ? [] : [{ kind: 'trial_end', at: trial.end }];
}

/** A pause holds the end of the period up. */
const periodEnd = (subscription: Subscription): readonly Step[] =>
  subscription.opened === null || isPaused(subscription)
    ? []
    : [{ kind: 'close', at: subscription.opened.end }];

function end(subscription: Subscription): readonly Step[] {
  const { cancellation, end_date } = subscription;
  // A pause holds the end of the period up, and a cancellation with it.
  const isHeld = isPaused(subscription) && cancellation?.cancellation_type === 'end_of_period';
  const at = endOf({ cancellation: isHeld ? null : cancellation, end_date });
  return at === null ? [] : [{ kind: 'cancel', at }];
}

/** The instant at which a subscription ends, as it is known now: that of a cancellation, or its own. */
export function endOf({
  cancellation,
  end_date,
}: Pick<Subscription, 'cancellation' | 'end_date'>): Instant | null {
  const at = cancellation?.cancel_at ?? null;
  return at === null || (end_date !== null && end_date < at) ? end_date : at;
}

/** A change of plan comes with the end of the period, which a pause holds up. */
const planChange = (subscription: Subscription): readonly Step[] =>
  subscription.plan_change === null || isPaused(subscription)
    ? []
    : [{ kind: 'change', at: subscription.plan_change.at }];

/** The beginning of the next phase. A pause holds it up. */
const nextPhase = (subscription: Subscription): readonly Step[] => {
  const [phase] = isPaused(subscription) ? [] : comingPhases(subscription.phases);
  return phase === undefined ? [] : [{ kind: 'phase', at: phase.start_date, phase }];
};

/** The ends of add-ons, and the beginnings of those that are to come. A pause holds them up. */
const addonSteps = (subscription: Subscription): readonly Step[] => {
  if (isPaused(subscription)) return [];
  return subscription.addons.flatMap((addon) => [
    ...(addon.end_date === null || addon.addon_status === 'cancelled'
      ? []
      : [{ kind: 'addon_end' as const, at: addon.end_date, addon }]),
    ...(addon.addon_status === 'pending'
      ? [{ kind: 'addon_begin' as const, at: addon.start_date, addon }]
      : []),
  ]);
};

function periodStart(subscription: Subscription): readonly Step[] {
  if (subscription.opened !== null || isPaused(subscription)) return [];
  const period = nextPeriod(subscription);
  return [{ kind: 'open', at: period.start, period }];
}

/** The period that a subscription shows: the one that runs, or is to come; after its end the last, with its dates (D68). */
export function currentPeriod(subscription: Subscription): Period {
  const { opened, last_period, subscription_status } = subscription;
  if (opened !== null) return opened;
  if (subscription_status !== 'cancelled') return nextPeriod(subscription);
  return last_period ?? nextPeriod({ ...subscription, end_date: null });
}

/**
 * The billing period with which credits expire that are given for an instant: the one that runs. What is given afterwards, for a period that
 * is over, has expired with that at the latest, also where a pause holds the next one up.
 */
export function billingPeriodAt({ opened, last_period }: Subscription, at: Instant): Period | null {
  if (opened === null) return last_period;
  return at < opened.start ? { ...opened, end: opened.start } : opened;
}

/** The period that is opened next, cut at the end of the subscription. */
export function nextPeriod(subscription: Subscription): Period {
  const { next_index: index, cycle, trial, end_date } = subscription;
  if (trial === null || index >= cycle.first_index) return periodOf(subscription, index);
  const isCut = end_date !== null && end_date < trial.end;
  return { index, start: trial.start, end: isCut ? end_date : trial.end };
}

/**
 * The notice that the period that runs will be followed by another one. There is none of a trial, which nothing is
 * renewed after, and none of a past that was not lived through.
 */
function notice(subscription: Subscription): readonly Step[] {
  const { opened: period, subscription_status, noticed_index, live_since, cycle } = subscription;
  if (period === null || subscription_status !== 'active') return [];
  if (period.index < cycle.first_index) return [];
  if (noticed_index !== null && noticed_index >= period.index) return [];
  if (live_since === null || period.end <= live_since) return [];
  const last = endOf(subscription);
  if (last !== null && last <= period.end) return [];
  // What a pause held up is announced when it is over.
  const resumed = pausedSpans(subscription).at(-1)?.end ?? period.start;
  return [{ kind: 'notice', at: laterOf(noticeInstant(period), resumed), period }];
}

/** The grants of credits, each with the next of its applications. */
const nextGrants = ({ grants, timezone }: Subscription): readonly Step[] =>
  grants.flatMap((grant) => {
    const next = nextApplication(grant, timezone);
    return next === null ? [] : [{ kind: 'grant', at: next.period_start, grant }];
  });

function noticeInstant({ start, end: last }: Period): Instant {
  const [from, to] = [millisecondsOf(start), millisecondsOf(last)];
  const half = Math.floor((to - from) / 2);
  return nearestInstant(to - Math.min(noticeDays * dayMilliseconds, half));
}
