import {
  type Condition,
  decimalPlaces,
  instantSchema,
  positiveDecimalSchema,
  requiredTextSchema,
  timeZoneSchema,
  withConditions,
} from '@counterfoil/kernel';
import { z } from 'zod';
import {
  type AggregationType,
  aggregationNeeds,
  aggregationTypeSchema,
  windowSizeSchema,
} from '../meters/index.ts';
import { includeChildrenSchema, propertyFiltersSchema, usageLimits } from './schema.ts';

const name = requiredTextSchema(usageLimits.text);

const filtersSchema = propertyFiltersSchema.meta({
  description: 'Events that have, for every property, one of its values',
});

const questionShape = {
  customer_id: name.optional(),
  external_customer_id: name.optional().meta({
    description:
      'Of the customer who has it now; while nobody has, of the events that wait for one',
  }),
  include_children: includeChildrenSchema,
  start_time: instantSchema.optional().meta({ description: 'Inclusive; 30 days before end_time' }),
  end_time: instantSchema.optional().meta({ description: 'Exclusive; the present when absent' }),
  filters: filtersSchema.optional(),
  timezone: timeZoneSchema.optional().meta({
    description: "The zone in which windows begin; the customer's when absent, else UTC",
  }),
  window_size: windowSizeSchema.optional(),
  billing_anchor: instantSchema
    .optional()
    .meta({ description: 'Windows of a month begin on its day' }),
  fill: z.boolean().default(false).meta({ description: 'Lists windows without usage too' }),
} as const;

const aggregationShape = {
  aggregation_type: aggregationTypeSchema,
  property_name: name.optional(),
  multiplier: positiveDecimalSchema(decimalPlaces.quantity).optional(),
  bucket_size: windowSizeSchema.optional(),
  group_by_property: name.optional(),
} as const;

/** The conditions of a question by one aggregation: those of a meter, whose fields have other names. */
function conditionsOf(type: AggregationType): Condition<keyof typeof aggregationShape>[] {
  const { measures, multiplier, buckets, groups } = aggregationNeeds[type];
  const when = { aggregation_type: type };
  const none = (lacks: keyof typeof aggregationShape) =>
    ({ when, lacks, says: `${type} takes none` }) as const;
  const some = (needs: keyof typeof aggregationShape) =>
    ({ when, needs, says: `${type} needs a ${needs}` }) as const;
  return [
    measures === 'nothing' ? none('property_name') : some('property_name'),
    multiplier ? some('multiplier') : none('multiplier'),
    ...(buckets ? [] : [none('bucket_size')]),
    ...(groups ? [] : [none('group_by_property')]),
  ];
}

/** Body of POST /events/usage. */
export const usageQuestionSchema = withConditions(
  z.object({ event_name: name, ...aggregationShape, ...questionShape }),
  [
    ...aggregationTypeSchema.options.flatMap(conditionsOf),
    { beside: 'group_by_property', needs: 'bucket_size', says: 'group_by_property needs it' },
  ],
).meta({ id: 'UsageQuestion' });
export type UsageQuestionBody = z.output<typeof usageQuestionSchema>;

/** Body of POST /events/usage/meter. */
export const meterQuestionSchema = z
  .object({ meter_id: name, ...questionShape })
  .meta({ id: 'MeterUsageQuestion' });
export type MeterQuestionBody = z.output<typeof meterQuestionSchema>;

/** The members of a figure of usage. */
export const usageValueShape = {
  value: z.number().nullable().meta({ description: 'The nearest double of total_value' }),
  total_value: z
    .string()
    .nullable()
    .meta({ description: 'Exact; null where there is nothing to tell' }),
} as const;

/** Answer about usage. */
export const usageAnswerSchema = z
  .object({
    type: aggregationTypeSchema,
    event_name: z.string(),
    ...usageValueShape,
    results: z
      .array(
        z.object({
          window_size: z.string().meta({ description: 'The start of the window' }),
          ...usageValueShape,
        }),
      )
      .optional(),
  })
  .meta({ id: 'Usage' });
export type UsageAnswerBody = z.output<typeof usageAnswerSchema>;
