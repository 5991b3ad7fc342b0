import { projection } from '@counterfoil/engine/define';
import { createdStamps, type RecordStamps } from '@counterfoil/kernel';
import { subscription } from '../subscription.ts';

/** A change of a subscription that was asked for ahead of its time. */
interface ScheduleRow extends RecordStamps {
  readonly id: string;
  readonly subscription_id: string;
}

/** One row per change that was ever scheduled: the subscription that it is of. */
export const scheduleTable = projection(subscription, {
  name: 'subscription_schedules',
  version: 1,
  columns: {
    subscription_id: { type: 'text', of: (shown) => shown.subscription_id, index: true },
  },
  keys: (event) =>
    event.type === 'CancellationScheduled' || event.type === 'PlanChangeScheduled'
      ? [event.data.schedule_id]
      : [],
  fold: (_row: ScheduleRow | null, event, key): ScheduleRow => ({
    id: key,
    ...createdStamps(event.stamp),
    subscription_id: event.aggregate_id,
  }),
  view: (row: ScheduleRow) => row,
  rests: () => true,
});
