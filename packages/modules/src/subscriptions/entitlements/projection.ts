import { projection, type RecordedEvent } from '@counterfoil/engine/define';
import {
  createdStamps,
  invariant,
  type RecordStamps,
  type RecordStatus,
  updatedStamps,
  withChanges,
  withoutNulls,
} from '@counterfoil/kernel';
import { type Entitlement, entitlementColumns } from '../../offers/index.ts';
import type { SubscriptionEvent } from '../events.ts';
import { subscription } from '../subscription.ts';
import type { Granted } from './granted.ts';

/** An entitlement of a subscription itself, with its times. */
export interface OwnEntitlement {
  readonly granted: Granted;
  readonly stamps: RecordStamps;
  readonly status: RecordStatus;
}

/** An entitlement of a subscription on the wire. */
export function ownEntitlementView({ granted, stamps, status }: OwnEntitlement): Entitlement {
  const { entitlement_id: id, entity_id } = granted;
  return withoutNulls({
    id,
    ...stamps,
    status,
    feature_id: granted.feature_id,
    feature_type: granted.feature_type,
    entity_type: 'SUBSCRIPTION' as const,
    entity_id,
    parent_entitlement_id: granted.parent_entitlement_id,
    is_enabled: granted.is_enabled,
    is_soft_limit: granted.is_soft_limit,
    static_value: granted.static_value,
    usage_limit: granted.usage_limit,
    usage_reset_period: granted.usage_reset_period,
    start_date: granted.start_date,
    end_date: granted.end_date,
    display_order: 0,
  });
}

type Event = RecordedEvent<SubscriptionEvent>;

const ownOf = (event: Extract<Event, { type: 'SubscriptionCreated' }>): readonly Granted[] =>
  event.data.entitlements.filter(({ entity_id }) => entity_id === event.data.id);

function touchedEntitlements(event: Event): readonly string[] {
  switch (event.type) {
    case 'SubscriptionCreated':
      return ownOf(event).map(({ entitlement_id }) => entitlement_id);
    case 'EntitlementAdded':
      return [event.data.entitlement.entitlement_id];
    case 'EntitlementChanged':
    case 'EntitlementRemoved':
      return [event.data.entitlement_id];
    default:
      return [];
  }
}

function entitlementAfter(
  row: OwnEntitlement | null,
  event: Event,
  key: string,
): OwnEntitlement | null {
  const created = (granted: Granted): OwnEntitlement => ({
    granted,
    stamps: createdStamps(event.stamp),
    status: 'published',
  });
  if (event.type === 'EntitlementAdded') return created(event.data.entitlement);
  if (event.type === 'SubscriptionCreated') {
    const granted = ownOf(event).find(({ entitlement_id }) => entitlement_id === key);
    return granted ? created(granted) : row;
  }
  invariant(row, `the entitlement ${key} is changed before it exists`);
  const stamps = { ...row.stamps, ...updatedStamps(event.stamp) };
  switch (event.type) {
    case 'EntitlementChanged':
      return { ...row, stamps, granted: withChanges<Granted>(row.granted, event.data.changes) };
    case 'EntitlementRemoved':
      return { ...row, stamps, status: 'deleted' };
    default:
      return row;
  }
}

/** One row per entitlement that a subscription has or had of its own. */
export const ownEntitlementTable = projection(subscription, {
  name: 'subscription_entitlements',
  version: 1,
  columns: entitlementColumns,
  keys: touchedEntitlements,
  fold: entitlementAfter,
  view: ownEntitlementView,
});
