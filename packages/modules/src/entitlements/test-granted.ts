import type { Instant } from '@counterfoil/kernel';
import type { GrantedEntitlement } from './granted-entitlement.ts';

export const now = '2026-03-15T12:00:00.000Z' as Instant;

const plain: GrantedEntitlement = {
  entitlement_id: 'ent_1',
  feature_id: 'feat_1',
  feature_type: 'metered',
  subscription_id: 'subs_1',
  entity_type: 'PLAN',
  entity_id: 'plan_1',
  entity_name: 'Starter',
  quantity: 1,
  is_enabled: true,
  is_soft_limit: false,
  usage_limit: null,
  usage_reset_period: null,
  static_value: null,
  parent_entitlement_id: null,
  start_date: null,
  end_date: null,
  rhythm: {
    start: '2026-01-10T08:30:00.000Z' as Instant,
    anchor: '2026-01-10T08:30:00.000Z' as Instant,
    zone: 'UTC',
    billing: {
      start: '2026-03-10T08:30:00.000Z' as Instant,
      end: '2026-04-10T08:30:00.000Z' as Instant,
    },
  },
};

type Fields = Partial<GrantedEntitlement>;

/** An entitlement of the plan, unlimited unless it says otherwise. */
export const ofPlan = (fields: Fields = {}): GrantedEntitlement => ({ ...plain, ...fields });

/** The same of an add-on. */
export const ofAddon = (fields: Fields = {}): GrantedEntitlement => ({
  ...plain,
  entitlement_id: 'ent_2',
  entity_type: 'ADDON',
  entity_id: 'addon_1',
  entity_name: 'More of it',
  ...fields,
});

/** The same of the subscription itself. */
export const ofSubscription = (fields: Fields = {}): GrantedEntitlement => ({
  ...plain,
  entitlement_id: 'ent_3',
  entity_type: 'SUBSCRIPTION',
  entity_id: fields.subscription_id ?? 'subs_1',
  entity_name: 'Subscription',
  ...fields,
});
