import type { RequestContext } from '@counterfoil/engine/define';
import { featuresById } from '../features/index.ts';
import { aggregateEntitlements, type FeatureEntitlement } from './aggregate-entitlements.ts';
import type { GrantedEntitlement } from './granted-entitlement.ts';
import type { CustomerEntitlements, CustomerEntitlementsQuery } from './schema.ts';
import { aggregatedEntitlementView, entitlementSourceViews } from './view.ts';

/**
 * The published entitlements of a customer's active and trialing subscriptions. The slice that knows
 * subscriptions answers it, because this one stands below it.
 */
export type GrantsOf = (
  context: RequestContext,
  customerId: string,
) => Promise<readonly GrantedEntitlement[]>;

/**
 * The grants of a customer's subscriptions now, added up by feature, in the order of their ids.
 *
 * @param query features and subscriptions to look at; absent: all
 */
export async function entitlementsOf(
  context: RequestContext,
  grantsOf: GrantsOf,
  customerId: string,
  { feature_ids, subscription_ids }: CustomerEntitlementsQuery,
): Promise<readonly FeatureEntitlement[]> {
  const granted = (await grantsOf(context, customerId)).filter(
    ({ feature_id, subscription_id }) =>
      isWanted(feature_ids, feature_id) && isWanted(subscription_ids, subscription_id),
  );
  return aggregateEntitlements(granted, context.now);
}

/**
 * Reads what a customer has of each feature now (specification §4.8).
 *
 * @param query features and subscriptions to look at; absent: all
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
