import type {
  Instant,
  Period,
  RecordStamps,
  RecordStatus,
  ScheduleId,
  Span,
  SubscriptionId,
  WalletId,
} from '@counterfoil/kernel';
import type { Addon } from './addons/association.ts';
import type { CarriedOver } from './change/carried-over.ts';
import type { HeldCoupon } from './coupons/association.ts';
import type { HeldEntitlement } from './entitlements/granted.ts';
import type { CreatedData } from './events.ts';
import type { Family } from './families/family.ts';
import type { Grant } from './grants/grant.ts';
import type { Line } from './lines/line.ts';
import type { Pause } from './pauses/pause.ts';
import type { Phase } from './phases/phase.ts';
import type { ChangeType, Settlement } from './settlement/index.ts';
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

/** A change of plan that a request has asked for, before it has come. */
export interface ScheduledPlanChange {
  readonly schedule_id: ScheduleId;
  readonly at: Instant;
  /** The subscription that follows, as it would begin then. */
  readonly to: CreatedData;
  readonly proration: ProrationBehavior;
  readonly change_type: ChangeType;
  readonly carry_over: readonly CarriedOver[];
  readonly created_at: Instant;
}

/** A settlement that is to be paid before its subscription is active. */
export type AwaitedSettlement = Pick<Settlement, 'settlement_id' | 'reason' | 'at'>;

/** A subscription of a customer to a plan, with its terms frozen in it (ADR 41). */
export interface Subscription
  extends Omit<
      CreatedData,
      | 'is_draft'
      | 'lines'
      | 'entitlements'
      | 'grants'
      | 'addons'
      | 'phases'
      | 'id'
      | 'cycle'
      | 'trial'
      | 'family'
      | 'tax_associations'
      | 'coupons'
    >,
    RecordStamps {
  readonly id: SubscriptionId;
  readonly status: RecordStatus;
  readonly subscription_status: SubscriptionStatus;
  readonly cycle: Cycle;
  readonly trial: Span | null;
  readonly family: Family;
  /** The instant since which it takes steps by itself; null for a draft. */
  readonly live_since: Instant | null;
  /** The lines that can still be charged, in the order in which they came. */
  readonly lines: readonly Line[];
  /** The chains of prices of its plan that it has had a line under. */
  readonly sold_chains: readonly string[];
  /** Those of its plan when it was sold, and of its own. */
  readonly entitlements: readonly HeldEntitlement[];
  readonly grants: readonly Grant[];
  /** All coupons that it ever redeemed, those included that count no more. */
  readonly coupons: readonly HeldCoupon[];
  /** The number of entitlements of its own that it ever had: the ids of further ones follow from it. */
  readonly entitlements_made: number;
  /** The add-ons that it has and will have, and those that ended in the period that runs. */
  readonly addons: readonly Addon[];
  /** In their order: each follows on the one before. */
  readonly phases: readonly Phase[];
  /** The period that runs; null before the first, and between two of them. */
  readonly opened: Period | null;
  /** The period that was opened last, with the dates that it was opened with. */
  readonly last_period: Period | null;
  /** The number of the period that is opened next. */
  readonly next_index: number;
  /** The last period whose renewal was announced. */
  readonly noticed_index: number | null;
  /** All pauses that it ever had, oldest first: what they take out of a period stays out of it. */
  readonly pauses: readonly Pause[];
  /**
   * The settlement of its first period that is to be paid; null before that has opened, and once it was paid. One that has ended with
   * it was never paid for.
   */
  readonly awaits: AwaitedSettlement | null;
  /** Invoices by amount that the period that was opened last has had. */
  readonly threshold_count: number;
  readonly cancellation: ScheduledCancellation | null;
  readonly plan_change: ScheduledPlanChange | null;
  /** The subscription that has taken its place under another plan. */
  readonly followed_by: SubscriptionId | null;
  readonly cancelled_at: Instant | null;
  readonly cancellation_reason: string | null;
  /** The wallets that were taken for what it gives, in their order; those before the last are closed. */
  readonly wallets: readonly WalletId[];
}

/** Null before it is created. */
export type SubscriptionState = Subscription | null;
