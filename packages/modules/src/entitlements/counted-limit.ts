import { type Instant, invariant } from '@counterfoil/kernel';
import {
  entitlementOf,
  type FeatureEntitlement,
  type MeteredEntitlement,
} from './aggregate-entitlements.ts';
import type { GrantedEntitlement, SharedLimit } from './granted-entitlement.ts';
import { byAge, type LimitPeriod, limitPeriod } from './limit-period.ts';

/** The limit that the use of a customer is held against, in the period that runs. */
export interface CountedLimit {
  readonly entitlement: MeteredEntitlement;
  readonly period: LimitPeriod;
  /** Those who use it up together; null: the customer alone does. */
  readonly shared: SharedLimit | null;
}

/**
 * The limit that a customer's use is held against. A limit of a subscription that others inherit belongs to that subscription:
 * all who have it use it up together, in its own periods, and what the customer is granted of its own comes on top. Of several
 * that are shared only that of the oldest subscription counts, so that none is used up beyond itself.
 */
export function countedLimit(granted: MeteredEntitlement, at: Instant): CountedLimit {
  const [first] = granted.sources
    .flatMap(({ rhythm, shared }) => (shared ? [{ rhythm, ...shared }] : []))
    .sort(byAge);
  if (!first || granted.usage_limit === null) {
    return { entitlement: granted, period: limitPeriod(granted, at), shared: null };
  }
  const { rhythm: _, ...shared } = first;
  const { feature_id } = granted;
  const isOfFirst = (source: GrantedEntitlement) =>
    source.shared?.subscription_id === shared.subscription_id;
  const counted = granted.sources.filter((source) => !source.shared || isOfFirst(source));
  const together = metered(entitlementOf(feature_id, counted.filter(isOfFirst)));
  return {
    entitlement: metered(entitlementOf(feature_id, counted)),
    period: limitPeriod(together, at),
    shared,
  };
}

function metered(entitlement: FeatureEntitlement): MeteredEntitlement {
  invariant(entitlement.feature_type === 'metered', 'a limit is of a metered feature');
  return entitlement;
}
