import { recordStampsShape, recordStatusSchema, requiredTextSchema } from '@counterfoil/kernel';
import { z } from 'zod';
import { aggregationSchema, aggregationTypeSchema, bucketSizeSchema } from './aggregation.ts';

/** The time at which the count starts over: each billing period, or never. */
export const resetUsageSchema = z.enum(['BILLING_PERIOD', 'NEVER']);

const filterSchema = z.object({
  key: requiredTextSchema(255),
  values: z.array(requiredTextSchema(255)).min(1).max(100),
});

/** Events that count: those that have, for every key, one of its values. */
export const filtersSchema = z
  .array(filterSchema)
  .max(50)
  .superRefine((filters, context) => {
    const seen = new Set<string>();
    filters.forEach(({ key }, index) => {
      if (seen.has(key)) {
        const message = 'must not appear twice: list all its values in one place';
        context.addIssue({ code: 'custom', path: [index, 'key'], message });
      }
      seen.add(key);
    });
  });
export type Filters = z.output<typeof filtersSchema>;

const createShape = {
  name: requiredTextSchema(255),
  event_name: requiredTextSchema(255),
  aggregation: aggregationSchema,
  filters: filtersSchema.default([]),
  reset_usage: resetUsageSchema.default('BILLING_PERIOD'),
} as const;

/** Body of POST /meters, and the inline meter of a feature. */
export const createMeterSchema = z.object(createShape).meta({ id: 'CreateMeter' });

/** Body of PUT /meters/{id}: everything else of a meter is for ever. */
export const updateMeterSchema = z
  .object({ filters: filtersSchema.optional() })
  .meta({ id: 'UpdateMeter' });

/** The meter on the wire (specification §2.4; hidden fields: D1). */
export const meterSchema = z
  .object({
    ...recordStampsShape,
    status: recordStatusSchema,
    name: z.string(),
    event_name: z.string(),
    aggregation: z.object({
      type: aggregationTypeSchema,
      field: z.string().optional(),
      expression: z.string().optional(),
      multiplier: z.string().optional(),
      bucket_size: bucketSizeSchema.optional(),
      group_by: z.string().optional(),
    }),
    filters: z.array(z.object({ key: z.string(), values: z.array(z.string()) })),
    reset_usage: resetUsageSchema,
  })
  .meta({ id: 'Meter' });
export type Meter = z.output<typeof meterSchema>;
