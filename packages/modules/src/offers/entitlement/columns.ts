import type { Entitlement } from './schema.ts';

/** The columns of every table of entitlements: those of offers, and those that a subscription has of its own. */
export const entitlementColumns = {
  entity_id: { type: 'text', of: (shown: Entitlement) => shown.entity_id, index: true },
  entity_type: { type: 'text', of: (shown: Entitlement) => shown.entity_type },
  feature_id: { type: 'text', of: (shown: Entitlement) => shown.feature_id, index: true },
  feature_type: { type: 'text', of: (shown: Entitlement) => shown.feature_type },
  is_enabled: { type: 'boolean', of: (shown: Entitlement) => shown.is_enabled },
  usage_limit: { type: 'integer', of: (shown: Entitlement) => shown.usage_limit },
} as const;
