import { type EventFrom, projection } from '@counterfoil/engine/define';
import { createdStamps } from '@counterfoil/kernel';
import { importTask } from '../tasks/index.ts';
import { usageAlert } from '../usage/index.ts';
import { wallet } from '../wallets/index.ts';
import type { AlertEntry } from './schema.ts';

const sources = [wallet, usageAlert, importTask] as const;
type SourceEvent = EventFrom<(typeof sources)[number]>;

/** The part of an entry that its event says; the customer is looked up when it is shown. */
export type AlertRow = Omit<AlertEntry, 'customer_id' | 'feature_id'>;

type Told = Pick<AlertRow, 'entity_type' | 'alert_type' | 'alert_status' | 'alert_info'>;

/** Tells of an event what an alert is; null for all others. */
function toldBy(event: SourceEvent): Told | null {
  switch (event.type) {
    case 'AlertStateChanged': {
      const { before, after, available } = event.data;
      return {
        entity_type: 'wallet',
        alert_type: 'low_credit_balance',
        alert_status: after,
        alert_info: { value_at_time: available, previous_status: before },
      };
    }
    case 'UsageThresholdCrossed':
      return {
        entity_type: 'usage_alert',
        alert_type: 'usage_threshold',
        alert_status: 'in_alarm',
        alert_info: { value_at_time: event.data.usage, threshold: event.data.level },
      };
    case 'ImportFailed':
      return {
        entity_type: 'task',
        alert_type: 'task_failed',
        alert_status: 'in_alarm',
        alert_info: { message: event.data.error_summary },
      };
    default:
      return null;
  }
}

const keys = (event: SourceEvent): readonly string[] => (toldBy(event) ? [event.event_id] : []);

/** One row for each alert that was raised or ended. */
export const alertTable = projection(sources, {
  name: 'alerts',
  version: 1,
  columns: {
    entity_type: { type: 'text', of: (shown) => shown.entity_type },
    entity_id: { type: 'text', of: (shown) => shown.entity_id, index: true },
    alert_type: { type: 'text', of: (shown) => shown.alert_type },
    alert_status: { type: 'text', of: (shown) => shown.alert_status },
  },
  keys,
  adds: keys,
  fold: (row: AlertRow | null, event, key): AlertRow | null => {
    const told = toldBy(event);
    if (!told) return row;
    const stamps = createdStamps(event.stamp);
    return { id: key, status: 'published', ...stamps, entity_id: event.aggregate_id, ...told };
  },
  view: (row: AlertRow) => row,
  rests: () => true,
});
