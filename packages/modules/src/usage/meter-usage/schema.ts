import { instantSchema, requiredTextSchema } from '@counterfoil/kernel';
import { z } from 'zod';
import { aggregationTypeSchema, windowSizeSchema } from '../../meters/index.ts';
import { usageLimits } from '../schema.ts';

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
