import { projection, type RecordedEvent } from '@counterfoil/engine/define';
import {
  createdStamps,
  type Instant,
  invariant,
  type RecordStamps,
  updatedStamps,
  withoutNulls,
} from '@counterfoil/kernel';
import type { SubscriptionEvent } from '../events.ts';
import type { Schedule } from '../schema.ts';
import { subscription } from '../subscription.ts';

/** A change of a subscription that was asked for ahead of its time, with what became of it. */
type ScheduleRow = Schedule & RecordStamps & { readonly status: 'published' };

type Recorded = RecordedEvent<SubscriptionEvent>;

/** The changes to come that an event is about. */
function keysOf(event: Recorded): readonly string[] {
  switch (event.type) {
    case 'CancellationScheduled': {
      const { schedule_id, replaces } = event.data;
      return replaces === null ? [schedule_id] : [schedule_id, replaces];
    }
    case 'PlanChangeScheduled':
    case 'CancellationReverted':
    case 'PlanChangeReverted':
      return [event.data.schedule_id];
    case 'PauseEnded':
    case 'SubscriptionCancelled':
      return event.data.schedules.map(({ schedule_id }) => schedule_id);
    default:
      return [];
  }
}

/** The row of a change as it is asked for; null for an event that asks for none of that id. */
function asked(event: Recorded, id: string): ScheduleRow | null {
  if (event.type !== 'CancellationScheduled' && event.type !== 'PlanChangeScheduled') return null;
  if (event.data.schedule_id !== id) return null;
  const known = {
    id,
    ...createdStamps(event.stamp),
    status: 'published' as const,
    subscription_id: event.aggregate_id,
    schedule_status: 'pending' as const,
  };
  if (event.type === 'PlanChangeScheduled') {
    const { at: scheduled_at, to } = event.data;
    return { ...known, schedule_type: 'plan_change', scheduled_at, target_plan_id: to.plan_id };
  }
  const { cancel_at: scheduled_at, cancellation_type, reason } = event.data;
  const terms = withoutNulls({ scheduled_at, cancellation_type, reason });
  return { ...known, schedule_type: 'cancellation', ...terms };
}

/** The row of a change after something else has decided on it. */
function after(row: ScheduleRow, event: Recorded): ScheduleRow {
  const isOf = ({ schedule_id }: { readonly schedule_id: string }) => schedule_id === row.id;
  const cancelled = (cancelled_at: Instant) =>
    ({ schedule_status: 'cancelled', cancelled_at }) as const;
  switch (event.type) {
    case 'PauseEnded': {
      const scheduled_at = event.data.schedules.find(isOf)?.scheduled_at;
      return scheduled_at === undefined ? row : { ...row, scheduled_at };
    }
    case 'SubscriptionCancelled': {
      const { effective_at: executed_at, schedules } = event.data;
      return schedules.find(isOf)?.outcome === 'executed'
        ? { ...row, schedule_status: 'executed', executed_at }
        : { ...row, ...cancelled(event.stamp.occurred_at) };
    }
    default:
      return { ...row, ...cancelled(event.stamp.occurred_at) };
  }
}

/** One row per change that was ever scheduled, also of those that are past. */
export const scheduleTable = projection(subscription, {
  name: 'subscription_schedules',
  version: 2,
  columns: {
    subscription_id: { type: 'text', of: (shown) => shown.subscription_id, index: true },
    schedule_type: { type: 'text', of: (shown) => shown.schedule_type },
    schedule_status: { type: 'text', of: (shown) => shown.schedule_status },
    scheduled_at: { type: 'timestamptz', of: (shown) => shown.scheduled_at },
  },
  keys: keysOf,
  adds: (event) =>
    event.type === 'CancellationScheduled' || event.type === 'PlanChangeScheduled'
      ? [event.data.schedule_id]
      : [],
  fold: (row: ScheduleRow | null, event, key): ScheduleRow => {
    const fresh = asked(event, key);
    if (fresh) return fresh;
    invariant(row, `the change ${key} is decided on before it is scheduled`);
    return { ...after(row, event), ...updatedStamps(event.stamp) };
  },
  view: (row: ScheduleRow) => row,
});
