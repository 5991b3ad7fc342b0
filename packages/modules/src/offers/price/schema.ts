import {
  anyOf,
  anyOfTexts,
  flagParameter,
  listParameter,
  searchShape,
  unused,
} from '@counterfoil/engine/define';
import {
  type Condition,
  clearable,
  currencySchema,
  decimalPlaces,
  instantSchema,
  metadataSchema,
  nonNegativeDecimalSchema,
  recordStampsShape,
  recordStatusSchema,
  referenceSchema,
  requiredTextSchema,
  textSchema,
  withConditions,
} from '@counterfoil/kernel';
import { z } from 'zod';
import { groupSchema } from '../../groups/index.ts';
import { meterSchema } from '../../meters/index.ts';
import { maximumTiers } from '../../pricing/index.ts';
import { priceUnitSchema } from '../../pricing-units/index.ts';
import { taxBehaviorSchema } from '../../taxes/index.ts';
import { offerBriefSchema } from '../owner.ts';

/** The values of the fields of a price (specification §2.3; D1). */
export const priceTypeSchema = z.enum(['USAGE', 'FIXED']);
export const billingModelSchema = z.enum(['FLAT_FEE', 'PACKAGE', 'TIERED']);
export const tierModeSchema = z.enum(['VOLUME', 'SLAB']);
export const billingPeriodSchema = z
  .enum(['MONTHLY', 'ANNUAL', 'WEEKLY', 'DAILY', 'QUARTERLY', 'HALF_YEARLY', 'ONETIME'])
  .meta({ id: 'BillingPeriod' });
export const billingCadenceSchema = z.enum(['RECURRING', 'ONETIME']);
export const invoiceCadenceSchema = z.enum(['ARREAR', 'ADVANCE']);
export const priceUnitTypeSchema = z.enum(['FIAT', 'CUSTOM']);

/** Prices that one request creates at most. */
export const maximumBulkPrices = 100;

const amountSchema = nonNegativeDecimalSchema(decimalPlaces.price);

/** Null and absent both mean that there is none. */
const absent = <Value>(value: Value | null | undefined): Value | null => value ?? null;

const tierSchema = z
  .object({
    up_to: z
      .number()
      .int()
      .min(1)
      .nullish()
      .transform(absent)
      .meta({ description: 'Inclusive; null: open, for the last tier' }),
    unit_amount: amountSchema,
    flat_amount: amountSchema.nullish().transform(absent),
  })
  .meta({ id: 'ChangePriceTier' });

const tiersSchema = z.array(tierSchema).max(maximumTiers).nullish();

const transformQuantitySchema = z
  .object({
    divide_by: z.number().int().min(1).nullish(),
    round: z.enum(['up', 'down']).nullish().meta({ description: 'Default: up' }),
  })
  .meta({ id: 'ChangeTransformQuantity' })
  .nullish();

const priceUnitConfigSchema = z.object({
  price_unit: requiredTextSchema(32).meta({ description: 'Code of a pricing unit' }),
  amount: amountSchema.nullish(),
  price_unit_tiers: tiersSchema,
});

const labelInput = {
  lookup_key: clearable(textSchema(255)).optional(),
  display_name: clearable(textSchema(255)).optional(),
  description: clearable(textSchema(1000)).optional(),
  group_id: clearable(z.string().max(64)).optional(),
  metadata: metadataSchema.nullish().transform((pairs) => pairs ?? undefined),
} as const;

const trialDaysSchema = z.number().int().min(0).max(3650).nullish();

const ownedTypeSchema = z.enum(['PLAN', 'ADDON', 'COSTSHEET', 'SUBSCRIPTION']);

/** Clients of the public contract send an empty map. */
const noFilterValues = z
  .record(z.string().max(255), z.unknown())
  .refine(
    (values) => Object.keys(values).length === 0,
    'are not supported: make a meter that has these filters',
  )
  .meta({ maxProperties: 0 });

