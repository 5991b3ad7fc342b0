import { recordProjection } from '@counterfoil/engine/define';
import { usageAlertSchema } from './schema.ts';
import { usageAlert } from './usage-alert.ts';
import { usageAlertView } from './view.ts';

/** The read table of usage alerts. */
export const usageAlertTable = recordProjection(usageAlert, {
  name: 'usage_alerts',
  version: 1,
  view: usageAlertView,
  columns: {
    customer_id: { type: 'text', of: ({ customer_id }) => customer_id, index: true },
    feature_id: { type: 'text', of: ({ feature_id }) => feature_id ?? null, index: true },
    meter_id: { type: 'text', of: ({ meter_id }) => meter_id, index: true },
    /** The end of the period, which is looked at then. */
    due_at: {
      type: 'timestamptz',
      of: ({ status, period_end }) => (status === 'published' ? (period_end ?? null) : null),
      index: true,
    },
  },
});

/** Usage alerts as their routes need them. */
export const usageAlertRecords = {
  name: 'usage_alert',
  called: 'usage alert',
  prefix: 'alert',
  schema: usageAlertSchema,
  aggregate: usageAlert,
  view: usageAlertView,
  table: usageAlertTable,
} as const;
