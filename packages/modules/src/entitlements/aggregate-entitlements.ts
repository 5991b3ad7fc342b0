import { type Instant, invariant } from '@counterfoil/kernel';
import { type GrantedEntitlement, inForce, type ResetPeriod } from './granted-entitlement.ts';

interface CommonEntitlement {
  readonly feature_id: string;
  /**
   * The entitlements that it is made of, in an order that does not depend on theirs: never empty.
   */
  readonly sources: readonly GrantedEntitlement[];
}

/** A feature whose usage is counted. */
export interface MeteredEntitlement extends CommonEntitlement {
  readonly feature_type: 'metered';
  /** Null: unlimited. */
  readonly usage_limit: number | null;
  readonly is_soft_limit: boolean;
  /** Null: with the billing period. */
  readonly usage_reset_period: ResetPeriod | null;
}

/** A feature that is there. Where it is not, there is no entitlement. */
export interface BooleanEntitlement extends CommonEntitlement {
  readonly feature_type: 'boolean';
}

/** A feature with a value. */
export interface StaticEntitlement extends CommonEntitlement {
  readonly feature_type: 'static';
  /** Each once, in the order of the sources. */
  readonly static_values: readonly string[];
}

/** The sum of what all sources grant of one feature. */
export type FeatureEntitlement = MeteredEntitlement | BooleanEntitlement | StaticEntitlement;

/**
 * Computes what a customer has of each feature, by all the entitlements of all its subscriptions:
 * the sum of the limits, unlimited if any is, soft if any is, present if any is, every value once.
 * The order in which they are given does not matter, and one more never lowers a limit unless it
 * stands in for another.
 *
 * @param granted the entitlements of subscriptions that are active or trialing
 * @param at the instant that is asked about
 * @returns by feature, in the order of their ids; features that nothing grants are absent
 * @throws BrokenInvariant when the entitlements of a feature disagree on its type
 */
export function aggregateEntitlements(
  granted: readonly GrantedEntitlement[],
  at: Instant,
): readonly FeatureEntitlement[] {
  const byFeature = groupedBy(inForce(granted, at), ({ feature_id }) => feature_id);
  return [...byFeature]
    .sort(([left], [right]) => inTextOrder(left, right))
    .map(([featureId, sources]) => entitlementOf(featureId, sources.sort(inSourceOrder)));
}

/** The sum of sources that are in force, of one feature and in their order. */
export function entitlementOf(
  feature_id: string,
  sources: readonly GrantedEntitlement[],
): FeatureEntitlement {
  const type = sources[0]?.feature_type;
  const isUniform = sources.every(({ feature_type }) => feature_type === type);
  invariant(type && isUniform, `the entitlements of ${feature_id} disagree on its type`);
  switch (type) {
    case 'metered':
      return {
        feature_id,
        feature_type: type,
        usage_limit: limitOf(sources),
        is_soft_limit: sources.some(({ is_soft_limit }) => is_soft_limit),
        usage_reset_period: resetPeriodOf(sources),
        sources,
      };
    case 'boolean':
      return { feature_id, feature_type: type, sources };
    case 'static':
      return { feature_id, feature_type: type, static_values: valuesOf(sources), sources };
  }
}

/**
 * The sum of the limits, each as often as it is there. A sum beyond what a JSON number can hold
 * exactly is the largest that it can: no usage reaches that.
 */
function limitOf(sources: readonly GrantedEntitlement[]): number | null {
  let sum = 0;
  for (const { usage_limit, quantity } of sources) {
    if (usage_limit === null) return null;
    sum = Math.min(sum + usage_limit * quantity, Number.MAX_SAFE_INTEGER);
  }
  return sum;
}

const valuesOf = (sources: readonly GrantedEntitlement[]): readonly string[] => [
  ...new Set(sources.flatMap(({ static_value }) => static_value ?? [])),
];

/** The order in which the kinds of sources count. */
const rankOf = { PLAN: 0, ADDON: 1, SUBSCRIPTION: 2 } as const;

/** The longer a period, the later its number; "with the billing period" has no length of its own. */
const lengthOf = {
  DAILY: 1,
  WEEKLY: 2,
  MONTHLY: 3,
  QUARTERLY: 4,
  HALF_YEARLY: 5,
  ANNUAL: 6,
  NEVER: 7,
} as const;

/**
 * The period that most sources have. Among equals that of a plan comes before that of an add-on and that
 * of a subscription, and then the longest, so that the answer is the same every time.
 */
function resetPeriodOf(sources: readonly GrantedEntitlement[]): ResetPeriod | null {
  const byPeriod = groupedBy(sources, ({ usage_reset_period }) => usage_reset_period);
  const [best] = [...byPeriod].sort(
    ([one, ofOne], [other, ofOther]) =>
      ofOther.length - ofOne.length ||
      bestRank(ofOne) - bestRank(ofOther) ||
      (other ? lengthOf[other] : 0) - (one ? lengthOf[one] : 0),
  );
  return best?.[0] ?? null;
}

const bestRank = (sources: readonly GrantedEntitlement[]): number =>
  Math.min(...sources.map(({ entity_type }) => rankOf[entity_type]));

/** By subscription, within it plan, add-ons and its own; total, so that every order gives the same. */
const inSourceOrder = (left: GrantedEntitlement, right: GrantedEntitlement): number =>
  inTextOrder(left.subscription_id, right.subscription_id) ||
  rankOf[left.entity_type] - rankOf[right.entity_type] ||
  inTextOrder(left.entity_id, right.entity_id) ||
  inTextOrder(left.entitlement_id, right.entitlement_id) ||
  left.quantity - right.quantity;

const inTextOrder = (left: string, right: string): number =>
  left < right ? -1 : left > right ? 1 : 0;

function groupedBy<Key>(
  sources: readonly GrantedEntitlement[],
  keyOf: (source: GrantedEntitlement) => Key,
): Map<Key, GrantedEntitlement[]> {
  const groups = new Map<Key, GrantedEntitlement[]>();
  for (const source of sources) {
    const key = keyOf(source);
    const group = groups.get(key);
    if (group) group.push(source);
    else groups.set(key, [source]);
  }
  return groups;
}
