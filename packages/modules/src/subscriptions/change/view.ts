import { type Instant, invariant, millisecondsOf, withoutNulls } from '@counterfoil/kernel';
import type { SubscriptionEvent } from '../events.ts';
import { blankSubscription, type Subscription } from '../subscription.ts';
import { settled } from '../time/due.ts';
import { currentPeriod } from '../time/steps.ts';
import { settlementSum } from '../view.ts';
import { expectedChange } from './decisions.ts';
import type { ChangedSubscription, PlanChangedAnswer, PlanChangePreview } from './schema.ts';

type PlanChanged = Extract<SubscriptionEvent, { type: 'PlanChanged' }>['data'];

/** Everything that a change of plan decides: what happens now, or is scheduled and expected to happen. */
export interface DecidedChange {
  readonly change: PlanChanged;
  /** The settlements on both sides. */
  readonly settled: readonly SubscriptionEvent[];
  readonly schedule_id: string | null;
}

/** The settlements of a change of plan by its events: that of the subscription, and that of the one to come. */
export const settlementsOfChange = (
  events: readonly SubscriptionEvent[],
): readonly SubscriptionEvent[] =>
  events.flatMap((event): readonly SubscriptionEvent[] => {
    if (event.type === 'SettlementRecorded') {
      return event.data.reason === 'plan_changed' ? [event] : [];
    }
    if (event.type !== 'PlanChanged') return [];
    const { to, at, lines } = event.data;
    return settled(
      blankSubscription(to, at),
      { reason: 'plan_changed', period_index: 0 },
      at,
      lines,
    );
  });

/** The decision in the events of a change, on the subscription after them. */
export function decidedChange(
  events: readonly SubscriptionEvent[],
  after: Subscription,
): DecidedChange {
  const isScheduled = after.plan_change !== null;
  const all = isScheduled ? expectedChange(after) : events;
  const changed = all.find((event) => event.type === 'PlanChanged');
  invariant(changed?.type === 'PlanChanged', `${after.id}: a change of plan changes none`);
  return {
    change: changed.data,
    settled: settlementsOfChange(all),
    schedule_id: after.plan_change?.schedule_id ?? null,
  };
}

const dayMilliseconds = 24 * 60 * 60 * 1000;

const wholeDays = (from: Instant, to: Instant): number =>
  Math.max(0, Math.floor((millisecondsOf(to) - millisecondsOf(from)) / dayMilliseconds));

function sharedView(shown: Subscription, { change, settled: settlements }: DecidedChange) {
  const { to, at, carry_over, change_type } = change;
  const { lines, ...sums } = settlementSum(settlements);
  const { start, end } = currentPeriod(shown);
  return {
    shared: {
      change_type,
      effective_date: at,
      settlement: { ...sums, lines },
      carry_over: [...carry_over],
      metadata: to.metadata,
    },
    proration: {
      ...sums,
      proration_date: at,
      current_period_start: start,
      current_period_end: end,
      days_used: wholeDays(start, at),
      days_remaining: wholeDays(at, end),
      currency: shown.currency,
    },
  };
}

/** The preview of a change, from the subscription before it. */
export function previewView(
  before: Subscription,
  decided: DecidedChange,
): Omit<PlanChangePreview, 'quote_id' | 'quote_expires_at'> {
  const { shared, proration } = sharedView(before, decided);
  const { to, at } = decided.change;
  const next = blankSubscription(to, at);
  const { start, end } = currentPeriod(next);
  const dropped = shared.carry_over.filter(({ carried }) => !carried).length;
  return {
    subscription_id: before.id,
    current_plan: { id: before.plan_id, name: before.plan_name },
    target_plan: { id: to.plan_id, name: to.plan_name },
    ...shared,
    ...(to.proration_behavior === 'create_prorations' && { proration_details: proration }),
    new_billing_cycle: {
      period_start: start,
      period_end: end,
      billing_anchor: to.cycle.anchor,
      billing_cadence: 'RECURRING',
      billing_period: to.cycle.unit,
      billing_period_count: to.cycle.count,
    },
    warnings: [
      ...(shared.change_type === 'downgrade'
        ? ['The target plan costs less: it may give less.']
        : []),
      ...(before.subscription_status === 'trialing' ? ['The trial ends with the change.'] : []),
      ...(dropped > 0 ? [`${dropped} of what the subscription has is not taken along.`] : []),
    ],
  };
}

/** The answer of an execution. */
export function changedView(
  after: Subscription,
  following: Subscription | null,
  decided: DecidedChange,
): PlanChangedAnswer {
  const { shared, proration } = sharedView(after, decided);
  const isScheduled = decided.schedule_id !== null;
  return withoutNulls({
    is_scheduled: isScheduled,
    schedule_id: decided.schedule_id,
    scheduled_at: isScheduled ? decided.change.at : null,
    old_subscription: summaryOf(after),
    new_subscription: following && summaryOf(following),
    ...shared,
    proration_applied:
      !isScheduled && decided.change.to.proration_behavior === 'create_prorations'
        ? proration
        : null,
  });
}

function summaryOf(shown: Subscription): ChangedSubscription {
  const { start, end } = currentPeriod(shown);
  return withoutNulls({
    id: shown.id,
    status: shown.subscription_status,
    plan_id: shown.plan_id,
    current_period_start: start,
    current_period_end: end,
    billing_anchor: shown.cycle.anchor,
    created_at: shown.created_at,
    archived_at: shown.followed_by === null ? null : shown.cancelled_at,
  });
}
