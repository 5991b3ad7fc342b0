import {
  type Condition,
  currencySchema,
  decimalPlaces,
  digitsFault,
  instantSchema,
  metadataSchema,
  positiveDecimalSchema,
  positivePercentageSchema,
  recordStampsShape,
  recordStatusSchema,
  requiredTextSchema,
  withConditions,
} from '@counterfoil/kernel';
import { z } from 'zod';

const couponTypeSchema = z.enum(['fixed', 'percentage']);
const couponCadenceSchema = z.enum(['once', 'repeated', 'forever']);

const nameSchema = requiredTextSchema(255);
const codeSchema = requiredTextSchema(64);
const redemptionsMaximum = 1_000_000;
const periodsMaximum = 1_000;
const rulesMaximum = 16_384;

/** Whatever a tenant wants to keep with a coupon; nothing here looks into it. */
const rulesSchema = z
  .record(z.string().min(1).max(64), z.unknown())
  .refine(
    (rules) => JSON.stringify(rules).length <= rulesMaximum,
    `must be at most ${rulesMaximum} characters of JSON`,
  );

const givenSchema = z.object({
  name: nameSchema,
  type: couponTypeSchema,
  cadence: couponCadenceSchema,
  coupon_code: codeSchema.nullish(),
  amount_off: positiveDecimalSchema(decimalPlaces.credits).nullish(),
  currency: currencySchema.nullish().meta({ description: 'That of amount_off' }),
  percentage_off: positivePercentageSchema().nullish(),
  duration_in_periods: z.number().int().min(1).max(periodsMaximum).nullish(),
  max_redemptions: z.number().int().min(1).max(redemptionsMaximum).nullish(),
  redeem_after: instantSchema.nullish(),
  redeem_before: instantSchema.nullish(),
  rules: rulesSchema.nullish(),
  metadata: metadataSchema.default({}),
});

type Member = keyof typeof givenSchema.shape;

/** Yields what is wrong with the figures and instants of a coupon taken together. */
function* faultsOf(given: z.output<typeof givenSchema>): Generator<[string, string]> {
  const { amount_off: amount, redeem_after: after, redeem_before: before } = given;
  // A currency that does not exist is a fault of its own.
  const { data: currency } = currencySchema.safeParse(given.currency);
  const fault = amount && currency ? digitsFault(amount, currency) : null;
  if (fault) yield ['amount_off', fault];
  if (after && before && before <= after) yield ['redeem_before', 'must be after redeem_after'];
}

/** A field that one type or cadence needs; beside another it is refused, not ignored. */
const belonging = (field: Member, when: Condition<Member>['when'] & object, owner: string) =>
  [
    { when, needs: field, says: `${owner} needs it` },
    { unless: when, lacks: field, says: `only ${owner} has it` },
  ] as const;

/** Body of POST /coupons (specification §11.6; D57). */
export const createCouponSchema = withConditions(givenSchema, [
  ...belonging('amount_off', { type: 'fixed' }, 'a fixed coupon'),
  ...belonging('currency', { type: 'fixed' }, 'a fixed coupon'),
  ...belonging('percentage_off', { type: 'percentage' }, 'a percentage coupon'),
  ...belonging('duration_in_periods', { cadence: 'repeated' }, 'a repeated coupon'),
])
  .superRefine((given, context) => {
    for (const [member, message] of faultsOf(given)) {
      context.addIssue({ code: 'custom', path: [member], message });
    }
  })
  .meta({ id: 'CreateCoupon' });
export type CreateCoupon = z.output<typeof createCouponSchema>;

/** Body of PUT /coupons/{id}: the worth of a discount never changes. */
export const updateCouponSchema = z
  .object({
    name: nameSchema.optional(),
    metadata: metadataSchema.nullish().transform((given) => given ?? undefined),
  })
  .meta({ id: 'UpdateCoupon' });

/** The coupon on the wire (specification §2.19; hidden fields: D1). */
export const couponSchema = z
  .object({
    ...recordStampsShape,
    status: recordStatusSchema,
    name: z.string(),
    type: couponTypeSchema,
    cadence: couponCadenceSchema,
    coupon_code: z.string().optional(),
    amount_off: z.string().optional(),
    currency: z.string().optional(),
    percentage_off: z.string().optional(),
    duration_in_periods: z.number().int().optional(),
    max_redemptions: z.number().int().optional(),
    total_redemptions: z.number().int(),
    redeem_after: instantSchema.optional(),
    redeem_before: instantSchema.optional(),
    rules: z.record(z.string(), z.unknown()).optional(),
    metadata: metadataSchema,
  })
  .meta({ id: 'Coupon' });
export type Coupon = z.output<typeof couponSchema>;
