import {
  aggregate,
  createdStamps,
  type Decision,
  type EventOf,
  existing,
  type Instant,
  type RecordStamps,
  type RecordStatus,
  referenceSchema,
  updatedStamps,
} from '@counterfoil/kernel';
import { z } from 'zod';
import { keptJobConfigSchema } from './job-config.ts';
import { exportTypeSchema, givenIntervals } from './values.ts';

const instant = z.string().transform((text) => text as Instant);

const events = {
  ScheduledTaskCreated: z.object({
    id: referenceSchema('schtask'),
    connection_id: referenceSchema('conn'),
    entity_type: exportTypeSchema,
    interval: z.enum(givenIntervals),
    timezone: z.string(),
    job_config: keptJobConfigSchema,
    enabled: z.boolean(),
    /** The start of its first window. */
    start: instant,
    /** The instant at which the first window is due; null while it is paused. */
    next_at: instant.nullable(),
  }),
  ScheduledTaskPaused: z.object({}),
  ScheduledTaskResumed: z.object({ next_at: instant }),
  ScheduledTaskArchived: z.object({}),
  /** The instant of a window has come. The place of this event in the log closes the window (ADR 51). */
  ExportWindowDue: z.object({
    run_id: referenceSchema('task'),
    start: instant,
    end: instant,
    /** The instant at which the window after it is due. */
    next_at: instant,
  }),
  /** Somebody asks for a run of their own, which leaves the windows as they are. */
  ExportRunRequested: z.object({ run_id: referenceSchema('task'), start: instant, end: instant }),
} as const;

export type ScheduledTaskEvent = EventOf<typeof events>;
export type ScheduledTaskEventData<Type extends ScheduledTaskEvent['type']> = Extract<
  ScheduledTaskEvent,
  { readonly type: Type }
>['data'];

/** An export that is repeated window by window. */
export interface ScheduledTask
  extends RecordStamps,
    Omit<ScheduledTaskEventData<'ScheduledTaskCreated'>, 'start' | 'next_at'> {
  readonly status: RecordStatus;
  /** The end of the last window that was closed: where the next one begins. */
  readonly closed_until: Instant;
  /** The instant at which the next window is due; null while it is paused or archived. */
  readonly next_at: Instant | null;
}

/** Null until it is created. */
export type ScheduledTaskState = ScheduledTask | null;
export type ScheduledTaskDecision = Decision<ScheduledTaskState, ScheduledTaskEvent>;

const isInUse = (state: ScheduledTaskState): boolean => state?.status === 'published';

/** Scheduled tasks, one stream for each (D79, D84). The connection stays as long as one is in use. */
export const scheduledTask = aggregate({
  name: 'scheduled_task',
  scope: 'environment',
  events,
  initial: null as ScheduledTaskState,
  evolve: (state, event): ScheduledTaskState => {
    if (event.type === 'ScheduledTaskCreated') {
      const { start, ...data } = event.data;
      return { ...data, ...createdStamps(event.stamp), status: 'published', closed_until: start };
    }
    const task = existing(state, 'scheduled task');
    switch (event.type) {
      case 'ScheduledTaskPaused':
        return { ...task, ...updatedStamps(event.stamp), enabled: false, next_at: null };
      case 'ScheduledTaskResumed': {
        const { next_at } = event.data;
        return { ...task, ...updatedStamps(event.stamp), enabled: true, next_at };
      }
      case 'ScheduledTaskArchived': {
        const ended = { status: 'archived', enabled: false, next_at: null } as const;
        return { ...task, ...updatedStamps(event.stamp), ...ended };
      }
      case 'ExportWindowDue':
        // What the service does by itself is no change of the task.
        return { ...task, closed_until: event.data.end, next_at: event.data.next_at };
      case 'ExportRunRequested':
        return task;
      default:
        return event satisfies never;
    }
  },
  refersTo: (state) =>
    state && isInUse(state)
      ? [{ category: 'connection', id: state.connection_id, what: 'connection' }]
      : [],
  isReferable: isInUse,
  isRemoved: (state) => state !== null && !isInUse(state),
});