const createPriceObject = z.object({
  entity_type: ownedTypeSchema,
  entity_id: referenceSchema('plan'),
  type: priceTypeSchema,
  billing_model: billingModelSchema,
  billing_period: billingPeriodSchema,
  billing_period_count: z.number().int().min(1).max(1000).nullish(),
  billing_cadence: billingCadenceSchema.nullish().meta({
    description: 'Default: RECURRING. ONETIME only beside a billing_period of ONETIME',
  }),
  invoice_cadence: invoiceCadenceSchema,
  tax_behavior: taxBehaviorSchema.nullish().meta({
    description:
      'Whether tax is in the amounts (`inclusive`) or comes on top; default: what `/settings/tax_config` says, which is exclusive unless it is set',
  }),
  currency: currencySchema,
  price_unit_type: priceUnitTypeSchema.default('FIAT'),
  price_unit_config: priceUnitConfigSchema.nullish(),
  amount: amountSchema.nullish(),
  tier_mode: tierModeSchema.nullish(),
  tiers: tiersSchema,
  transform_quantity: transformQuantitySchema,
  min_quantity: nonNegativeDecimalSchema(decimalPlaces.quantity).nullish(),
  meter_id: clearable(z.string().max(64)).optional(),
  trial_period_days: trialDaysSchema,
  start_date: instantSchema.nullish().meta({ description: 'Default: now' }),
  end_date: instantSchema.nullish(),
  bucket_size: unused,
  trial_period: trialDaysSchema.meta({ description: 'Older name of trial_period_days' }),
  filter_values: noFilterValues.nullish(),
  ...labelInput,
});

const ofSubscription = createPriceObject.omit({
  entity_type: true,
  entity_id: true,
  currency: true,
  group_id: true,
  bucket_size: true,
});

type Member = keyof typeof ofSubscription.shape;

/** The rules between the fields of a price (specification §11.1). */
const priceConditions: readonly Condition<Member>[] = [
  { when: { type: 'USAGE' }, needs: 'meter_id', says: 'is required for a USAGE price' },
  { unless: { type: 'USAGE' }, lacks: 'meter_id', says: 'only a USAGE price has a meter' },
  {
    ...{ when: { type: 'USAGE' }, limits: 'invoice_cadence', to: ['ARREAR'] },
    says: 'must be ARREAR for a USAGE price',
  },
  {
    ...{ when: { type: 'USAGE' }, lacks: 'min_quantity' },
    says: 'only a FIXED price has a minimum quantity',
  },
  {
    ...{ when: { billing_period: 'ONETIME' }, limits: 'invoice_cadence', to: ['ADVANCE'] },
    says: 'must be ADVANCE when billing_period is ONETIME',
  },
  {
    ...{ unless: { billing_period: 'ONETIME' }, limits: 'billing_cadence', to: ['RECURRING'] },
    says: 'is ONETIME only when billing_period is',
  },
  ...(['trial_period_days', 'trial_period'] as const).flatMap((limits) =>
    [{ type: 'USAGE' }, { billing_period: 'ONETIME' }].map((when) => ({
      ...{ when, limits, to: [0] },
      says: 'only a recurring FIXED price has a trial',
    })),
  ),
  {
    ...{ unless: { billing_model: 'PACKAGE' }, lacks: 'transform_quantity' },
    says: 'only a PACKAGE price transforms quantities',
  },
  { unless: { billing_model: 'TIERED' }, lacks: 'tiers', says: 'only a TIERED price has tiers' },
  {
    ...{ when: { price_unit_type: 'CUSTOM' }, needs: 'price_unit_config' },
    says: 'is required for a CUSTOM price',
  },
  {
    ...{ when: { price_unit_type: 'FIAT' }, lacks: 'price_unit_config' },
    says: 'only a CUSTOM price has one',
  },
];

/** Body of POST /prices (specification §11.1). The figures are checked with the pricing unit. */
export const createPriceSchema = withConditions(createPriceObject, priceConditions)
  .superRefine(({ start_date, end_date, trial_period_days, trial_period }, context) => {
    const refuse = (field: string, message: string) =>
      context.addIssue({ code: 'custom', path: [field], message });
    if (start_date && end_date && end_date <= start_date) {
      refuse('end_date', 'must be after start_date');
    }
    const days = trial_period_days ?? trial_period ?? null;
    if (days !== (trial_period ?? days)) {
      refuse('trial_period', 'must equal trial_period_days, whose older name it is');
    }
  })
  .meta({ id: 'CreatePrice' });
export type CreatePrice = z.output<typeof createPriceSchema>;

/** A price that is made for one subscription: its owner and its currency are those of the subscription. */
export const subscriptionPriceSchema = withConditions(ofSubscription, priceConditions).meta({
  id: 'SubscriptionPrice',
});
export type SubscriptionPrice = z.output<typeof subscriptionPriceSchema>;

export const createBulkPricesSchema = z
  .object({ items: z.array(createPriceSchema).min(1).max(maximumBulkPrices) })
  .meta({ id: 'CreateBulkPrices' });

