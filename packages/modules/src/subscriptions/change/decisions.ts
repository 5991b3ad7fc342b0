import {
  type Instant,
  invalidOperation,
  invariant,
  type ScheduleId,
  type SubscriptionId,
} from '@counterfoil/kernel';
import { createdData, type Order } from '../creation/order.ts';
import { acting, type SubscriptionDecision } from '../decisions.ts';
import type { CreatedData, SubscriptionEvent } from '../events.ts';
import { toldToHeirs } from '../families/following.ts';
import { chargedLine } from '../lines/line.ts';
import { quotedInstant, unchangedSince } from '../modify/quoted-instant.ts';
import { changeType, type Proration } from '../settlement/index.ts';
import { blankSubscription, type Subscription } from '../subscription.ts';
import { changedPlan, dueEvents, linesOf } from '../time/due.ts';
import { carriedOver } from './carry-over.ts';
import { startOfChange } from './start.ts';

/** A change of plan as it is asked for, with everything found that it refers to. */
export interface PlanChangeOrder {
  /** The subscription to come, without what it takes along. */
  readonly order: Order;
  /** Ids of the prices of the plan that is left. */
  readonly prices_of_plan: ReadonlySet<string>;
  readonly proration: Proration;
  readonly change_at: 'immediate' | 'end_of_period';
  /** The id of its schedule, where it is one that comes later. */
  readonly schedule_id: ScheduleId;
  /** The instant of a quote, which is now for it; null: there is none. */
  readonly quoted: Instant | null;
}

/**
 * Changes the plan of a subscription, now or at the end of its period (E 13 B, D33, D65): it ends, and another one follows,
 * which `PlanChanged` holds whole. That event is where the change is decided: a reaction creates the other one.
 */
export const changePlanTo =
  (id: string, asked: PlanChangeOrder): SubscriptionDecision =>
  (state, now) =>
    acting(state, id, now, (current) => {
      assertChangeable(current, asked);
      if (asked.change_at === 'immediate') {
        const at = instantOf(current, asked, now);
        return changedPlan(current, { ...targetOf(current, asked, at), at });
      }
      const closed = afterPeriod(current);
      const at = closed.cycle_end;
      if (current.end_date !== null && at >= current.end_date) {
        throw invalidOperation(`Subscription ${id} ends at ${current.end_date}: nothing follows.`, {
          reason: 'ended',
        });
      }
      const { schedule_id } = asked;
      const change = targetOf(closed.subscription, asked, at);
      return [{ type: 'PlanChangeScheduled', data: { schedule_id, at, ...change } }];
    });

/** The settlement and the subscription to come of a change that is scheduled, as it is known now. */
export function expectedChange(current: Subscription): readonly SubscriptionEvent[] {
  const { plan_change } = current;
  if (plan_change === null) return [];
  const { subscription } = afterPeriod(current);
  return changedPlan(subscription, plan_change);
}

/** A subscription between the end of its period and the next one. */
function afterPeriod(current: Subscription): {
  readonly subscription: Subscription;
  readonly cycle_end: Instant;
} {
  const { opened } = current;
  if (opened === null) {
    throw invalidOperation(`Subscription ${current.id} has not begun: no period ends yet.`, {
      reason: 'inactive',
    });
  }
  return { subscription: { ...current, opened: null }, cycle_end: opened.end };
}

function targetOf(
  current: Subscription,
  { order, prices_of_plan, proration }: PlanChangeOrder,
  at: Instant,
) {
  const carried = carriedOver(current, order, prices_of_plan, at);
  const start = startOfChange(current, order, at);
  const to: CreatedData = createdData(carried.order, at, start);
  const from = current.lines.filter(({ end_date }) => end_date === null || end_date > at);
  return {
    to,
    proration,
    change_type: changeType(
      from.map((line) => chargedLine(line, null)),
      linesOf(blankSubscription(to, at), null),
      current.currency,
    ),
    carry_over: [...carried.items],
  };
}

function instantOf(current: Subscription, { quoted }: PlanChangeOrder, now: Instant): Instant {
  const at = quotedInstant(current, quoted, now);
  if (at >= unchangedSince(current)) return at;
  throw invalidOperation(`Subscription ${current.id} has not begun: cancel it instead.`, {
    reason: 'inactive',
  });
}

function assertChangeable(current: Subscription, { order, change_at }: PlanChangeOrder): void {
  const { id, plan_id, subscription_status: status, cancellation, plan_change } = current;
  if (order.plan_id === plan_id) {
    throw invalidOperation(`Subscription ${id} has the plan ${plan_id} already.`, {
      reason: 'unsuitable',
    });
  }
  const allowed = change_at === 'immediate' ? ['active', 'trialing'] : ['active'];
  if (!allowed.includes(status)) {
    throw invalidOperation(
      `Subscription ${id} is ${status}: only one that is ${allowed.join(' or ')} can be changed so.`,
      { reason: status === 'paused' ? 'paused' : 'inactive' },
    );
  }
  if (change_at === 'immediate') return;
  if (cancellation !== null || plan_change !== null) {
    throw invalidOperation(`Subscription ${id} has another change to come: take that back first.`, {
      reason: 'exists',
    });
  }
}

/** Takes a scheduled change of plan back. None of that id scheduled, a Problem. */
export const revertPlanChange =
  (id: string, schedule_id: string): SubscriptionDecision =>
  (state, now) =>
    acting(state, id, now, ({ plan_change }) => {
      if (plan_change?.schedule_id !== schedule_id) {
        throw invalidOperation(`The change ${schedule_id} is not to come any more.`, {
          reason: 'ended',
        });
      }
      return [{ type: 'PlanChangeReverted', data: { schedule_id: plan_change.schedule_id } }];
    });

/** Creates the subscription that follows on another one, with all that has happened to it by now. Created, no event. */
export const followSubscription =
  (
    { to, lines }: Pick<PlanChangedData, 'to' | 'lines'>,
    subscription_id: SubscriptionId,
  ): SubscriptionDecision =>
  (state, at) => {
    if (state !== null) return [];
    invariant(!to.is_draft, `${to.id} follows on ${subscription_id} as a draft`);
    const data: CreatedData = { ...to, follows: { subscription_id, lines: [...lines] } };
    return toldToHeirs(null, [
      { type: 'SubscriptionCreated', data },
      ...dueEvents(blankSubscription(data, at), at),
    ]);
  };

type PlanChangedData = Extract<SubscriptionEvent, { type: 'PlanChanged' }>['data'];
