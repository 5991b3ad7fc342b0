import { type Changes, type Instant, type Span, withChanges } from '@counterfoil/kernel';

export type FeatureType = 'metered' | 'boolean' | 'static';

/** The period after which the usage that a limit applies to starts again. */
export type ResetPeriod =
  | 'DAILY'
  | 'WEEKLY'
  | 'MONTHLY'
  | 'QUARTERLY'
  | 'HALF_YEARLY'
  | 'ANNUAL'
  | 'NEVER';

/** The values of an entitlement; which of them count depends on the type of its feature. */
export interface EntitlementValues {
  readonly is_enabled: boolean;
  readonly is_soft_limit: boolean;
  /** Null: unlimited; zero is a limit. */
  readonly usage_limit: number | null;
  /** Null: with the billing period. */
  readonly usage_reset_period: ResetPeriod | null;
  readonly static_value: string | null;
}

/** The rhythm of a subscription: the limits that it grants start over in it (D36). */
export interface GrantRhythm {
  /** The instant at which the subscription began. */
  readonly start: Instant;
  /** Its billing anchor: periods begin on its day, at its clock time. */
  readonly anchor: Instant;
  /** IANA name of the time zone in which they do. */
  readonly zone: string;
  /** The billing period that runs, or the first where none has begun. */
  readonly billing: Span;
}

/** The subscription whose limits several customers use up together, because others inherit it. */
export interface SharedLimit {
  readonly subscription_id: string;
  /** All whose use counts, and the time for which it does; null: without a bound. */
  readonly users: readonly {
    readonly customer_id: string;
    readonly since: Instant | null;
    readonly until: Instant | null;
  }[];
}

/** A published entitlement as one subscription has it: by its plan, by an add-on, or of its own. */
export interface GrantedEntitlement extends EntitlementValues {
  readonly entitlement_id: string;
  readonly feature_id: string;
  readonly feature_type: FeatureType;
  readonly subscription_id: string;
  /** True where the customer has it by the subscription of somebody else. */
  readonly is_inherited?: boolean;
  /** The subscription that it belongs to, where others have it too. */
  readonly shared?: SharedLimit;
  /** True where it holds for a phase of the subscription. */
  readonly is_of_phase?: boolean;
  readonly entity_type: 'PLAN' | 'ADDON' | 'SUBSCRIPTION';
  readonly entity_id: string;
  readonly entity_name: string;
  /**
   * The number of times that the subscription has the source, such as the same add-on. At least 1.
   */
  readonly quantity: number;
  /** Of an entitlement of a subscription: the one of its plan or add-on that it stands in for. */
  readonly parent_entitlement_id: string | null;
  /** Dates count for entitlements of a subscription only. In force from here on; null: always was. */
  readonly start_date: Instant | null;
  /** In force until right before here; null: without end. */
  readonly end_date: Instant | null;
  readonly rhythm: GrantRhythm;
}

/**
 * The values of an override: fields that it leaves out are those of the entitlement that it stands
 * in for. So an override that only switches off does not also make a limit unlimited.
 */
export function overrideValues(
  parent: EntitlementValues,
  changes: Changes<EntitlementValues>,
): EntitlementValues {
  const { is_enabled, is_soft_limit, usage_limit, usage_reset_period, static_value } = parent;
  return withChanges<EntitlementValues>(
    { is_enabled, is_soft_limit, usage_limit, usage_reset_period, static_value },
    changes,
  );
}

/**
 * The entitlements that count at an instant: those of subscriptions within their dates, without those
 * of plans and add-ons that one of them stands in for in the same subscription, and without the disabled.
 * An override that is disabled still stands in: that is how a subscription loses a feature of its plan.
 */
export function inForce(
  granted: readonly GrantedEntitlement[],
  at: Instant,
): readonly GrantedEntitlement[] {
  const holding = granted.filter((each) => isHolding(each, at));
  const replaced = new Set(
    holding.flatMap(({ entity_type, subscription_id, parent_entitlement_id }) =>
      entity_type === 'SUBSCRIPTION' && parent_entitlement_id !== null
        ? [keyOf(subscription_id, parent_entitlement_id)]
        : [],
    ),
  );
  return holding.filter(
    ({ entity_type, subscription_id, entitlement_id, is_enabled }) =>
      is_enabled &&
      (entity_type === 'SUBSCRIPTION' || !replaced.has(keyOf(subscription_id, entitlement_id))),
  );
}

const keyOf = (subscriptionId: string, entitlementId: string): string =>
  `${subscriptionId} ${entitlementId}`;

function isHolding(
  { entity_type, start_date, end_date }: GrantedEntitlement,
  at: Instant,
): boolean {
  if (entity_type !== 'SUBSCRIPTION') return true;
  return (start_date === null || start_date <= at) && (end_date === null || at < end_date);
}
