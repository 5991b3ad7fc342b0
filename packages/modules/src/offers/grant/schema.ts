import { listParameter, unused } from '@counterfoil/engine/define';
import {
  type Condition,
  clearable,
  decimalPlaces,
  instantSchema,
  metadataSchema,
  positiveDecimalSchema,
  recordStampsShape,
  recordStatusSchema,
  requiredTextSchema,
  withConditions,
} from '@counterfoil/kernel';
import { z } from 'zod';

/** The values of the fields of a credit grant (specification §2.9 and §11.4). */
export const grantScopeSchema = z.enum(['PLAN', 'SUBSCRIPTION', 'ADDON']);
export const grantCadenceSchema = z.enum(['ONETIME', 'RECURRING']);
export const grantPeriodSchema = z.enum([
  'DAILY',
  'WEEKLY',
  'MONTHLY',
  'QUARTERLY',
  'HALF_YEARLY',
  'ANNUAL',
]);
export const expirationTypeSchema = z.enum(['NEVER', 'DURATION', 'BILLING_CYCLE']);
export const durationUnitSchema = z.enum(['DAY', 'WEEK', 'MONTH', 'YEAR']);

const rateSchema = positiveDecimalSchema(decimalPlaces.rate).nullish();
const idSchema = clearable(z.string().max(64)).optional();

const createObject = z.object({
  name: requiredTextSchema(255),
  scope: grantScopeSchema,
  plan_id: idSchema,
  addon_id: idSchema,
  subscription_id: idSchema,
  credits: positiveDecimalSchema(decimalPlaces.credits),
  cadence: grantCadenceSchema,
  period: grantPeriodSchema.nullish(),
  period_count: z.number().int().min(1).max(1000).nullish(),
  expiration_type: expirationTypeSchema.default('NEVER'),
  expiration_duration: z.number().int().min(1).max(36_500).nullish(),
  expiration_duration_unit: durationUnitSchema.nullish(),
  priority: z.number().int().min(-1_000_000_000).max(1_000_000_000).nullish(),
  conversion_rate: rateSchema,
  topup_conversion_rate: rateSchema,
  start_date: instantSchema.nullish(),
  end_date: instantSchema.nullish(),
  metadata: metadataSchema.nullish(),
  proration_behavior: unused,
});

type Member = keyof typeof createObject.shape;

/** The rules between a grant and its owner (specification §11.4). */
const ownerConditions: readonly Condition<Member>[] = [
  { when: { scope: 'PLAN' }, needs: 'plan_id', says: 'is required for scope PLAN' },
  { when: { scope: 'ADDON' }, needs: 'addon_id', says: 'is required for scope ADDON' },
  {
    ...{ when: { scope: 'SUBSCRIPTION' }, needs: 'subscription_id' },
    says: 'is required for scope SUBSCRIPTION',
  },
  ...(['start_date', 'end_date'] as const).map((lacks) => ({
    ...{ unless: { scope: 'SUBSCRIPTION' }, lacks },
    says: 'only a grant of a subscription has one',
  })),
];

const own = { plan_id: true, addon_id: true, subscription_id: true, scope: true } as const;

/** The rules between the other fields of a grant (specification §11.4). */
const termConditions: readonly Condition<Exclude<Member, keyof typeof own>>[] = [
  { when: { cadence: 'RECURRING' }, needs: 'period', says: 'is required for a RECURRING grant' },
  { when: { cadence: 'ONETIME' }, lacks: 'period', says: 'only a RECURRING grant has one' },
  {
    ...{ when: { cadence: 'ONETIME' }, limits: 'period_count', to: [1] },
    says: 'only a RECURRING grant has one',
  },
  ...(['expiration_duration', 'expiration_duration_unit'] as const).map((needs) => ({
    ...{ when: { expiration_type: 'DURATION' }, needs },
    says: 'is required when expiration_type is DURATION',
  })),
  // Clients of the public contract send a unit always; a duration that would not count is refused.
  {
    ...{ unless: { expiration_type: 'DURATION' }, lacks: 'expiration_duration' },
    says: 'is only for expiration_type DURATION',
  },
];

/** Body of POST /creditgrants (specification §11.4). */
export const createCreditGrantSchema = withConditions(createObject, [
  ...ownerConditions,
  ...termConditions,
]).meta({
  id: 'CreateCreditGrant',
});
export type CreateCreditGrant = z.output<typeof createCreditGrantSchema>;

/** A grant that a subscription is created with: its owner is the subscription. */
export const subscriptionGrantSchema = withConditions(
  createObject.omit(own).extend({ scope: z.literal('SUBSCRIPTION').nullish() }),
  termConditions,
).meta({ id: 'SubscriptionCreditGrant' });
export type SubscriptionGrantBody = z.output<typeof subscriptionGrantSchema>;

export const updateCreditGrantSchema = z
  .object({
    name: requiredTextSchema(255).optional(),
    metadata: metadataSchema.nullish().transform((pairs) => pairs ?? undefined),
    end_date: instantSchema
      .nullish()
      .meta({ description: 'Only for a grant of a subscription: end others with DELETE' }),
  })
  .meta({ id: 'UpdateCreditGrant' });
export type UpdateCreditGrant = z.output<typeof updateCreditGrantSchema>;

export const endCreditGrantSchema = z
  .object({ effective_date: instantSchema.nullish().meta({ description: 'Default: now' }) })
  .meta({ id: 'EndCreditGrant' });

export const creditGrantListSchema = z.object({
  plan_ids: listParameter(z.string()).optional(),
  subscription_ids: listParameter(z.string()).optional(),
  scope: grantScopeSchema.optional(),
});

/** The credit grant on the wire (specification §2.9). */
export const creditGrantSchema = z
  .object({
    ...recordStampsShape,
    status: recordStatusSchema,
    name: z.string(),
    scope: grantScopeSchema,
    plan_id: z.string().optional(),
    addon_id: z.string().optional(),
    subscription_id: z.string().optional(),
    credits: z.string(),
    cadence: grantCadenceSchema,
    period: grantPeriodSchema.optional(),
    period_count: z.number().int().optional(),
    expiration_type: expirationTypeSchema,
    expiration_duration: z.number().int().optional(),
    expiration_duration_unit: durationUnitSchema.optional(),
    priority: z.number().int().optional(),
    conversion_rate: z.string().optional(),
    topup_conversion_rate: z.string().optional(),
    credit_grant_anchor: instantSchema
      .optional()
      .meta({ description: 'Its periods are counted from here' }),
    start_date: instantSchema.optional(),
    end_date: instantSchema.optional(),
    metadata: metadataSchema,
  })
  .meta({ id: 'CreditGrant' });
export type CreditGrant = z.output<typeof creditGrantSchema>;
