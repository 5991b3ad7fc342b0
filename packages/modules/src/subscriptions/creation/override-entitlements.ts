import {
  type Instant,
  invalidField,
  notFound,
  type SubscriptionId,
  sequencedId,
} from '@counterfoil/kernel';
import { overrideValues } from '../../entitlements/index.ts';
import type { Offer } from '../../offers/index.ts';
import type { Granted } from '../entitlements/granted.ts';
import type { OverrideEntitlement } from '../schema.ts';
import { grantedBy } from './offered.ts';

/** The entitlements of a subscription: those of its plan, and for each that is overridden one of its own that stands in for it. */
export function grantedWith(
  now: Instant,
  id: SubscriptionId,
  plan: Offer,
  overrides: readonly OverrideEntitlement[],
): Granted[] {
  const granted = grantedBy(plan);
  return [...granted, ...overriding({ now, id, owner: id, granted, pointer: '' }, overrides)];
}

/** The place of overrides: the subscription, what their ids follow from, and what it has. */
interface Overridden {
  readonly now: Instant;
  readonly id: SubscriptionId;
  readonly owner: string;
  readonly granted: readonly Granted[];
  readonly pointer: string;
}

/**
 * Entitlements of a subscription's own that stand in for those that it has: what an override leaves out is as it was (E 8.2 B).
 * One that has an override already gets another in the place of that.
 */
export const overriding = (
  { now, id, owner, granted, pointer: below }: Overridden,
  overrides: readonly OverrideEntitlement[],
): Granted[] =>
  overrides.map(({ entitlement_id, config_value: _, ...changes }, index): Granted => {
    const pointer = `${below}/override_entitlements/${index}/entitlement_id`;
    const parent =
      granted.find((each) => each.parent_entitlement_id === entitlement_id) ??
      granted.find((each) => each.entitlement_id === entitlement_id);
    if (!parent) throw notFound('entitlement', entitlement_id, pointer.slice(1));
    if (overrides.findIndex((each) => each.entitlement_id === entitlement_id) < index) {
      throw invalidField(pointer, 'has an override already');
    }
    return {
      ...parent,
      ...overrideValues(parent, changes),
      entitlement_id: sequencedId('ent', now, owner, index),
      entity_type: 'SUBSCRIPTION',
      entity_id: id,
      parent_entitlement_id: entitlement_id,
      start_date: null,
      end_date: null,
    };
  });
