import {
  type AddonAssociationId,
  type Instant,
  invariant,
  type Period,
  type Span,
} from '@counterfoil/kernel';
import type { Addon } from '../addons/association.ts';
import type { CarriedOver } from '../change/carried-over.ts';
import { carriedAddonId, withPartsOf } from '../change/carried-parts.ts';
import { datedAt, startOfChange } from '../change/start.ts';
import { withNothingToPay } from '../condition.ts';
import type { CreatedData, SubscriptionEvent } from '../events.ts';
import { familyAfterChange } from '../families/family.ts';
import {
  applicationAfter,
  applicationOf,
  creditsAt,
  expiryOf,
  type Grant,
  nextApplication,
} from '../grants/grant.ts';
import { chargedLine } from '../lines/line.ts';
import { pauseEnded } from '../pauses/ended.ts';
import { dataOf, type Pause, pausedSpans, pendingPause } from '../pauses/pause.ts';
import { endedSchedules } from '../schedules/schedule.ts';
import {
  type Change,
  type ChangeType,
  cancellationLines,
  changePlan,
  closingLines,
  openingLines,
  overhangLines,
  type SettlementCause,
  type SettlementContext,
  type SettlementLine,
  settlementOf,
} from '../settlement/index.ts';
import { blankSubscription, foldAll, foldInto, type Subscription } from '../subscription.ts';
import type { ProrationBehavior } from '../values.ts';
import { wholePeriodOf } from './cycle.ts';
import { billingPeriodAt, endOf, nextPeriod, nextStep, type Step } from './steps.ts';

/** Steps that one command takes at most; the subscription stays due while there are more (ADR 41). */
export const stepsMaximum = 100;

/**
 * Everything that has happened by itself by an instant, one step after another, each decided on the state that the one
 * before it left and at its own instant. Nothing due, no events.
 *
 * @param maximum steps to take at most
 */
export function dueEvents(
  subscription: Subscription,
  at: Instant,
  maximum = stepsMaximum,
): readonly SubscriptionEvent[] {
  const events: SubscriptionEvent[] = [];
  let current = subscription;
  for (let taken = 0; taken < maximum; taken += 1) {
    const step = nextStep(current);
    if (!step || step.at > at) return events;
    for (const event of eventsOf(current, step)) {
      events.push(event);
      current = foldInto(current, event);
    }
  }
  return events;
}

/** The events of one step. */
function eventsOf(subscription: Subscription, step: Step): readonly SubscriptionEvent[] {
  switch (step.kind) {
    case 'resume':
      return resuming(subscription, step.at, 'due');
    case 'pause':
      return [pausing(subscription, step.pause)];
    case 'trial_end':
      return [{ type: 'TrialEnded', data: { at: step.at } }];
    case 'close':
      return closing(subscription);
    case 'cancel':
      return ending(subscription, step.at);
    case 'change':
      return changing(subscription, step.at);
    case 'phase':
      return [{ type: 'PhaseBegun', data: { phase_id: step.phase.id, at: step.at } }];
    case 'addon_begin':
      return [{ type: 'AddonBegun', data: { addon_association_id: step.addon.id, at: step.at } }];
    case 'addon_end':
      return [addonEnding(subscription, step.addon, step.at)];
    case 'open':
      return opening(subscription, step.period);
    case 'grant':
      return [
        fallsIntoPause(subscription, step.at)
          ? skipping(subscription, step.grant)
          : granting(subscription, step.grant),
      ];
    case 'notice': {
      const { index, end: renews_at } = step.period;
      return [{ type: 'RenewalNoticed', data: { index, at: step.at, renews_at } }];
    }
    default:
      return step satisfies never;
  }
}

/** The end of the period that runs, with what is charged for it at its end (E 10.5). */
function closing(subscription: Subscription): readonly SubscriptionEvent[] {
  const { opened: period, cancellation, end_date } = subscription;
  invariant(period, `${subscription.id}: a period is closed that does not run`);
  const isLast = endOf(subscription) === period.end;
  const last = isLast ? period.end : end_date;
  const context = settlementContext(subscription, period);
  const lines =
    isLast && cancellation?.skips_arrears === true
      ? []
      : closingLines(linesOf(subscription, last), {
          ...context,
          commitment: context.commitment && { ...context.commitment, end: last },
        });
  return [
    { type: 'PeriodClosed', data: period },
    ...settled(
      subscription,
      { reason: 'period_closed', period_index: period.index },
      period.end,
      lines,
    ),
  ];
}

