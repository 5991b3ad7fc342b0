import { instantSchema, requiredTextSchema } from '@counterfoil/kernel';
import { z } from 'zod';
import { aggregationTypeSchema, windowSizeSchema } from '../../meters/index.ts';
import { analyticsLimits } from '../analytics/limits.ts';
import { analyticsExpandSchema } from '../analytics/schema.ts';
import { includeChildrenSchema, propertyFiltersSchema, usageLimits } from '../schema.ts';

const name = requiredTextSchema(usageLimits.text);

const askedShape = {
  external_customer_id: name,
  aggregation_type: aggregationTypeSchema,
  start_time: instantSchema,
  end_time: instantSchema,
  window_size: windowSizeSchema.optional(),
  billing_anchor: instantSchema.optional(),
} as const;

/** Body of POST /meter-usage/query. */
export const meterUsageQuestionSchema = z
  .object({ meter_id: name, ...askedShape })
  .meta({ id: 'MeterUsageQuery' });

/** Body of POST /meter-usage/analytics. */
export const meterUsagesQuestionSchema = z
  .object({ meter_ids: z.array(name).min(1).max(100), ...askedShape })
  .meta({ id: 'MeterUsagesQuery' });
export type MeterUsageQuestion = Omit<z.output<typeof meterUsagesQuestionSchema>, 'meter_ids'>;

const value = z.string().nullable().meta({ description: 'Exact' });
const count = z.number().int();

/** Answer of POST /meter-usage/query. */
export const meterUsageSchema = z
  .object({
    meter_id: z.string(),
    aggregation_type: aggregationTypeSchema,
    total_value: value,
    event_count: count,
    points: z.array(z.object({ timestamp: instantSchema, value, event_count: count })).optional(),
  })
  .meta({ id: 'MeterUsage' });
export type MeterUsage = z.output<typeof meterUsageSchema>;

/** Answer of POST /meter-usage/analytics. */
export const meterUsagesSchema = z
  .object({ items: z.array(meterUsageSchema) })
  .meta({ id: 'MeterUsages' });

/** Body of POST /meter-usage/detailed-analytics. */
export const detailedUsageQuestionSchema = z
  .object({
    external_customer_id: name,
    meter_ids: z.array(name).max(analyticsLimits.features).optional(),
    feature_ids: z.array(name).max(analyticsLimits.features).optional(),
    start_time: instantSchema.optional(),
    end_time: instantSchema.optional(),
    group_by: z
      .array(z.string().regex(/^(meter_id|source|properties\.[\s\S]{1,255})$/))
      .max(analyticsLimits.groupings)
      .optional(),
    property_filters: propertyFiltersSchema.optional(),
    sources: z.array(name).max(100).optional(),
    window_size: windowSizeSchema.optional(),
    billing_anchor: instantSchema.optional(),
    expand: analyticsExpandSchema,
    include_children: includeChildrenSchema,
  })
  .meta({ id: 'DetailedMeterUsageQuery' });
export type DetailedUsageQuestion = z.output<typeof detailedUsageQuestionSchema>;

const figuresShape = {
  total_usage: value.meta({ description: 'By the aggregation of the meter, exact' }),
  max_usage: value.meta({ description: 'Greatest value of an event; null: no numbers' }),
  latest_usage: value.meta({ description: 'Value of the latest event; null: no numbers' }),
  count_unique_usage: count.meta({ description: 'Different values of the field, as text' }),
  event_count: count,
} as const;

/** Money; absent where nothing prices it. */
const cost = z.string().optional();

/** Answer of POST /meter-usage/detailed-analytics. */
export const detailedUsageSchema = z
  .object({
    currency: z.string().optional(),
    total_cost: cost,
    items: z.array(
      z
        .object({
          meter_id: z.string(),
          source: z.string().optional(),
          sources: z.array(z.string()).optional(),
          properties: z.record(z.string(), z.string()).optional(),
          ...figuresShape,
          total_cost: cost,
          currency: z.string().optional(),
          points: z.array(z.object({ timestamp: instantSchema, ...figuresShape, cost })).optional(),
        })
        .meta({ id: 'DetailedMeterUsage' }),
    ),
    position: z.string(),
  })
  .meta({ id: 'DetailedMeterUsages' });
export type DetailedUsage = z.output<typeof detailedUsageSchema>;
