import { instantSchema } from '@counterfoil/kernel';
import { z } from 'zod';
import { windowSizeSchema } from '../../meters/index.ts';

/** Query of GET /events/monitoring. */
export const monitoringQuerySchema = z.object({
  start_time: instantSchema.optional().meta({ description: 'Inclusive; a day before end_time' }),
  end_time: instantSchema.optional().meta({ description: 'Exclusive; the present when absent' }),
  window_size: windowSizeSchema.optional().meta({ description: 'Windows of UTC' }),
});
export type MonitoringQuery = z.output<typeof monitoringQuerySchema>;

const count = z.number().int();

/** Answer of GET /events/monitoring. */
export const monitoringSchema = z
  .object({
    total_count: count.meta({ description: 'Events of the span that can be read' }),
    points: z
      .array(z.object({ timestamp: instantSchema, event_count: count }))
      .optional()
      .meta({ description: 'Windows with events' }),
    consumption_lag: count.meta({
      description:
        'Entries of the log, of all tenants, that cannot be read yet; at most 16 are counted',
    }),
    post_processing_lag: count.meta({ description: 'Always 0: figures are kept with the events' }),
    position: z.string().meta({ description: 'Everything in the log up to here can be read' }),
    log_position: z.string().meta({ description: 'Position of the last event of the log' }),
  })
  .meta({ id: 'UsageMonitoring' });
export type UsageMonitoring = z.output<typeof monitoringSchema>;
