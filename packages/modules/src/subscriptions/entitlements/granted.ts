import { instantSchema, referenceSchema } from '@counterfoil/kernel';
import { z } from 'zod';
import { resetPeriodSchema } from '../../entitlements/index.ts';
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
