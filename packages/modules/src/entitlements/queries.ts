import type { RequestContext } from '@counterfoil/engine/define';
import type { Instant } from '@counterfoil/kernel';
import { featuresById } from '../features/index.ts';
import { aggregateEntitlements, type FeatureEntitlement } from './aggregate-entitlements.ts';
import type { GrantedEntitlement } from './granted-entitlement.ts';
import type { CustomerEntitlements, CustomerEntitlementsQuery } from './schema.ts';
import { aggregatedEntitlementView, entitlementSourceViews } from './view.ts';

/**
 * The published entitlements of a customer's active and trialing subscriptions at an instant. The slice that knows
 * subscriptions answers it, because this one stands below it.
 */
export type GrantsOf = (
  context: RequestContext,
  customerId: string,
  /** Default: now. */
  at?: Instant,
) => Promise<readonly GrantedEntitlement[]>;

/**
 * The grants of a customer's subscriptions at an instant, added up by feature, in the order of their ids.
 *
 * @param query features and subscriptions to look at; absent: all; and the instant; absent: now
 */
export async function entitlementsOf(
  context: RequestContext,
  grantsOf: GrantsOf,
  customerId: string,
  { feature_ids, subscription_ids, as_of: at = context.now }: CustomerEntitlementsQuery,
): Promise<readonly FeatureEntitlement[]> {
  const granted = (await grantsOf(context, customerId, at)).filter(
    ({ feature_id, subscription_id }) =>
      isWanted(feature_ids, feature_id) && isWanted(subscription_ids, subscription_id),
  );
  return aggregateEntitlements(granted, at);
}

/**
 * Reads what a customer has of each feature at an instant (specification §4.8).
 *
 * @param query features and subscriptions to look at; absent: all; and the instant; absent: now
 */
export async function customerEntitlements(
  context: RequestContext,
  grantsOf: GrantsOf,
  customerId: string,
  query: CustomerEntitlementsQuery,
): Promise<CustomerEntitlements> {
  const aggregated = await entitlementsOf(context, grantsOf, customerId, query);
  const features = await featuresById(
    context,
    aggregated.map(({ feature_id }) => feature_id),
  );
  return {
    customer_id: customerId,
    features: aggregated.flatMap((each) => {
      const feature = features.get(each.feature_id);
      if (!feature) return [];
      const sources = entitlementSourceViews(each);
      return [{ feature, entitlement: aggregatedEntitlementView(each), sources }];
    }),
  };
}

const isWanted = (wanted: readonly string[] | undefined, id: string): boolean =>
  wanted === undefined || wanted.length === 0 || wanted.includes(id);