/** The start of a period, with what is charged for it in advance. */
function opening(subscription: Subscription, period: Period): readonly SubscriptionEvent[] {
  const { follows } = subscription;
  const isFollowing = follows !== undefined && period.index === 0;
  const lines = isFollowing
    ? follows.lines
    : openingLines(
        linesOf(subscription, subscription.end_date),
        settlementContext(subscription, period),
      );
  const reason = isFollowing ? 'plan_changed' : 'period_opened';
  const cause = { reason, period_index: period.index } as const;
  return [
    { type: 'PeriodOpened', data: period },
    ...settled(subscription, cause, period.start, lines),
    ...withNothingToPay(subscription, period.start, lines),
  ];
}

/** The next application of a grant, with the one that follows on it. */
function granting(subscription: Subscription, grant: Grant): SubscriptionEvent {
  const { timezone: zone } = subscription;
  const application = applying(subscription, grant);
  const { period_start } = application;
  const billing = billingPeriodAt(subscription, period_start);
  const expires_at = expiryOf(grant, period_start, { zone, billing });
  return {
    type: 'CreditsGranted',
    data: {
      ...application,
      name: grant.name,
      priority: grant.priority,
      conversion_rate: grant.conversion_rate,
      topup_conversion_rate: grant.topup_conversion_rate,
      expires_at,
    },
  };
}

/** Tells whether an instant lies in the pause that runs, or in one that is over. */
const fallsIntoPause = (subscription: Subscription, at: Instant): boolean =>
  (subscription.subscription_status === 'paused' &&
    (pendingPause(subscription)?.start ?? at) <= at) ||
  pausedSpans(subscription).some(({ start, end }) => start <= at && at < end);

/** The next application of a grant, whatever becomes of it. */
function applying(subscription: Subscription, grant: Grant) {
  const { customer_id, subscription_status, timezone: zone } = subscription;
  const index = grant.next_index ?? 0;
  return {
    ...applicationOf(grant, index, zone),
    customer_id,
    subscription_status,
    grant_id: grant.id,
    is_recurring: grant.period !== null,
    credits: creditsAt(grant, index),
    next: following(grant, index, zone),
  };
}

/** The application after one, with its credits: a part comes before a whole. */
function following(grant: Grant, index: number, zone: string) {
  const next = applicationAfter(grant, index, zone);
  return next && { ...next, credits: grant.credits };
}

/** The beginning of a pause that was scheduled, with the period that runs by now. */
function pausing({ opened }: Subscription, pause: Pause): SubscriptionEvent {
  const original_period = opened && { start: opened.start, end: opened.end };
  return { type: 'PauseStarted', data: { ...dataOf(pause), original_period } };
}

/** An application of a grant that falls into a pause: the grant keeps its rhythm (D67, E 10.6). */
const skipping = (subscription: Subscription, grant: Grant): SubscriptionEvent => ({
  type: 'CreditsSkipped',
  data: applying(subscription, grant),
});

/**
 * The end of the pause that runs. Nothing is charged: the time that it took is added to what was paid for. Where the
 * subscription ends before that, the rest is credited, if its ends are prorated.
 */
export function resuming(
  subscription: Subscription,
  at: Instant,
  cause: 'request' | 'due' | 'cancellation',
): readonly SubscriptionEvent[] {
  const ended = pauseEnded(subscription, at, cause);
  const after = foldInto(subscription, ended);
  const { end_date, proration_behavior, opened } = after;
  if (end_date === null || proration_behavior === 'none') return [ended];
  const period = opened ?? { index: null, start: at, end: at };
  const lines = after.lines.map((line) => chargedLine(line, null));
  const reason = { reason: 'pause_ended', period_index: period.index } as const;
  const overhang = overhangLines(lines, end_date, settlementContext(after, period));
  return [ended, ...settled(after, reason, at, overhang, ended.data.pause_id)];
}

/** The end of a subscription whose time has come. */
function ending(subscription: Subscription, at: Instant): readonly SubscriptionEvent[] {
  const { cancellation, end_date, proration_behavior } = subscription;
  if (cancellation === null || (end_date !== null && end_date < cancellation.cancel_at)) {
    const ending: Ending = {
      proration_behavior,
      skips_arrears: false,
      reason: null,
      cause: 'end_date',
    };
    return endingEvents(subscription, at, ending);
  }
  return endingEvents(subscription, at, { ...cancellation, cause: 'schedule' });
}

