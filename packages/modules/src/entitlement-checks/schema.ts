import {
  decimalPlaces,
  instantSchema,
  positiveDecimalSchema,
  requiredTextSchema,
  withConditions,
} from '@counterfoil/kernel';
import { z } from 'zod';

const text = requiredTextSchema(255);

/** The reasons of an answer, in the order in which they are looked at. */
export const checkReasons = [
  'not_granted',
  'disabled',
  'granted',
  'unlimited',
  'within_limit',
  'soft_limit_exceeded',
  'limit_reached',
  'wallet_not_active',
  'enough_credits',
  'post_paid',
  'insufficient_credits',
] as const;
export type CheckReason = (typeof checkReasons)[number];

const questionShape = {
  customer_id: text.optional(),
  external_customer_id: text.optional(),
  feature_id: text.optional(),
  feature_lookup_key: text.optional(),
  quantity: positiveDecimalSchema(decimalPlaces.quantity)
    .optional()
    .meta({ description: 'Wanted use of a metered feature; 1 when absent' }),
  wallet_id: text.optional(),
  credits: positiveDecimalSchema(decimalPlaces.credits)
    .optional()
    .meta({ description: 'Credits that the wallet is to have; 1 when absent' }),
} as const;

const questionConditions = [
  {
    someOf: ['customer_id', 'external_customer_id'],
    says: 'customer_id or external_customer_id is needed',
  },
  {
    oneOf: ['feature_id', 'feature_lookup_key', 'wallet_id'],
    says: 'either feature_id, feature_lookup_key or wallet_id is needed',
  },
  { beside: 'credits', needs: 'wallet_id', says: 'wallet_id is needed with credits' },
  { beside: 'wallet_id', lacks: 'quantity', says: 'only a feature has a quantity' },
] as const;

/** A question of POST /entitlements/check/bulk. */
export const entitlementQuestionSchema = withConditions(z.object(questionShape), [
  ...questionConditions,
]).meta({ id: 'EntitlementQuestion' });
export type EntitlementQuestion = z.output<typeof entitlementQuestionSchema>;

/** Body of POST /entitlements/check. */
export const checkEntitlementSchema = withConditions(
  z.object({
    ...questionShape,
    record: z.boolean().default(false).meta({ description: 'Record the use, if it is allowed' }),
    event_id: text.optional().meta({
      description: 'Id of the usage event. A repetition with it gets the first answer',
    }),
  }),
  [
    ...questionConditions,
    { when: { record: true }, lacks: 'wallet_id', says: 'only the use of a feature is recorded' },
    { unless: { record: true }, lacks: 'event_id', says: 'event_id needs record' },
  ],
).meta({ id: 'CheckEntitlement' });
export type CheckEntitlement = z.output<typeof checkEntitlementSchema>;

/** Questions that one request asks at most. */
const bulkMaximum = 100;

/** Body of POST /entitlements/check/bulk. */
export const entitlementQuestionsSchema = z
  .object({ items: z.array(entitlementQuestionSchema).min(1).max(bulkMaximum) })
  .meta({ id: 'EntitlementQuestions' });

const figure = z.string().nullable();

/** Answer of POST /entitlements/check. */
export const entitlementCheckSchema = z
  .object({
    allowed: z.boolean(),
    reason: z.enum(checkReasons),
    limit: figure.meta({ description: 'Null where there is none' }),
    used: figure.meta({ description: 'Of the period; with what was recorded just now' }),
    remaining: figure.meta({ description: 'Never below 0; null where there is no limit' }),
    resets_at: instantSchema.nullable().meta({ description: 'Null where it never starts over' }),
    position: z
      .string()
      .nullable()
      .meta({ description: 'Place in the log up to which it is counted; null where nothing is' }),
    event_id: z.string().optional().meta({ description: 'Of the usage that was recorded' }),
  })
  .meta({ id: 'EntitlementCheck' });
export type EntitlementCheck = z.output<typeof entitlementCheckSchema>;

/** Answer of POST /entitlements/check/bulk. */
export const entitlementChecksSchema = z
  .object({ items: z.array(entitlementCheckSchema) })
  .meta({ id: 'EntitlementChecks' });
