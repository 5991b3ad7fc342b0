import { type Instant, referenceSchema, type ScheduleId } from '@counterfoil/kernel';
import { z } from 'zod';

const instant = z.string().transform((text) => text as Instant);

/** The fate of a change that was to come, where something else has decided it. */
export const endedScheduleData = z.object({
  schedule_id: referenceSchema('sched'),
  outcome: z.enum(['executed', 'cancelled']),
});
type EndedSchedule = z.output<typeof endedScheduleData>;

/** Another instant of a change that is to come. */
export const movedScheduleData = z.object({
  schedule_id: referenceSchema('sched'),
  scheduled_at: instant,
});
type MovedSchedule = z.output<typeof movedScheduleData>;

/** The changes that are to come for a subscription. */
interface ToCome {
  readonly cancellation: {
    readonly schedule_id: ScheduleId;
    readonly cancel_at: Instant;
  } | null;
  readonly plan_change: { readonly schedule_id: ScheduleId; readonly at: Instant } | null;
}

/**
 * The fates of the changes that are to come for a subscription where it ends: the one that has come is carried out, and another
 * one comes to nothing.
 */
export function endedSchedules(
  { cancellation, plan_change }: ToCome,
  cause: 'request' | 'schedule' | 'end_date' | 'plan_change' | 'unpaid',
  at: Instant,
): EndedSchedule[] {
  const ended = (schedule_id: ScheduleId, isExecuted: boolean): EndedSchedule => ({
    schedule_id,
    outcome: isExecuted ? 'executed' : 'cancelled',
  });
  return [
    ...(cancellation ? [ended(cancellation.schedule_id, cause === 'schedule')] : []),
    ...(plan_change
      ? [ended(plan_change.schedule_id, cause === 'plan_change' && plan_change.at === at)]
      : []),
  ];
}

/** The changes to come that get other instants. */
export const movedSchedules = (
  { cancellation, plan_change }: ToCome,
  {
    cancel_at,
    change_at,
  }: { readonly cancel_at: Instant | null; readonly change_at: Instant | null },
): MovedSchedule[] => [
  ...(cancellation && cancel_at !== null && cancel_at !== cancellation.cancel_at
    ? [{ schedule_id: cancellation.schedule_id, scheduled_at: cancel_at }]
    : []),
  ...(plan_change && change_at !== null && change_at !== plan_change.at
    ? [{ schedule_id: plan_change.schedule_id, scheduled_at: change_at }]
    : []),
];
