import {
  aggregate,
  createdStamps,
  existing,
  type Instant,
  type Period,
  type RecordStamps,
  type RecordStatus,
  type ScheduleId,
  type Span,
  type Stamped,
  type SubscriptionId,
  updatedStamps,
  type WalletId,
  withChanges,
} from '@counterfoil/kernel';
import { type CreatedData, type SubscriptionEvent, subscriptionEvents } from './events.ts';
import type { Grant } from './grants/grant.ts';
import { linesAfter } from './lines/changed.ts';
import { afterSettlement } from './lines/charged.ts';
import { type Line, newLine } from './lines/line.ts';
import type { Cycle } from './time/cycle.ts';
import type { ProrationBehavior, SubscriptionStatus } from './values.ts';

/** The end of a subscription that a request has asked for, before it has come. */
export interface ScheduledCancellation {
  readonly schedule_id: ScheduleId;
  readonly cancellation_type: 'immediate' | 'end_of_period' | 'scheduled_date';
  readonly cancel_at: Instant;
  readonly proration_behavior: ProrationBehavior;
  readonly skips_arrears: boolean;
  readonly reason: string | null;
  readonly created_at: Instant;
}

/** A subscription of a customer to a plan, with its terms frozen in it (ADR 41). */
export interface Subscription
  extends Omit<CreatedData, 'is_draft' | 'lines' | 'grants' | 'id' | 'cycle' | 'trial'>,
    RecordStamps {
  readonly id: SubscriptionId;
  readonly status: RecordStatus;
  readonly subscription_status: SubscriptionStatus;
  readonly cycle: Cycle;
  readonly trial: Span | null;
  /** The instant since which it takes steps by itself; null for a draft. */
  readonly live_since: Instant | null;
  /** The lines that can still be charged, in the order in which they came. */
  readonly lines: readonly Line[];
  readonly grants: readonly Grant[];
  /** The period that runs; null before the first, and between two of them. */
  readonly opened: Period | null;
  /** The period that was opened last, with the dates that it was opened with. */
  readonly last_period: Period | null;
  /** The number of the period that is opened next. */
  readonly next_index: number;
  /** The last period whose renewal was announced. */
  readonly noticed_index: number | null;
  readonly cancellation: ScheduledCancellation | null;
  readonly cancelled_at: Instant | null;
  readonly cancellation_reason: string | null;
  /** The wallets that were taken for what it gives, in their order; those before the last are closed. */
  readonly wallets: readonly WalletId[];
}

/** Null before it is created. */
export type SubscriptionState = Subscription | null;

type Following = Exclude<Stamped<SubscriptionEvent>, { type: 'SubscriptionCreated' }>;

function created({ data, stamp }: Stamped<{ readonly data: CreatedData }>): Subscription {
  const { is_draft, lines, grants, ...terms } = data;
  return {
    ...terms,
    ...createdStamps(stamp),
    status: 'published',
    subscription_status: is_draft ? 'draft' : startingStatus(data.trial),
    live_since: is_draft ? null : stamp.occurred_at,
    lines: lines.map(newLine),
    grants: grants.map((grant) => ({ ...grant, next_index: 0 })),
    opened: null,
    last_period: null,
    next_index: 0,
    noticed_index: null,
    cancellation: null,
    cancelled_at: null,
    cancellation_reason: null,
    wallets: [],
  };
}

/**
 * The status with which a subscription begins to live. What it owes is not invoiced yet, so none waits for its first
 * payment.
 */
const startingStatus = (trial: Span | null): SubscriptionStatus =>
  trial === null ? 'active' : 'trialing';

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
      return { ...subscription, lines: linesAfter(subscription.lines, event.data) };
    case 'TrialEnded':
      return { ...subscription, subscription_status: 'active' };
    case 'PeriodOpened':
      return {
        ...subscription,
        opened: event.data,
        last_period: event.data,
        next_index: event.data.index + 1,
      };
    case 'PeriodClosed': {
      const lines = subscription.lines.filter((line) => lasts(line, event.data.end));
      return { ...subscription, opened: null, lines };
    }
    case 'SettlementRecorded':
      return { ...subscription, lines: afterSettlement(subscription.lines, event.data) };
    case 'CreditsGranted':
      return { ...subscription, grants: granted(subscription.grants, event.data) };
    case 'WalletChosen':
      return { ...subscription, wallets: [...subscription.wallets, event.data.wallet_id] };
    case 'RenewalNoticed':
      return { ...subscription, noticed_index: event.data.index };
    case 'CancellationScheduled':
      return {
        ...subscription,
        cancellation: { ...event.data, created_at: event.stamp.occurred_at },
      };
    case 'CancellationReverted':
      return { ...subscription, cancellation: null };
    case 'SubscriptionCancelled':
      return cancelled(subscription, event.data);
    default:
      return event satisfies never;
  }
}

function activated(
  subscription: Subscription,
  { data, stamp }: Stamped<Extract<SubscriptionEvent, { type: 'SubscriptionActivated' }>>,
): Subscription {
  const { lines, grants, ...start } = data;
  const starts = new Map(grants.map(({ id, start_date }) => [id, { start_date }]));
  const dates = new Map(lines.map((line) => [line.id, line]));
  return {
    ...subscription,
    ...start,
    subscription_status: startingStatus(data.trial),
    live_since: stamp.occurred_at,
    lines: subscription.lines.map((line) => ({ ...line, ...dates.get(line.id) })),
    grants: subscription.grants.map((grant) => ({ ...grant, ...starts.get(grant.id) })),
  };
}

/** A line that ended with the period or before it charges nothing any more. */
const lasts = ({ end_date }: Line, end: Instant): boolean => end_date === null || end_date > end;

const granted = (
  grants: readonly Grant[],
  { grant_id, next }: Extract<SubscriptionEvent, { type: 'CreditsGranted' }>['data'],
): readonly Grant[] =>
  grants.map((grant) =>
    grant.id === grant_id ? { ...grant, next_index: next?.index ?? null } : grant,
  );

const cancelled = (
  subscription: Subscription,
  {
    effective_at,
    reason,
    lines,
  }: Extract<SubscriptionEvent, { type: 'SubscriptionCancelled' }>['data'],
): Subscription => ({
  ...subscription,
  subscription_status: 'cancelled',
  cancelled_at: effective_at,
  cancellation_reason: reason,
  end_date: effective_at,
  lines: subscription.lines.map((line) =>
    lines.includes(line.id) ? { ...line, end_date: effective_at } : line,
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
