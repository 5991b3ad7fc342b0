import { pageShape, unused } from '@counterfoil/engine/define';
import {
  clearable,
  emailSchema,
  metadataSchema,
  recordStampsShape,
  recordStatusSchema,
  referenceSchema,
  requiredTextSchema,
  textSchema,
  timeZoneSchema,
  withConditions,
} from '@counterfoil/kernel';
import { z } from 'zod';
import { addressInput, addressOutput } from '../address.ts';
import { taxExemptionInput, taxExemptionSchema, taxRateOverridesSchema } from '../taxes/index.ts';

const nameSchema = requiredTextSchema(255);
const externalIdSchema = requiredTextSchema(255);

const mappedShape = {
  provider_type: requiredTextSchema(50).nullish(),
  provider_entity_id: requiredTextSchema(255).nullish(),
  provider: requiredTextSchema(50).nullish().meta({ description: 'Older name of provider_type' }),
  id: requiredTextSchema(255).nullish().meta({ description: 'Older name of provider_entity_id' }),
  entity_type: z.literal('customer').optional(),
  entity_id: z.string().max(255).nullish().meta({ description: 'Default: the id of the customer' }),
  metadata: metadataSchema.nullish(),
} as const;

/**
 * The id of a customer at one outside provider. It replaces the one given for that provider before.
 */
const integrationMappingSchema = withConditions(z.object(mappedShape), [
  { oneOf: ['provider_type', 'provider'], says: 'give the name of the provider, once' },
  { oneOf: ['provider_entity_id', 'id'], says: 'give the id at the provider, once' },
]).transform(({ provider_type, provider, provider_entity_id, id, ...rest }) => ({
  ...rest,
  provider_type: provider_type ?? provider ?? '',
  provider_entity_id: provider_entity_id ?? id ?? '',
}));
export type IntegrationMapping = z.output<typeof integrationMappingSchema>;

const integrationMappingsSchema = z
  .array(integrationMappingSchema)
  .max(50)
  .superRefine((mappings, context) => {
    const seen = new Set<string>();
    mappings.forEach(({ provider_type }, index) => {
      if (seen.has(provider_type)) {
        const message = 'must not appear twice in one request';
        context.addIssue({ code: 'custom', path: [index, 'provider_type'], message });
      }
      seen.add(provider_type);
    });
  });

/** Null means the same as absent: nothing is said about it. */
const sayingNothing = <Value>(value: Value | null | undefined): Value | undefined =>
  value ?? undefined;

const optionalInput = {
  email: clearable(emailSchema).optional(),
  ...addressInput,
  timezone: timeZoneSchema.nullish().transform(sayingNothing),
  tax_exemption: taxExemptionInput.nullish().meta({
    description: 'Why invoices take no tax of the customer; null takes it away',
  }),
  metadata: metadataSchema.nullish().transform(sayingNothing),
  integration_entity_mapping: integrationMappingsSchema.nullish().transform(sayingNothing),
  contact: unused,
  contact_persons: unused,
  billing_currency: unused,
  tax_treatment: unused,
  parent_customer_id: clearable(textSchema(64))
    .optional()
    .meta({ description: 'The customer whose child it is; one that is no child itself' }),
  parent_customer_external_id: clearable(textSchema(255))
    .optional()
    .meta({ description: 'The same by its external_id' }),
} as const;

export const createCustomerSchema = z
  .object({
    name: nameSchema,
    external_id: externalIdSchema,
    ...optionalInput,
    onboarding_workflow_name: unused,
    skip_onboarding_workflow: unused,
    tax_rate_overrides: taxRateOverridesSchema
      .nullish()
      .meta({ description: 'Rates that apply to the customer from the beginning' }),
  })
  .meta({ id: 'CreateCustomer' });
export type CreateCustomer = z.output<typeof createCustomerSchema>;

export const updateCustomerSchema = z
  .object({
    name: nameSchema.optional(),
    external_id: externalIdSchema.optional(),
    ...optionalInput,
  })
  .meta({ id: 'UpdateCustomer' });
export type UpdateCustomer = z.output<typeof updateCustomerSchema>;

/** The customer of a `PUT /customers`: named by one of the two ids, or by both when they agree. */
export const updateCustomerQuerySchema = z.object({
  id: referenceSchema('cust').optional(),
  external_customer_id: externalIdSchema.optional(),
});

/** Pairs that the metadata of customers have. */
export const customerMetadataSchema = metadataSchema
  .optional()
  .meta({ description: 'Customers that have all these pairs' });

const providerSchema = requiredTextSchema(50);
const linkable = z.literal('customer', 'must be "customer": nothing else can be linked');

const linkedShape = {
  entity_type: linkable,
  entity_id: referenceSchema('cust'),
} as const;

export const linkSchema = z
  .object({
    ...linkedShape,
    provider_type: providerSchema,
    provider_entity_id: requiredTextSchema(255),
    metadata: metadataSchema.nullish(),
  })
  .meta({ id: 'LinkIntegration' });

export const unlinkSchema = z
  .object({ ...linkedShape, provider_type: providerSchema })
  .meta({ id: 'UnlinkIntegration' });

export const linkedEntitySchema = z.object({ ...linkedShape, ...pageShape });

export const customerIntegrationSchema = z
  .object({
    ...recordStampsShape,
    status: recordStatusSchema,
    entity_type: z.literal('customer'),
    entity_id: z.string(),
    provider_type: z.string(),
    provider_entity_id: z.string(),
    metadata: metadataSchema,
  })
  .meta({ id: 'CustomerIntegration' });
export type CustomerIntegration = z.output<typeof customerIntegrationSchema>;

/** Answer of POST /integrations/link. */
export const linkedIntegrationSchema = z
  .object({ mapping: customerIntegrationSchema })
  .meta({ id: 'LinkedIntegration' });

export const customerSchema = z
  .object({
    ...recordStampsShape,
    status: recordStatusSchema,
    name: z.string(),
    external_id: z.string(),
    email: z.string().optional(),
    ...addressOutput,
    timezone: z.string().meta({ description: 'IANA name of the zone of the days it is billed by' }),
    parent_customer_id: z.string().optional().meta({ description: 'Customer whose child it is' }),
    tax_exemption: taxExemptionSchema
      .optional()
      .meta({ description: 'Why invoices take no tax of the customer' }),
    metadata: metadataSchema,
    integrations: z.array(customerIntegrationSchema),
  })
  .meta({ id: 'Customer' });
export type Customer = z.output<typeof customerSchema>;
