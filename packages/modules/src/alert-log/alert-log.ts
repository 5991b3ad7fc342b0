import { type EventFrom, projection } from '@counterfoil/engine/define';
import { createdStamps } from '@counterfoil/kernel';
import { exportRun } from '../scheduled-tasks/index.ts';
import { importTask } from '../tasks/index.ts';
import { usageAlert } from '../usage/index.ts';
import { wallet } from '../wallets/index.ts';
import type { AlertEntry } from './schema.ts';

const sources = [wallet, usageAlert, importTask, exportRun] as const;
type SourceEvent = EventFrom<(typeof sources)[number]>;

/** The part of an entry that its event says; the customer, and the feature of a usage alert, are looked up when it is shown. */
export type AlertRow = Omit<AlertEntry, 'customer_id'>;

type Told = Pick<AlertRow, 'entity_type' | 'alert_type' | 'alert_status' | 'alert_info'> &
  Partial<Pick<AlertRow, 'entity_id' | 'feature_id' | 'wallet_id'>>;

/** The levels of a balance and what it was, as an entry shows them. */
const levelled = (
  alert_type: AlertRow['alert_type'],
  { before, after, available, balance }: Levelled,
) => ({
  alert_type,
  alert_status: after,
  alert_info: {
    value_at_time: available,
    ...(balance !== undefined && { balance }),
    previous_status: before,
  },
});

interface Levelled {
  readonly before: AlertRow['alert_status'];
  readonly after: AlertRow['alert_status'];
  readonly available: string;
  readonly balance?: string;
}

const failedTask = (message: string): Told => ({
  entity_type: 'task',
  alert_type: 'task_failed',
  alert_status: 'in_alarm',
  alert_info: { message },
});

/** Tells of an event what an alert is; null for all others. */
function toldBy(event: SourceEvent): Told | null {
  const wallet_id = event.aggregate_id;
  switch (event.type) {
    case 'AlertStateChanged':
      return { entity_type: 'wallet', wallet_id, ...levelled('low_credit_balance', event.data) };
    case 'OngoingAlertStateChanged':
      return { entity_type: 'wallet', wallet_id, ...levelled('low_ongoing_balance', event.data) };
    case 'FeatureAlertStateChanged': {
      const { feature_id } = event.data;
      const of = { entity_type: 'feature', entity_id: feature_id, feature_id, wallet_id } as const;
      return { ...of, ...levelled('feature_wallet_balance', event.data) };
    }
    case 'AutomaticTopUpStopped': {
      const { available, limit } = event.data;
      return {
        ...{ entity_type: 'wallet', wallet_id, alert_type: 'auto_topup_stopped' },
        alert_status: 'in_alarm',
        alert_info: { value_at_time: available, daily_limit: limit },
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
      return failedTask(event.data.error_summary);
    case 'ExportAttemptFailed':
      // Attempts that are followed by others, and those of a window that has failed before, raise nothing.
      return event.data.is_failure ? failedTask(event.data.error) : null;
    default:
      return null;
  }
}

const keys = (event: SourceEvent): readonly string[] => (toldBy(event) ? [event.event_id] : []);

/** One row for each alert that was raised or ended. */
export const alertTable = projection(sources, {
  name: 'alerts',
  version: 2,
  columns: {
    entity_type: { type: 'text', of: (shown) => shown.entity_type },
    entity_id: { type: 'text', of: (shown) => shown.entity_id, index: true },
    /** The wallet, or whatever else it is about: the way to the customer. */
    subject_id: {
      type: 'text',
      of: ({ wallet_id, entity_id }) => wallet_id ?? entity_id,
      index: true,
    },
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
