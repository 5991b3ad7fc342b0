import { type Module, module } from '@counterfoil/engine/define';
import type { GrantsOf } from './queries.ts';
import { customerEntitlementRoutes } from './routes.ts';

export {
  aggregateEntitlements,
  type BooleanEntitlement,
  type FeatureEntitlement,
  type MeteredEntitlement,
  type StaticEntitlement,
} from './aggregate-entitlements.ts';
export { type CountedLimit, countedLimit } from './counted-limit.ts';
export {
  type EntitlementValues,
  type FeatureType,
  type GrantedEntitlement,
  type GrantRhythm,
  inForce,
  overrideValues,
  type ResetPeriod,
  type SharedLimit,
} from './granted-entitlement.ts';
export { type LimitPeriod, limitPeriod, spanOfLimit } from './limit-period.ts';
export { customerEntitlements, entitlementsOf, type GrantsOf } from './queries.ts';
export {
  type AggregatedEntitlement,
  aggregatedEntitlementSchema,
  type CustomerEntitlements,
  type CustomerEntitlementsQuery,
  customerEntitlementsQuerySchema,
  customerEntitlementsSchema,
  type EntitlementSource,
  entitlementSourceSchema,
  resetPeriodSchema,
  subscriptionEntitlementsSchema,
} from './schema.ts';
export { aggregatedEntitlementView, entitlementSourceViews } from './view.ts';

/** The entitlements of customers. `grantsOf` knows what their subscriptions give them. */
export const entitlements = ({ grantsOf }: { readonly grantsOf: GrantsOf }): Module =>
  module({
    name: 'entitlements',
    aggregates: [],
    tables: [],
    routes: customerEntitlementRoutes(grantsOf),
    publicEvents: [],
  });

/** The routes with their exact types, for the typed client. */
export type CustomerEntitlementRoutes = ReturnType<typeof customerEntitlementRoutes>;