/** A change of plan whose time has come, under the terms of the day on which it was asked for. */
function changing(subscription: Subscription, at: Instant): readonly SubscriptionEvent[] {
  const { plan_change } = subscription;
  invariant(plan_change, `${subscription.id}: a change of plan comes that nobody has asked for`);
  const { to, proration, change_type, carry_over } = plan_change;
  const rhythm = { unit: to.cycle.unit, count: to.cycle.count };
  const start = startOfChange(subscription, { ...to, rhythm }, at);
  const dated = withPartsOf(subscription, datedAt(to, start), at);
  return changedPlan(subscription, { to: dated, proration, change_type, carry_over, at });
}

/** A change of plan that takes effect. */
export interface PlanChange extends Change {
  readonly to: CreatedData;
  readonly change_type: ChangeType;
  readonly carry_over: readonly CarriedOver[];
}

/**
 * The events of a subscription that another one follows on (E 13 B, D33): it is billed for what is owed up to then, and ends. The
 * credits for the rest stand with the charges of the other one, so that both make one figure.
 */
export function changedPlan(
  subscription: Subscription,
  { to, change_type, carry_over, ...change }: PlanChange,
): readonly SubscriptionEvent[] {
  const { opened: period } = subscription;
  const { at } = change;
  const lines = planChangeLines(subscription, to, change);
  const owed = lines.old.filter(({ kind }) => kind !== 'credit');
  const credits = lines.old.filter(({ kind }) => kind === 'credit');
  const cause = { reason: 'plan_changed', period_index: period?.index ?? null } as const;
  return [
    ...closedAt(subscription, at),
    ...settled(subscription, cause, at, owed, 'old'),
    {
      type: 'PlanChanged',
      data: {
        at,
        to: { ...to, family: familyAfterChange(subscription, to.id) },
        change_type,
        carry_over: [...carry_over],
        lines: [...credits, ...lines.new],
      },
    },
    cancelledAt(subscription, at, { cause: 'plan_change', reason: null }),
  ];
}

/** A subscription whose add-ons that are sold once can be credited, where the one that follows does not have them. */
const givenUp = (subscription: Subscription, to: CreatedData): Subscription => ({
  ...subscription,
  lines: subscription.lines.map((line) => {
    const { addon_association_id: id, is_sold_once } = line;
    if (!is_sold_once || id === null) return line;
    const next = carriedAddonId(to.id, id as AddonAssociationId);
    return { ...line, is_sold_once: to.addons.some((addon) => addon.id === next) };
  }),
});

/** Both sides of a change of plan, each in the period that it is in. */
function planChangeLines(subscription: Subscription, to: CreatedData, change: Change) {
  const { opened: period, end_date } = subscription;
  const { at } = change;
  const next = blankSubscription(to, at);
  return changePlan(
    {
      lines: linesOf(givenUp(subscription, to), end_date),
      context: settlementContext(subscription, period ?? { index: null, start: at, end: at }),
    },
    { lines: linesOf(next, to.end_date), context: settlementContext(next, nextPeriod(next)) },
    change,
  );
}

/** The manner in which a subscription ends. */
export interface Ending {
  readonly proration_behavior: ProrationBehavior;
  /** True where usage and charges in arrears up to the end are not billed any more. */
  readonly skips_arrears: boolean;
  readonly reason: string | null;
  readonly cause: 'request' | 'schedule' | 'end_date' | 'unpaid';
}

/**
 * The end of a subscription, in a period that runs or between two: what is owed up to there is charged, and what was
 * paid for the time after it is credited where that is asked for (E 10.7).
 */
export function endingEvents(
  subscription: Subscription,
  at: Instant,
  ending: Ending,
): readonly SubscriptionEvent[] {
  if (subscription.subscription_status !== 'paused') return endedEvents(subscription, at, ending);
  // What the pause holds back is judged as running.
  const resumed = resuming(subscription, at, 'cancellation');
  const running = foldAll(subscription, resumed);
  return [...resumed, ...endedEvents(running, at, ending)];
}

function endedEvents(
  subscription: Subscription,
  at: Instant,
  { proration_behavior, skips_arrears, reason, cause }: Ending,
): readonly SubscriptionEvent[] {
  const { opened: period } = subscription;
  const lines = linesOf(subscription, subscription.end_date);
  const context = settlementContext(subscription, period ?? { index: null, start: at, end: at });
  const settling = {
    at,
    proration: proration_behavior,
    skips_arrears: skips_arrears || isClosedFor(subscription, at),
  };
  const settlement = { reason: 'cancelled', period_index: period?.index ?? null } as const;
  // What was never paid for is not billed, and its invoice becomes void (ADR 47).
  const isUnpaid = subscription.subscription_status === 'incomplete';
  const owed = isUnpaid ? [] : cancellationLines(lines, context, settling);
  return [
    ...closedAt(subscription, at),
    ...settled(subscription, settlement, at, owed),
    cancelledAt(subscription, at, { cause, reason }),
  ];
}

