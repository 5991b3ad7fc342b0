import { type Instant, invariant, type Period, type Span } from '@counterfoil/kernel';
import type { SubscriptionEvent } from '../events.ts';
import { applicationOf, expiryOf, type Grant, nextApplication } from '../grants/grant.ts';
import { chargedLine } from '../lines/line.ts';
import {
  cancellationLines,
  closingLines,
  openingLines,
  type SettlementCause,
  type SettlementContext,
  type SettlementLine,
  settlementOf,
} from '../settlement/index.ts';
import { foldInto, type Subscription } from '../subscription.ts';
import type { ProrationBehavior } from '../values.ts';
import { wholePeriodOf } from './cycle.ts';
import { endOf, nextStep, type Step } from './steps.ts';

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
    case 'trial_end':
      return [{ type: 'TrialEnded', data: { at: step.at } }];
    case 'close':
      return closing(subscription);
    case 'cancel':
      return ending(subscription, step.at);
    case 'open':
      return opening(subscription, step.period);
    case 'grant':
      return [granting(subscription, step.grant)];
    case 'notice': {
      const { index, end: renews_at } = step.period;
      return [{ type: 'RenewalNoticed', data: { index, at: step.at, renews_at } }];
    }
    default:
      return step satisfies never;
  }
}

/** The end of the period that runs, with what is charged for it at its end. */
function closing(subscription: Subscription): readonly SubscriptionEvent[] {
  const { opened: period, cancellation, end_date } = subscription;
  invariant(period, `${subscription.id}: a period is closed that does not run`);
  const isLast = endOf(subscription) === period.end;
  const context = settlementContext(subscription, period);
  const lines =
    isLast && cancellation?.skips_arrears === true
      ? []
      : closingLines(linesOf(subscription, isLast ? period.end : end_date), context);
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
  const lines = openingLines(
    linesOf(subscription, subscription.end_date),
    settlementContext(subscription, period),
  );
  return [
    { type: 'PeriodOpened', data: period },
    ...settled(
      subscription,
      { reason: 'period_opened', period_index: period.index },
      period.start,
      lines,
    ),
  ];
}

/** The next application of a grant, with the one that follows on it. */
function granting(subscription: Subscription, grant: Grant): SubscriptionEvent {
  const { customer_id, subscription_status, timezone: zone, opened: billing } = subscription;
  const index = grant.next_index ?? 0;
  const application = applicationOf(grant, index, zone);
  const expires_at = expiryOf(grant, application.period_start, { zone, billing });
  return {
    type: 'CreditsGranted',
    data: {
      ...application,
      customer_id,
      subscription_status,
      grant_id: grant.id,
      is_recurring: grant.period !== null,
      name: grant.name,
      credits: grant.credits,
      priority: grant.priority,
      conversion_rate: grant.conversion_rate,
      topup_conversion_rate: grant.topup_conversion_rate,
      expires_at,
      next: grant.period === null ? null : applicationOf(grant, index + 1, zone),
    },
  };
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

/** The manner in which a subscription ends. */
export interface Ending {
  readonly proration_behavior: ProrationBehavior;
  /** True where usage and charges in arrears up to the end are not billed any more. */
  readonly skips_arrears: boolean;
  readonly reason: string | null;
  readonly cause: 'request' | 'schedule' | 'end_date';
}

/**
 * The end of a subscription, in a period that runs or between two: what is owed up to there is charged, and what was
 * paid for the time after it is credited where that is asked for (E 10.7).
 */
export function endingEvents(
  subscription: Subscription,
  at: Instant,
  { proration_behavior, skips_arrears, reason, cause }: Ending,
): readonly SubscriptionEvent[] {
  const { opened: period } = subscription;
  const lines = linesOf(subscription, subscription.end_date);
  const context = settlementContext(subscription, period ?? { index: null, start: at, end: at });
  const settling = { at, proration: proration_behavior, skips_arrears };
  const closed: readonly SubscriptionEvent[] =
    period === null ? [] : [{ type: 'PeriodClosed', data: { ...period, end: at } }];
  const settlement = { reason: 'cancelled', period_index: period?.index ?? null } as const;
  return [
    ...closed,
    ...settled(subscription, settlement, at, cancellationLines(lines, context, settling)),
    {
      type: 'SubscriptionCancelled',
      data: {
        effective_at: at,
        cause,
        reason,
        lines: endingLines(subscription, at),
        applications: pendingApplications(subscription),
      },
    },
  ];
}

const pendingApplications = ({ grants, timezone, live_since }: Subscription) =>
  live_since === null
    ? []
    : grants.flatMap((grant) => nextApplication(grant, timezone)?.application_id ?? []);

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
    pauses: [],
  };
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
