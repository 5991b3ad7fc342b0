import {
  currencySchema,
  decimalPlaces,
  metadataSchema,
  positiveDecimalSchema,
  recordStampsShape,
  recordStatusSchema,
  requiredTextSchema,
} from '@counterfoil/kernel';
import { z } from 'zod';

const codeMaximum = 32;
const symbolMaximum = 10;

/** Any case in and out; two codes that differ in case alone are the same. */
const codeSchema = requiredTextSchema(codeMaximum).regex(
  /^[A-Za-z0-9_.-]*$/,
  'may have letters, digits and _ . - only',
);

const nameSchema = requiredTextSchema(255);

/** Body of POST /prices/units. */
export const createPriceUnitSchema = z
  .object({
    code: codeSchema,
    name: nameSchema,
    symbol: requiredTextSchema(symbolMaximum),
    base_currency: currencySchema,
    conversion_rate: positiveDecimalSchema(decimalPlaces.rate),
    metadata: metadataSchema.default({}),
  })
  .meta({ id: 'CreatePriceUnit' });

const forEver = { description: 'It never changes' } as const;

/**
 * Body of PUT /prices/units/{id}: what prices and wallets are computed with is for ever, and may be sent as it
 * is (D20).
 */
export const updatePriceUnitSchema = z
  .object({
    name: nameSchema.optional(),
    metadata: metadataSchema.nullish().transform((given) => given ?? undefined),
    code: codeSchema.optional().meta(forEver),
    symbol: requiredTextSchema(symbolMaximum).optional().meta(forEver),
    base_currency: currencySchema.optional().meta(forEver),
    conversion_rate: positiveDecimalSchema(decimalPlaces.rate).optional().meta(forEver),
  })
  .meta({ id: 'UpdatePriceUnit' });

/** The pricing unit on the wire (specification §2.11). */
export const priceUnitSchema = z
  .object({
    ...recordStampsShape,
    status: recordStatusSchema,
    code: z.string(),
    name: z.string(),
    symbol: z.string(),
    base_currency: z.string(),
    conversion_rate: z
      .string()
      .meta({ description: 'One unit is worth this much of the base currency' }),
    metadata: metadataSchema,
  })
  .meta({ id: 'PricingUnit' });
