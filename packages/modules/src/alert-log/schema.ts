import { searchShape } from '@counterfoil/engine/define';
import { recordStampsShape, recordStatusSchema } from '@counterfoil/kernel';
import { z } from 'zod';

const entityTypeSchema = z.enum(['wallet', 'usage_alert', 'task']);
const alertTypeSchema = z.enum(['low_credit_balance', 'usage_threshold', 'task_failed']);
const alertStatusSchema = z.enum(['ok', 'info', 'warning', 'in_alarm']);

/** Body of POST /alerts/search. */
export const alertSearchSchema = z.object({
  ...searchShape,
  alert_status: alertStatusSchema.optional(),
  alert_type: alertTypeSchema.optional(),
  customer_id: z.string().max(64).optional(),
  entity_id: z.string().max(64).optional(),
  entity_type: entityTypeSchema.optional(),
});
export type AlertSearch = z.output<typeof alertSearchSchema>;

/** An entry of the log of alerts. */
export const alertEntrySchema = z
  .object({
    ...recordStampsShape,
    status: recordStatusSchema,
    entity_type: entityTypeSchema,
    entity_id: z.string(),
    alert_type: alertTypeSchema,
    alert_status: alertStatusSchema,
    alert_info: z
      .object({
        value_at_time: z
          .string()
          .optional()
          .meta({ description: 'Credits, or usage, at that moment' }),
        previous_status: alertStatusSchema.optional(),
        threshold: z.string().optional().meta({ description: 'Usage that was reached' }),
        message: z.string().optional(),
      })
      .meta({ id: 'AlertInfo' }),
    customer_id: z.string().optional(),
    feature_id: z.string().optional(),
  })
  .meta({ id: 'AlertLog' });
export type AlertEntry = z.output<typeof alertEntrySchema>;
