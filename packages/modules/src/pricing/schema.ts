import { decimalPlaces, nonNegativeDecimalSchema, withConditions } from '@counterfoil/kernel';
import { z } from 'zod';

const quantitySchema = nonNegativeDecimalSchema(decimalPlaces.quantity);

/** Buckets that one quote explains at most. */
export const maximumQuotedBuckets = 100;

/** Body of POST /prices/{id}/quote: one quantity, or the values of the buckets of a bucketed meter. */
export const quoteBodySchema = withConditions(
  z.object({
    quantity: quantitySchema.optional(),
    quantities: z.array(quantitySchema).min(1).max(maximumQuotedBuckets).optional().meta({
      description: 'Values of buckets: each is priced alone, the sum is rounded',
    }),
  }),
  [{ oneOf: ['quantity', 'quantities'], says: 'give either quantity or quantities' }],
).meta({ id: 'QuoteRequest' });
export type QuoteBody = z.output<typeof quoteBodySchema>;

const commonChargeShape = {
  quantity: z.string(),
  amount: z.string().meta({ description: 'Exact, in the unit of the price' }),
  explanation: z.array(z.string()),
} as const;

const flatFeeChargeSchema = z.object({
  billing_model: z.literal('FLAT_FEE'),
  unit_amount: z.string(),
  ...commonChargeShape,
});

const packageChargeSchema = z.object({
  billing_model: z.literal('PACKAGE'),
  package_amount: z.string(),
  transform_quantity: z.object({ divide_by: z.string(), round: z.enum(['up', 'down']) }),
  packages: z.string(),
  rounded_by: z.string().meta({ description: 'What the packages hold less the quantity' }),
  ...commonChargeShape,
});

const tierChargeSchema = z.object({
  tier: z.number().int().meta({ description: 'Place of the tier, from 0' }),
  above: z.string().meta({ description: 'The tier begins above this quantity' }),
  up_to: z.string().optional().meta({ description: 'Inclusive; absent when the tier is open' }),
  quantity: z.string(),
  unit_amount: z.string(),
  flat_amount: z.string(),
  amount: z.string(),
});

const tieredChargeSchema = z.object({
  billing_model: z.literal('TIERED'),
  tier_mode: z.enum(['VOLUME', 'SLAB']),
  tiers: z.array(tierChargeSchema),
  ...commonChargeShape,
});

const quoteChargeSchema = z.discriminatedUnion('billing_model', [
  flatFeeChargeSchema,
  packageChargeSchema,
  tieredChargeSchema,
]);
export type QuoteCharge = z.output<typeof quoteChargeSchema>;

/** Answer of POST /prices/{id}/quote: what a quantity costs and how that comes about. */
export const quoteSchema = z
  .object({
    currency: z.string(),
    quantity: z.string().meta({ description: 'Of several quantities their sum' }),
    billed_quantity: z.string().meta({ description: 'At least the minimum quantity of the price' }),
    amount: z.string().meta({ description: 'Rounded once, half away from zero' }),
    display_amount: z.string(),
    unrounded_amount: z.string(),
    rounding: z.string().meta({ description: 'amount − unrounded_amount' }),
    effective_unit_amount: z
      .string()
      .optional()
      .meta({ description: 'unrounded_amount ÷ billed_quantity at 15 digits; absent for zero' }),
    price_unit: z
      .object({ code: z.string(), amount: z.string(), conversion_rate: z.string() })
      .optional()
      .meta({ description: 'The cost in the unit of the price and what one was worth' }),
    charges: z.array(quoteChargeSchema).meta({ description: 'One, or one for each of quantities' }),
    explanation: z.array(z.string()).meta({ description: 'How the amount comes about, in words' }),
  })
  .meta({ id: 'Quote' });
export type Quote = z.output<typeof quoteSchema>;
