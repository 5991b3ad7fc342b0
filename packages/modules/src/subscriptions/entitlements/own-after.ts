import { createdStamps, type Stamped } from '@counterfoil/kernel';
import type { SubscriptionEvent } from '../events.ts';
import { changedGrant, type Grant } from '../grants/grant.ts';
import { entitlementsAfter, type HeldEntitlement } from './granted.ts';

/** The part of a subscription that requests give to it alone. */
interface Own {
  readonly entitlements: readonly HeldEntitlement[];
  readonly entitlements_made: number;
  readonly grants: readonly Grant[];
}

type OwnEvent = Extract<
  Stamped<SubscriptionEvent>,
  { type: `Entitlement${string}` | `Grant${string}` }
>;

/** That part after something of it has come, has changed or has gone. */
export function ownAfter(own: Own, event: OwnEvent): Partial<Own> {
  switch (event.type) {
    case 'EntitlementAdded': {
      const added = { ...event.data.entitlement, stamps: createdStamps(event.stamp) };
      return {
        entitlements: [...own.entitlements, added],
        entitlements_made: own.entitlements_made + 1,
      };
    }
    case 'EntitlementChanged':
    case 'EntitlementRemoved':
      return { entitlements: entitlementsAfter(own.entitlements, event) };
    case 'GrantAdded': {
      const { first: _first, customer_id: _customer, ...grant } = event.data;
      return { grants: [...own.grants, { ...grant, next_index: 0 }] };
    }
    case 'GrantChanged':
      return { grants: own.grants.map((grant) => changedGrant(grant, event.data)) };
    default:
      return event satisfies never;
  }
}
