import {
  clearable,
  decimalPlaces,
  metadataSchema,
  nonNegativeDecimalSchema,
  nonNegativePercentageSchema,
  recordStampsShape,
  recordStatusSchema,
  requiredTextSchema,
  textSchema,
  withConditions,
} from '@counterfoil/kernel';
import { z } from 'zod';

const taxRateTypeSchema = z.enum(['percentage', 'fixed']);
export const taxRateStatusSchema = z.enum(['ACTIVE', 'INACTIVE']);
export const taxRateScopeSchema = z.enum(['INTERNAL', 'EXTERNAL', 'ONETIME']);

const nameSchema = requiredTextSchema(255);
export const taxRateCodeSchema = requiredTextSchema(64);
const descriptionSchema = clearable(textSchema(1024)).optional();

const givenSchema = z.object({
  name: nameSchema,
  code: taxRateCodeSchema,
  description: descriptionSchema,
  tax_rate_type: taxRateTypeSchema
    .optional()
    .meta({ description: 'Default: what the value that is given says' }),
  percentage_value: nonNegativePercentageSchema().nullish(),
  fixed_value: nonNegativeDecimalSchema(decimalPlaces.credits).nullish(),
  scope: taxRateScopeSchema.default('INTERNAL'),
  metadata: metadataSchema.default({}),
});
type Given = z.output<typeof givenSchema>;

/** Returns the type of a rate; where only a value is given, that of the value. */
export const typeOf = ({ tax_rate_type, percentage_value, fixed_value }: Given) =>
  tax_rate_type ?? (fixed_value && !percentage_value ? 'fixed' : 'percentage');

/** Body of POST /taxes/rates (specification §11.7). */
export const createTaxRateSchema = withConditions(givenSchema, [
  { when: { tax_rate_type: 'fixed' }, needs: 'fixed_value', says: 'a fixed tax needs it' },
  { when: { tax_rate_type: 'fixed' }, lacks: 'percentage_value', says: 'a fixed tax has none' },
  {
    ...{ when: { tax_rate_type: 'percentage' }, needs: 'percentage_value' },
    says: 'a percentage tax needs it',
  },
  {
    when: { tax_rate_type: 'percentage' },
    lacks: 'fixed_value',
    says: 'a percentage tax has none',
  },
  {
    unless: { tax_rate_type: ['fixed', 'percentage'] },
    ...{ oneOf: ['percentage_value', 'fixed_value'], says: 'give one of the two values' },
  },
]).meta({ id: 'CreateTaxRate' });
export type CreateTaxRate = z.output<typeof createTaxRateSchema>;

/** Body of PUT /taxes/rates/{id}: how much it is never changes. */
export const updateTaxRateSchema = z
  .object({
    name: nameSchema.optional(),
    code: taxRateCodeSchema.optional(),
    description: descriptionSchema,
    tax_rate_status: taxRateStatusSchema.optional(),
    metadata: metadataSchema.nullish().transform((given) => given ?? undefined),
  })
  .meta({ id: 'UpdateTaxRate' });

/** The tax rate on the wire (specification §2.20; D1). */
export const taxRateSchema = z
  .object({
    ...recordStampsShape,
    status: recordStatusSchema,
    name: z.string(),
    code: z.string(),
    description: z.string().optional(),
    tax_rate_type: taxRateTypeSchema,
    percentage_value: z.string().optional(),
    fixed_value: z.string().optional(),
    tax_rate_status: taxRateStatusSchema,
    scope: taxRateScopeSchema,
    metadata: metadataSchema,
  })
  .meta({ id: 'TaxRate' });
