import { withoutNulls } from '@counterfoil/kernel';
import type { FeatureEntitlement } from './aggregate-entitlements.ts';
import type { GrantedEntitlement } from './granted-entitlement.ts';
import type { AggregatedEntitlement, EntitlementSource } from './schema.ts';

/** The cause of each kind of source (D70). */
const reasons = { PLAN: 'plan', ADDON: 'addon', SUBSCRIPTION: 'override' } as const;

const sourceTypes = { PLAN: 'plan', ADDON: 'addon', SUBSCRIPTION: 'subscription' } as const;

/**
 * Returns what is granted of a feature, as the API shows it: one shape for all types of features.
 */
export function aggregatedEntitlementView(entitlement: FeatureEntitlement): AggregatedEntitlement {
  const common = {
    // A disabled entitlement grants nothing, and does not get here.
    is_enabled: true,
    is_soft_limit: false,
    usage_limit: null,
    static_values: [],
  };
  switch (entitlement.feature_type) {
    case 'metered': {
      const { is_soft_limit, usage_limit, usage_reset_period } = entitlement;
      const period = usage_reset_period === null ? {} : { usage_reset_period };
      return { ...common, is_soft_limit, usage_limit, ...period };
    }
    case 'boolean':
      return common;
    case 'static':
      return { ...common, static_values: [...entitlement.static_values] };
  }
}

/** The sources of what is granted, as the API shows them. */
export const entitlementSourceViews = ({ sources }: FeatureEntitlement): EntitlementSource[] =>
  sources.map(sourceView);

function reasonOf({ is_inherited, is_of_phase, entity_type }: GrantedEntitlement) {
  if (is_inherited) return 'parent' as const;
  return is_of_phase ? ('phase' as const) : reasons[entity_type];
}

function sourceView(source: GrantedEntitlement): EntitlementSource {
  const isMetered = source.feature_type === 'metered';
  return withoutNulls({
    entitlement_id: source.entitlement_id,
    subscription_id: source.subscription_id,
    entity_type: sourceTypes[source.entity_type],
    entity_id: source.entity_id,
    entity_name: source.entity_name,
    reason: reasonOf(source),
    quantity: source.quantity,
    is_enabled: source.is_enabled,
    usage_limit: isMetered ? source.usage_limit : null,
    usage_reset_period: isMetered ? source.usage_reset_period : null,
    static_value: source.feature_type === 'static' ? source.static_value : null,
  });
}
