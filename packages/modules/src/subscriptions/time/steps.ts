import { type Instant, millisecondsOf, nearestInstant, type Period } from '@counterfoil/kernel';
import { type Grant, nextApplication } from '../grants/grant.ts';
import type { Subscription, SubscriptionState } from '../subscription.ts';
import { periodOf } from './cycle.ts';

/**
 * The kinds of things that happen to a subscription by itself, in their order at one instant (ADR 41). Pauses and
 * changes have their places between these.
 */
export const stepOrder = ['trial_end', 'close', 'cancel', 'open', 'grant', 'notice'] as const;

/** One thing that happens by itself, at its nominal instant. */
export type Step =
  | { readonly kind: 'trial_end' | 'close' | 'cancel'; readonly at: Instant }
  | { readonly kind: 'open' | 'notice'; readonly at: Instant; readonly period: Period }
  | { readonly kind: 'grant'; readonly at: Instant; readonly grant: Grant };

const dayMilliseconds = 24 * 60 * 60 * 1000;

/** Days before the end of a period at which its renewal is announced, at most half a period before (D69). */
export const noticeDays = 7;

/** The first thing that will happen to a subscription by itself; null where nothing will. */
export function nextStep(state: SubscriptionState): Step | null {
  if (!state || !isLive(state)) return null;
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
const stepsOf = (subscription: Subscription): readonly Step[] => [
  ...trialEnd(subscription),
  ...periodEnd(subscription),
  ...end(subscription),
  ...periodStart(subscription),
  ...nextGrants(subscription),
  ...notice(subscription),
];

/** The end of a trial, unless the subscription ends with it. */
function trialEnd({ subscription_status, trial, ...rest }: Subscription): readonly Step[] {
  if (subscription_status !== 'trialing' || trial === null) return [];
  const last = endOf(rest);
  return last !== null && last <= trial.end ? [] : [{ kind: 'trial_end', at: trial.end }];
}

const periodEnd = ({ opened }: Subscription): readonly Step[] =>
  opened === null ? [] : [{ kind: 'close', at: opened.end }];

function end(subscription: Subscription): readonly Step[] {
  const at = endOf(subscription);
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

function periodStart(subscription: Subscription): readonly Step[] {
  if (subscription.opened !== null) return [];
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
  return [{ kind: 'notice', at: noticeInstant(period), period }];
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
