import {
  clearable,
  decimalPlaces,
  metadataSchema,
  positiveDecimalSchema,
  recordStampsShape,
  recordStatusSchema,
  requiredTextSchema,
  textSchema,
  withConditions,
} from '@counterfoil/kernel';
import { z } from 'zod';
import {
  alertSettingsInput,
  alertSettingsOutput,
  changedAlertSettingsInput,
} from '../alert-settings.ts';
import { groupSchema } from '../groups/index.ts';
import { createMeterSchema, filtersSchema, meterSchema } from '../meters/index.ts';

/** The type of a feature: a quantity that is counted, on or off, or a fixed text. */
export const featureTypeSchema = z.enum(['metered', 'boolean', 'static']);
export type FeatureType = z.output<typeof featureTypeSchema>;

const nameSchema = requiredTextSchema(255);
const optionalText = (maximum: number) => clearable(textSchema(maximum)).optional();
const optionalReference = (example: string) =>
  clearable(z.string().max(64)).optional().meta({ example });

/**
 * Another unit to show a quantity in: the quantity is multiplied by the rate. Never used to
 * compute.
 */
const reportingUnitSchema = z.object({
  conversion_rate: positiveDecimalSchema(decimalPlaces.rate),
  unit_singular: requiredTextSchema(255),
  unit_plural: requiredTextSchema(255),
});

const describedShape = {
  description: optionalText(1024),
  group_id: optionalReference('group_01KA0000000000000000000000'),
  unit_singular: optionalText(255),
  unit_plural: optionalText(255),
  reporting_unit: reportingUnitSchema.nullable().optional(),
} as const;

/** Body of POST /features. */
export const createFeatureSchema = withConditions(
  z.object({
    name: nameSchema,
    type: featureTypeSchema,
    lookup_key: optionalText(255),
    ...describedShape,
    alert_settings: alertSettingsInput.nullish(),
    metadata: metadataSchema.default({}),
    meter: createMeterSchema.nullish().meta({ description: 'Created with the feature' }),
    meter_id: optionalReference('meter_01KA0000000000000000000000'),
  }),
  [
    {
      when: { type: 'metered' },
      oneOf: ['meter_id', 'meter'],
      says: 'a metered feature needs either meter_id or meter',
    },
    ...(['meter', 'meter_id'] as const).map((field) => ({
      unless: { type: 'metered' },
      lacks: field,
      says: 'only a metered feature has a meter',
    })),
  ],
).meta({ id: 'CreateFeature' });
export type CreateFeature = z.output<typeof createFeatureSchema>;

/** Body of PUT /features/{id}: absent fields stay as they are. */
export const updateFeatureSchema = z
  .object({
    name: nameSchema.optional(),
    ...describedShape,
    alert_settings: changedAlertSettingsInput
      .nullable()
      .optional()
      .meta({ description: 'Levels that are given replace theirs; null removes one, or all' }),
    metadata: metadataSchema.nullish().transform((given) => given ?? undefined),
    filters: filtersSchema
      .optional()
      .meta({ description: 'Replaces the filters of the meter, for all that use it' }),
  })
  .meta({ id: 'UpdateFeature' });
export type UpdateFeature = z.output<typeof updateFeatureSchema>;

/** Body of POST /features/{id}/clone. */
export const cloneFeatureSchema = z
  .object({
    name: nameSchema.optional().meta({ description: 'Default: that of the source and " (copy)"' }),
    lookup_key: optionalText(255),
    description: optionalText(1024),
    metadata: metadataSchema.optional().meta({ description: 'Added to that of the source' }),
  })
  .meta({ id: 'CloneFeature' });
export type CloneFeature = z.output<typeof cloneFeatureSchema>;

/** The feature on the wire (specification §2.5; hidden field: D1). */
export const featureSchema = z
  .object({
    ...recordStampsShape,
    status: recordStatusSchema,
    name: z.string(),
    type: featureTypeSchema,
    lookup_key: z.string().optional(),
    description: z.string().optional(),
    meter_id: z.string().optional(),
    meter: meterSchema.optional(),
    group_id: z.string().optional(),
    group: groupSchema.optional(),
    unit_singular: z.string().optional(),
    unit_plural: z.string().optional(),
    reporting_unit: z
      .object({
        conversion_rate: z.number(),
        unit_singular: z.string(),
        unit_plural: z.string(),
      })
      .optional(),
    alert_settings: alertSettingsOutput.optional(),
    metadata: metadataSchema,
  })
  .meta({ id: 'Feature' });
export type Feature = z.output<typeof featureSchema>;
