import { instantSchema, requiredTextSchema } from '@counterfoil/kernel';
import { z } from 'zod';
import { meterSchema } from '../../meters/index.ts';
import { usageEventSchema, usageLimits } from '../schema.ts';

/** Path of GET /events/{id}: whatever the sender has chosen. */
export const tracedEventSchema = z.object({ id: z.string().min(1).max(255) });

/** Query of GET /events/lookup, as clients of the public contract send it. */
export const lookedUpEventSchema = tracedEventSchema.extend({
  external_customer_id: requiredTextSchema(usageLimits.text).optional(),
  start_time: instantSchema.optional(),
  end_time: instantSchema.optional(),
});
export type LookedUpEvent = z.output<typeof lookedUpEventSchema>;

const lookSchema = z
  .object({
    meter_id: meterSchema.shape.id,
    meter_name: z.string(),
    counted: z.boolean(),
    value: z.string().nullable().meta({ description: 'What the meter takes; null: the event' }),
    reason: z.string().optional().meta({ description: 'Why it is not counted' }),
    feature_ids: z.array(z.string()).meta({ description: 'Features that the meter measures' }),
  })
  .meta({ id: 'UsageEventLook' });

/** A meter that counts an event, for one of its features. */
const processedSchema = z
  .object({
    customer_id: z.string(),
    meter_id: meterSchema.shape.id,
    feature_id: z.string().optional(),
    qty_total: z.string().meta({ description: 'The quantity that it takes' }),
  })
  .meta({ id: 'ProcessedUsage' });

/** A usage event, and what was made of it. */
export const usageEventTraceSchema = z
  .object({
    event: usageEventSchema,
    position: z.string().meta({ description: 'Its place in the log' }),
    status: z.enum(['processed', 'processing', 'failed', 'voided']).meta({
      description:
        'processed: a meter counts it; processing: it waits for a customer or a meter; failed: none of its meters can',
    }),
    reasons: z.array(z.string()).meta({ description: 'Why it is not counted' }),
    processed_events: z.array(processedSchema).meta({ description: 'All that counts it' }),
    meters: z.array(lookSchema).meta({ description: 'Meters of its name, at most 100' }),
  })
  .meta({ id: 'UsageEventTrace' });
export type UsageEventTrace = z.output<typeof usageEventTraceSchema>;
