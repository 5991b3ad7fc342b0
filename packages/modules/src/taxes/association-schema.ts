import { unused } from '@counterfoil/engine/define';
import {
  currencySchema,
  instantSchema,
  metadataSchema,
  recordStampsShape,
  recordStatusSchema,
  textSchema,
} from '@counterfoil/kernel';
import { z } from 'zod';
import { taxRateCodeSchema, taxRateSchema } from './rate-schema.ts';

/** The owner of the invoices that a rate applies to. */
export const taxEntitySchema = z.enum(['tenant', 'customer', 'subscription', 'invoice']);
export type TaxEntity = z.output<typeof taxEntitySchema>;

const prioritySchema = z.number().int().min(0).max(1_000_000);
const entityIdSchema = z.string().min(1).max(64);
const externalIdSchema = textSchema(255);

/** Body of POST /taxes/associations. */
export const createAssociationSchema = z
  .object({
    tax_rate_code: taxRateCodeSchema,
    entity_type: taxEntitySchema
      .optional()
      .meta({ description: 'Required, except with external_customer_id' }),
    entity_id: entityIdSchema
      .optional()
      .meta({ description: 'For a tenant it may be left out: the own one' }),
    external_customer_id: externalIdSchema.min(1).optional(),
    priority: prioritySchema.default(0),
    auto_apply: z.boolean().default(true),
    currency: currencySchema.nullish().meta({ description: 'Absent: whatever the currency' }),
    start_date: instantSchema.nullish(),
    end_date: instantSchema.nullish(),
    metadata: metadataSchema.default({}),
    tax_behavior: unused,
  })
  .superRefine(({ start_date, end_date }, context) => {
    if (start_date && end_date && end_date <= start_date) {
      const message = 'must be after start_date';
      context.addIssue({ code: 'custom', path: ['end_date'], message });
    }
  })
  .meta({ id: 'CreateTaxAssociation' });
export type CreateAssociation = z.output<typeof createAssociationSchema>;

/** Body of PUT /taxes/associations/{id}. */
export const updateAssociationSchema = z
  .object({
    priority: prioritySchema.optional(),
    auto_apply: z.boolean().optional(),
    tax_behavior: unused,
    metadata: metadataSchema.nullish().transform((given) => given ?? undefined),
  })
  .meta({ id: 'UpdateTaxAssociation' });

/** The association on the wire (client contract). */
export const associationSchema = z
  .object({
    ...recordStampsShape,
    status: recordStatusSchema,
    tax_rate_id: z.string(),
    tax_rate: taxRateSchema.optional(),
    entity_type: taxEntitySchema,
    entity_id: z.string(),
    priority: z.number().int(),
    auto_apply: z.boolean(),
    currency: z.string().optional(),
    start_date: instantSchema.optional(),
    end_date: instantSchema.optional(),
    metadata: metadataSchema,
  })
  .meta({ id: 'TaxAssociation' });
export type Association = z.output<typeof associationSchema>;