/**
 * Tells whether the last period was closed with the end of the subscription in view: everything that is owed, of longer periods and
 * of terms too, was billed with it.
 */
const isClosedFor = (subscription: Subscription, at: Instant): boolean =>
  subscription.opened === null &&
  subscription.last_period?.end === at &&
  endOf(subscription) === at;

/** The period that runs, where one does, as it ends with its subscription. */
const closedAt = ({ opened }: Subscription, at: Instant): readonly SubscriptionEvent[] =>
  opened === null ? [] : [{ type: 'PeriodClosed', data: { ...opened, end: at } }];

type Cancelled = Extract<SubscriptionEvent, { type: 'SubscriptionCancelled' }>;

/** The end of a subscription, with everything that ends with it. */
const cancelledAt = (
  subscription: Subscription,
  at: Instant,
  why: Pick<Cancelled['data'], 'cause' | 'reason'>,
): Cancelled => ({
  type: 'SubscriptionCancelled',
  data: {
    effective_at: at,
    ...why,
    lines: endingLines(subscription, at),
    ...endingGrants(subscription, subscription.grants),
    addons: endingAddons(subscription),
    schedules: endedSchedules(subscription, why.cause, at),
  },
});

/** The end of an add-on: its lines ended with it as they were dated, and its grants of credits do. */
const addonEnding = (
  subscription: Subscription,
  { id }: Addon,
  at: Instant,
): SubscriptionEvent => ({
  type: 'AddonEnded',
  data: {
    addon_association_id: id,
    at,
    ...endingGrants(
      subscription,
      subscription.grants.filter((grant) => grant.addon_association_id === id),
    ),
  },
});

/** The grants that were still to give something, with what they were to give next. */
function endingGrants({ timezone, live_since }: Subscription, grants: readonly Grant[]) {
  const ending = live_since === null ? [] : grants.filter(({ next_index }) => next_index !== null);
  return {
    applications: ending.flatMap((grant) => nextApplication(grant, timezone)?.application_id ?? []),
    grants: ending.map(({ id }) => id),
  };
}

const endingAddons = ({ addons }: Subscription) =>
  addons.flatMap(({ id, addon_status }) => (addon_status === 'cancelled' ? [] : id));

const endingLines = ({ lines }: Subscription, at: Instant) =>
  lines.filter(({ end_date }) => end_date === null || end_date > at).map(({ id }) => id);

/** The lines as settlements see them, where the subscription ends at an instant or, as far as is known, never. */
export const linesOf = ({ lines }: Subscription, end: Instant | null) =>
  lines.map((line) => chargedLine(line, end));

/**
 * A period as settlements see it. Where nothing is prorated, a price is charged whole for a period that is short because
 * of its anchor or because the subscription ends.
 *
 * @param period without an index between two periods
 */
export function settlementContext(
  subscription: Subscription,
  period: Span & { readonly index: number | null },
): SettlementContext {
  const { currency, timezone: zone, cycle, proration_behavior } = subscription;
  const isCounted = period.index !== null && period.index >= cycle.first_index;
  const whole: Span =
    isCounted && proration_behavior === 'create_prorations'
      ? wholePeriodOf(subscription, period.index)
      : period;
  return {
    currency,
    zone,
    window: { start: period.start, end: period.end },
    whole: { start: whole.start, end: whole.end },
    pauses: pausedSpans(subscription),
    commitment: commitmentOf(subscription),
  };
}

/** The commitment of all usage as settlements see it: from the end of a trial on. */
function commitmentOf({
  commitment,
  trial,
  start_date,
  end_date,
}: Subscription): SettlementContext['commitment'] {
  if (commitment === null) return null;
  const { amount: committed, ...terms } = commitment;
  return { ...terms, committed, since: trial?.end ?? start_date, end: end_date };
}

/**
 * The event of a settlement; none where there is nothing to settle.
 *
 * @param key tells it from others for the same reason: a subscription ends once, and each of its periods begins and ends once
 */
export function settled(
  { id: subscription_id, currency }: Subscription,
  { reason, period_index }: Pick<SettlementCause, 'reason' | 'period_index'>,
  at: Instant,
  lines: readonly SettlementLine[],
  key: string = String(period_index),
): readonly SubscriptionEvent[] {
  if (lines.length === 0) return [];
  const cause = { subscription_id, reason, key, period_index, at, currency };
  return [{ type: 'SettlementRecorded', data: settlementOf(cause, lines) }];
}
