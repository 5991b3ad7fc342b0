import { listParameter, unused } from '@counterfoil/engine/define';
import {
  clearable,
  decimalPlaces,
  instantSchema,
  metadataSchema,
  positiveDecimalSchema,
  recordStampsShape,
  recordStatusSchema,
  requiredTextSchema,
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

const ownerFields = {
  PLAN: 'plan_id',
  ADDON: 'addon_id',
  SUBSCRIPTION: 'subscription_id',
} as const;

/**
 * Yields what is wrong with the fields of a grant taken together, each with the field it concerns.
 */
function* faultsOf(grant: z.output<typeof createObject>): Generator<[string, string]> {
  const { scope, cadence, expiration_type } = grant;
  if (!grant[ownerFields[scope]]) yield [ownerFields[scope], `is required for scope ${scope}`];
  if (cadence === 'RECURRING' && !grant.period) {
    yield ['period', 'is required for a RECURRING grant'];
  }
  if (cadence === 'ONETIME' && grant.period) yield ['period', 'only a RECURRING grant has one'];
  if (cadence === 'ONETIME' && (grant.period_count ?? 1) !== 1) {
    yield ['period_count', 'only a RECURRING grant has one'];
  }
  for (const field of ['expiration_duration', 'expiration_duration_unit'] as const) {
    if (expiration_type === 'DURATION' && !grant[field]) {
      yield [field, 'is required when expiration_type is DURATION'];
    }
  }
  // Clients of the public contract send a unit always; a duration that would not count is refused.
  if (expiration_type !== 'DURATION' && grant.expiration_duration) {
    yield ['expiration_duration', 'is only for expiration_type DURATION'];
  }
  if (scope === 'SUBSCRIPTION') return;
  for (const field of ['start_date', 'end_date'] as const) {
    if (grant[field]) yield [field, 'only a grant of a subscription has one'];
  }
}

/** Body of POST /creditgrants (specification §11.4). */
export const createCreditGrantSchema = createObject
  .superRefine((grant, context) => {
    for (const [field, message] of faultsOf(grant)) {
      context.addIssue({ code: 'custom', path: [field], message });
    }
  })
  .meta({ id: 'CreateCreditGrant' });
export type CreateCreditGrant = z.output<typeof createCreditGrantSchema>;

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
    end_date: instantSchema.optional(),
    metadata: metadataSchema,
  })
  .meta({ id: 'CreditGrant' });
export type CreditGrant = z.output<typeof creditGrantSchema>;
