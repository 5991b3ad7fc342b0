import { searchShape } from '@counterfoil/engine/define';
import { recordStampsShape, recordStatusSchema } from '@counterfoil/kernel';
import { z } from 'zod';

const entityTypeSchema = z.enum(['wallet', 'feature', 'usage_alert', 'task']);
const alertTypeSchema = z.enum([
  'low_credit_balance',
  'auto_topup_stopped',
  'low_ongoing_balance',
  'feature_wallet_balance',
  'usage_threshold',
  'task_failed',
]);
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
        balance: z
          .string()
          .optional()
          .meta({ description: 'Of an ongoing balance: the same in the currency of the wallet' }),
        previous_status: alertStatusSchema.optional(),
        threshold: z.string().optional().meta({ description: 'Usage that was reached' }),
        daily_limit: z
          .number()
          .int()
          .optional()
          .meta({ description: 'Automatic top-ups of a day, after which there are no more' }),
        message: z.string().optional(),
      })
      .meta({ id: 'AlertInfo' }),
    customer_id: z.string().optional(),
    feature_id: z.string().optional(),
    wallet_id: z
      .string()
      .optional()
      .meta({ description: 'Of a wallet or a feature: the wallet whose balance it is about' }),
  })
  .meta({ id: 'AlertLog' });
export type AlertEntry = z.output<typeof alertEntrySchema>;
