import {
  type EntitlementId,
  type EventOf,
  existing,
  instantSchema,
  referenceSchema,
  type Stamped,
} from '@counterfoil/kernel';
import { z } from 'zod';
import { featureTypeSchema } from '../../features/index.ts';
import { ownerData } from '../owner.ts';
import { changedRecord, closedRecord, createdRecord, type Kept } from '../records.ts';
import { resetPeriodSchema } from './schema.ts';

/** The fields that may change after the entitlement has been made. */
const changeableData = {
  is_enabled: z.boolean(),
  is_soft_limit: z.boolean(),
  static_value: z.string().nullable(),
  /** Of a metered feature: null is unlimited, 0 is none at all (D17). */
  usage_limit: z.number().int().nullable(),
  /** Null: as the billing period. */
  usage_reset_period: resetPeriodSchema.nullable(),
} as const;
const changeable = z.object(changeableData);
export type Grants = z.output<typeof changeable>;

const entitlementData = z.object({
  id: referenceSchema('ent'),
  ...ownerData,
  feature_id: referenceSchema('feat'),
  feature_type: featureTypeSchema,
  parent_entitlement_id: referenceSchema('ent').nullable(),
  ...changeableData,
  start_date: instantSchema.nullable(),
  end_date: instantSchema.nullable(),
  display_order: z.number().int(),
});
export type EntitlementData = z.output<typeof entitlementData>;

export const entitlementEvents = {
  EntitlementCreated: entitlementData,
  EntitlementUpdated: z.object({ id: referenceSchema('ent'), changes: changeable.partial() }),
  EntitlementDeleted: z.object({ id: referenceSchema('ent') }),
} as const;
export type EntitlementEvent = EventOf<typeof entitlementEvents>;

export interface EntitlementRecord extends EntitlementData, Kept {
  readonly id: EntitlementId;
}

/** An entitlement after one of its events. */
export function entitlementAfter(
  before: EntitlementRecord | null,
  event: Stamped<EntitlementEvent>,
): EntitlementRecord {
  const { stamp } = event;
  switch (event.type) {
    case 'EntitlementCreated':
      return createdRecord(event.data, stamp);
    case 'EntitlementUpdated':
      return changedRecord(existing(before, 'entitlement'), event.data.changes, stamp);
    case 'EntitlementDeleted':
      return closedRecord(existing(before, 'entitlement'), 'deleted', stamp);
    default:
      return event satisfies never;
  }
}