/** Figures that stand in for those of a price; what is left out stays as it is. */
export const overrideFiguresShape = {
  billing_model: billingModelSchema.optional(),
  amount: amountSchema.optional(),
  tier_mode: tierModeSchema.optional(),
  tiers: z.array(tierSchema).max(maximumTiers).optional(),
  transform_quantity: transformQuantitySchema,
  price_unit_amount: amountSchema.optional(),
  price_unit_tiers: z.array(tierSchema).max(maximumTiers).optional(),
} as const;

/** Body of PUT /prices/{id}: labels are edited in place, any figure makes a new price. */
export const updatePriceSchema = z
  .object({
    ...labelInput,
    ...overrideFiguresShape,
    bucket_size: unused,
    effective_from: instantSchema
      .optional()
      .meta({ description: 'When the new figures begin; default: now' }),
  })
  .meta({ id: 'UpdatePrice' });
export type UpdatePrice = z.output<typeof updatePriceSchema>;

export const endPriceSchema = z
  .object({ end_date: instantSchema.nullish().meta({ description: 'Default: now' }) })
  .meta({ id: 'EndPrice' });

const idsSchema = anyOfTexts(64);
const idListSchema = listParameter(z.string()).optional();

/** The filters of lists of prices, beside ids. The contract has owners that find nothing here. */
const filterShape = {
  entity_type: z.enum([...ownedTypeSchema.options, 'PRICE']).optional(),
  parent_price_id: z.string().max(64).optional(),
  subscription_id: z.string().max(64).optional(),
  start_date_lt: instantSchema.optional(),
} as const;

const allowExpiredSchema = flagParameter
  .optional()
  .meta({ description: 'Whether prices that have ended are shown as well' });

export const priceListSchema = z.object({
  ...filterShape,
  price_ids: idListSchema,
  plan_ids: idListSchema,
  entity_ids: idListSchema,
  meter_ids: idListSchema,
  billing_periods: listParameter(billingPeriodSchema).optional(),
  allow_expired_prices: allowExpiredSchema,
});

export const priceSearchSchema = z.object({
  ...searchShape,
  ...filterShape,
  price_ids: idsSchema,
  plan_ids: idsSchema,
  entity_ids: idsSchema,
  meter_ids: idsSchema,
  billing_periods: anyOf(billingPeriodSchema),
  allow_expired_prices: allowExpiredSchema,
});

const tierOutput = z
  .object({
    up_to: z.number().int().optional(),
    unit_amount: z.string(),
    flat_amount: z.string().optional(),
  })
  .meta({ id: 'PriceTier' });

const transformQuantityOutput = z
  .object({ divide_by: z.number().int(), round: z.enum(['up', 'down']) })
  .meta({ id: 'TransformQuantity' });

/** The price on the wire (specification §2.3; hidden fields: D1). */
export const priceSchema = z
  .object({
    ...recordStampsShape,
    status: recordStatusSchema,
    entity_type: z.enum(['PLAN', 'ADDON', 'COSTSHEET', 'SUBSCRIPTION']),
    entity_id: z.string(),
    type: priceTypeSchema,
    billing_model: billingModelSchema,
    billing_cadence: billingCadenceSchema,
    billing_period: billingPeriodSchema,
    billing_period_count: z.number().int(),
    invoice_cadence: invoiceCadenceSchema,
    tax_behavior: taxBehaviorSchema.meta({
      description: 'Whether tax is in the amounts (`inclusive`), or comes on top (`exclusive`)',
    }),
    currency: z.string(),
    amount: z.string().optional().meta({ description: 'Absent when the price has tiers' }),
    display_amount: z.string(),
    tier_mode: tierModeSchema.optional(),
    tiers: z.array(tierOutput).optional(),
    transform_quantity: transformQuantityOutput.optional(),
    min_quantity: z.string().optional(),
    trial_period_days: z.number().int().optional(),
    price_unit_type: priceUnitTypeSchema,
    price_unit: z.string().optional(),
    price_unit_id: z.string().optional(),
    price_unit_amount: z.string().optional(),
    display_price_unit_amount: z.string().optional(),
    price_unit_tiers: z.array(tierOutput).optional(),
    conversion_rate: z.string().optional(),
    pricing_unit: priceUnitSchema.optional(),
    meter_id: z.string().optional(),
    meter: meterSchema.optional(),
    group_id: z.string().optional(),
    group: groupSchema.optional(),
    parent_price_id: z.string().optional(),
    start_date: instantSchema,
    end_date: instantSchema.optional(),
    lookup_key: z.string().optional(),
    display_name: z.string().optional(),
    description: z.string().optional(),
    metadata: metadataSchema,
    plan: offerBriefSchema.optional(),
    addon: offerBriefSchema.optional(),
  })
  .meta({ id: 'Price' });
export type Price = z.output<typeof priceSchema>;
