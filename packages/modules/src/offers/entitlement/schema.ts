import {
  anyOfTexts,
  flagParameter,
  listParameter,
  searchShape,
  unused,
} from '@counterfoil/engine/define';
import {
  type Condition,
  clearable,
  instantSchema,
  recordStampsShape,
  recordStatusSchema,
  referenceSchema,
  textSchema,
  withConditions,
} from '@counterfoil/kernel';
import { z } from 'zod';
import { featureSchema, featureTypeSchema } from '../../features/index.ts';
import { offerBriefSchema } from '../owner.ts';

/** The period after which the usage of an entitlement starts over (specification §2.7). */
export const resetPeriodSchema = z.enum([
  'MONTHLY',
  'ANNUAL',
  'WEEKLY',
  'DAILY',
  'QUARTERLY',
  'HALF_YEARLY',
  'NEVER',
]);

/** Entitlements that one request creates at most (D17). */
export const maximumBulkEntitlements = 100;

const ownedTypeSchema = z.enum(['PLAN', 'ADDON', 'SUBSCRIPTION']);
const idSchema = clearable(z.string().max(64)).optional();

const grantsInput = {
  is_enabled: z.boolean().nullish().meta({ description: 'Default: true' }),
  is_soft_limit: z.boolean().nullish(),
  static_value: clearable(textSchema(1024)).optional(),
  usage_limit: z
    .number()
    .int()
    .min(0)
    .nullish()
    .meta({ description: 'Of a metered feature: null is unlimited, 0 is none' }),
  usage_reset_period: resetPeriodSchema
    .nullish()
    .meta({ description: 'Of a metered feature; absent: with the billing period' }),
} as const;

/** Members of the public contract for grants of usage, which this service does not have. */
const grantConfiguration = {
  aggregation_mode: unused,
  config_value: unused,
  grant_allocation_behavior: unused,
  grant_duration_unit: unused,
  grant_duration_value: unused,
  grant_measure: unused,
  grant_quota: unused,
  grant_unlimited: unused,
} as const;

const itemObject = z.object({
  feature_id: referenceSchema('feat'),
  feature_type: featureTypeSchema.optional(),
  entity_type: ownedTypeSchema.nullish(),
  entity_id: idSchema,
  plan_id: idSchema.meta({ description: 'Legacy: entity_type PLAN with this entity_id' }),
  parent_entitlement_id: idSchema,
  ...grantsInput,
  ...grantConfiguration,
  start_date: instantSchema.nullish(),
  end_date: instantSchema.nullish(),
});

/** The rules between the fields that name the owner. */
const ownerConditions: readonly Condition<keyof typeof itemObject.shape>[] = [
  { someOf: ['entity_id', 'plan_id'], says: 'is required with entity_type, or plan_id' },
  {
    ...{ beside: 'entity_id', someOf: ['entity_type', 'plan_id'] },
    says: 'is required with entity_id',
  },
  {
    ...{ beside: 'plan_id', limits: 'entity_type', to: ['PLAN'] },
    says: 'must be PLAN beside plan_id',
  },
];

type Item = z.output<typeof itemObject>;
function refineItem(item: Item, context: z.RefinementCtx<Item>): void {
  const { plan_id, entity_id, start_date, end_date } = item;
  const refuse = (field: string, message: string) =>
    context.addIssue({ code: 'custom', path: [field], message });
  if (plan_id && entity_id && plan_id !== entity_id) {
    refuse('plan_id', 'names another owner than entity_id');
  }
  if (start_date && end_date && end_date <= start_date) {
    refuse('end_date', 'must be after start_date');
  }
}

/** Body of POST /entitlements (specification §4.3). */
export const createEntitlementSchema = withConditions(
  itemObject.extend({ feature_type: featureTypeSchema }),
  ownerConditions,
)
  .superRefine(refineItem)
  .meta({ id: 'CreateEntitlement', narrows: 'EntitlementItem' });

/** One of many: the type of the feature may be left out (D17). */
const entitlementItemSchema = withConditions(itemObject, ownerConditions)
  .superRefine(refineItem)
  .meta({ id: 'EntitlementItem' });
export type CreateEntitlement = z.output<typeof entitlementItemSchema>;

export const createBulkEntitlementsSchema = z
  .object({ items: z.array(entitlementItemSchema).min(1).max(maximumBulkEntitlements) })
  .meta({ id: 'CreateBulkEntitlements' });

export const updateEntitlementSchema = z
  .object({ ...grantsInput, ...grantConfiguration, clear_grant_config: unused })
  .meta({ id: 'UpdateEntitlement' });
export type UpdateEntitlement = z.output<typeof updateEntitlementSchema>;

const idsSchema = anyOfTexts(64);
const idListSchema = listParameter(z.string()).optional();

const filterShape = {
  entity_type: ownedTypeSchema.optional(),
  feature_type: featureTypeSchema.optional(),
  is_enabled: flagParameter.optional(),
} as const;

export const entitlementListSchema = z.object({
  ...filterShape,
  entity_ids: idListSchema,
  plan_ids: idListSchema,
  feature_ids: idListSchema,
});

export const entitlementSearchSchema = z.object({
  ...searchShape,
  ...filterShape,
  entity_ids: idsSchema,
  plan_ids: idsSchema,
  feature_ids: idsSchema,
  has_grant_config: z
    .literal(false, 'must be false: no entitlement has a grant configuration')
    .optional()
    .meta({ description: 'No entitlement has one' }),
});

/** The entitlement on the wire (specification §2.7). */
export const entitlementSchema = z
  .object({
    ...recordStampsShape,
    status: recordStatusSchema,
    feature_id: z.string(),
    feature_type: featureTypeSchema,
    feature: featureSchema.optional(),
    entity_type: ownedTypeSchema,
    entity_id: z.string(),
    plan_id: z.string().optional().meta({ description: 'Of a plan: its id once more' }),
    parent_entitlement_id: z.string().optional(),
    is_enabled: z.boolean(),
    is_soft_limit: z.boolean(),
    static_value: z.string().optional(),
    usage_limit: z.number().int().optional().meta({ description: 'Absent: unlimited' }),
    usage_reset_period: resetPeriodSchema.optional(),
    start_date: instantSchema.optional(),
    end_date: instantSchema.optional(),
    display_order: z.number().int(),
    plan: offerBriefSchema.optional(),
    addon: offerBriefSchema.optional(),
  })
  .meta({ id: 'Entitlement' });
export type Entitlement = z.output<typeof entitlementSchema>;
