export {
  aggregateEntitlements,
  type BooleanEntitlement,
  type FeatureEntitlement,
  type MeteredEntitlement,
  type StaticEntitlement,
} from './aggregate-entitlements.ts';
export {
  type EntitlementValues,
  type FeatureType,
  type GrantedEntitlement,
  inForce,
  overrideValues,
  type ResetPeriod,
} from './granted-entitlement.ts';
export {
  type AggregatedEntitlement,
  aggregatedEntitlementSchema,
  type EntitlementSource,
  entitlementSourceSchema,
} from './schema.ts';
export { aggregatedEntitlementView, entitlementSourceViews } from './view.ts';
