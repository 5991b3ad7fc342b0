import { instantSchema, requiredTextSchema } from '@counterfoil/kernel';
import { z } from 'zod';
import {
  droppedMonthsSchema,
  eventsQuerySchema,
  usageEventSchema,
  usageEventsSchema,
  usageLimits,
} from '../schema.ts';
import { rejectionReasons } from './faults.ts';

/** Query of GET /events/rejected. */
export const rejectedQuerySchema = eventsQuerySchema.extend({
  reason: z
    .enum(rejectionReasons)
    .optional()
    .meta({ description: 'Only what is so for this reason' }),
  source: requiredTextSchema(usageLimits.text).optional(),
  start_time: instantSchema.optional(),
  end_time: instantSchema.optional(),
});
export type RejectedQuery = z.output<typeof rejectedQuerySchema>;

/** A usage event that is not counted, or not by every meter. */
const rejectedEventSchema = z
  .object({
    event: usageEventSchema,
    rejections: z
      .array(
        z.object({
          reason: z.enum(rejectionReasons).meta({ description: 'Why' }),
          message: z.string(),
          meter_id: z.string().optional().meta({ description: 'The meter that cannot count it' }),
        }),
      )
      .meta({ description: 'All that keeps it from being counted' }),
  })
  .meta({ id: 'RejectedUsageEvent' });

/** A page of them. */
export const rejectedEventsSchema = z
  .object({
    events: z.array(rejectedEventSchema),
    looked_at: z.number().int().meta({ description: 'Events that were looked at for this page' }),
    has_more: usageEventsSchema.shape.has_more,
    iter_last_key: z.string().optional(),
    dropped_months: droppedMonthsSchema,
  })
  .meta({ id: 'RejectedUsageEvents' });
export type RejectedEvents = z.output<typeof rejectedEventsSchema>;

/** Query of GET /events/rejected/counts. */
export const rejectedCountsQuerySchema = z.object({
  event_name: rejectedQuerySchema.shape.event_name,
  start_time: instantSchema.optional().meta({ description: 'Inclusive; a day before end_time' }),
  end_time: instantSchema.optional().meta({ description: 'Exclusive; the present when absent' }),
});
export type RejectedCountsQuery = z.output<typeof rejectedCountsQuerySchema>;

/** Answer of GET /events/rejected/counts. */
export const rejectedCountsSchema = z
  .object({
    start_time: instantSchema,
    end_time: instantSchema,
    items: z.array(
      z.object({
        event_name: z.string(),
        reason: z.enum(rejectionReasons).meta({ description: 'Why' }),
        meter_id: z.string().optional().meta({ description: 'The meter that cannot count them' }),
        event_count: z.number().int(),
      }),
    ),
    position: z.string(),
  })
  .meta({ id: 'RejectedUsageCounts' });
export type RejectedCounts = z.output<typeof rejectedCountsSchema>;
