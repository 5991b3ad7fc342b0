import {
  type Changes,
  instantSchema,
  type RecordStamps,
  referenceSchema,
  type Stamp,
  updatedStamps,
  withChanges,
} from '@counterfoil/kernel';
import { z } from 'zod';
import { type EntitlementValues, resetPeriodSchema } from '../../entitlements/index.ts';
import { featureTypeSchema } from '../../features/index.ts';

/** An entitlement as a subscription was given it: nothing changes in it because its plan does (ADR 41). */
export const grantedData = z.object({
  entitlement_id: referenceSchema('ent'),
  feature_id: referenceSchema('feat'),
  feature_type: featureTypeSchema,
  entity_type: z.enum(['PLAN', 'ADDON', 'SUBSCRIPTION']),
  entity_id: z.string(),
  entity_name: z.string(),
  parent_entitlement_id: z.string().nullable(),
  is_enabled: z.boolean(),
  is_soft_limit: z.boolean(),
  /** Null is unlimited, 0 is none at all (D17). */
  usage_limit: z.number().int().nullable(),
  /** Null: with the billing period. */
  usage_reset_period: resetPeriodSchema.nullable(),
  static_value: z.string().nullable(),
  start_date: instantSchema.nullable(),
  end_date: instantSchema.nullable(),
});
export type Granted = z.output<typeof grantedData>;

/** An entitlement that a subscription has; one of its own is a record, with its times. */
export interface HeldEntitlement extends Granted {
  readonly stamps?: RecordStamps;
}

/** The entitlements that a subscription is created with. */
export const heldBy = (
  id: string,
  granted: readonly Granted[],
  stamps: RecordStamps,
): HeldEntitlement[] => granted.map((each) => (each.entity_id === id ? { ...each, stamps } : each));

type Changed =
  | {
      readonly type: 'EntitlementChanged';
      readonly data: {
        readonly entitlement_id: string;
        readonly changes: Changes<EntitlementValues>;
      };
    }
  | { readonly type: 'EntitlementRemoved'; readonly data: { readonly entitlement_id: string } };

/** Entitlements after one of them was changed or removed. */
export const entitlementsAfter = (
  entitlements: readonly HeldEntitlement[],
  event: Changed & { readonly stamp: Stamp },
): HeldEntitlement[] =>
  entitlements.flatMap((each) => {
    if (each.entitlement_id !== event.data.entitlement_id) return each;
    if (event.type === 'EntitlementRemoved') return [];
    const changed = withChanges<HeldEntitlement>(each, event.data.changes);
    return {
      ...changed,
      ...(each.stamps && { stamps: { ...each.stamps, ...updatedStamps(event.stamp) } }),
    };
  });
