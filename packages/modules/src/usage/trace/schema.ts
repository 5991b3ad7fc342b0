import { z } from 'zod';
import { meterSchema } from '../../meters/index.ts';
import { usageEventSchema } from '../schema.ts';

/** Path of GET /events/{id}, and query of GET /events/lookup: whatever the sender has chosen. */
export const tracedEventSchema = z.object({ id: z.string().min(1).max(255) });

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

/** A usage event, and what was made of it. */
export const usageEventTraceSchema = z
  .object({
    event: usageEventSchema,
    position: z.string().meta({ description: 'Its place in the log' }),
    status: z
      .enum(['counted', 'not_counted', 'voided'])
      .meta({ description: 'Whether any meter counts it for its customer' }),
    reasons: z.array(z.string()).meta({ description: 'Why it is not counted' }),
    meters: z.array(lookSchema).meta({ description: 'Meters of its name, at most 100' }),
  })
  .meta({ id: 'UsageEventTrace' });
export type UsageEventTrace = z.output<typeof usageEventTraceSchema>;
