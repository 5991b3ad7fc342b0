import {
  aggregate,
  createdStamps,
  type EventOf,
  existing,
  type Instant,
  type RecordStamps,
  referenceSchema,
  type Stamped,
  type TaskId,
  updatedStamps,
} from '@counterfoil/kernel';
import { z } from 'zod';
import { keptJobConfigSchema } from '../job-config.ts';
import { exportTypeSchema, type runStatusSchema } from '../values.ts';

const instant = z.string().transform((text) => text as Instant);
const position = z.string();
const count = z.number().int().nonnegative();

/** The bound of a window: everything up to a place in the log, with instants before one. */
const boundSchema = z.object({ end: instant, position });
export type WindowBound = z.output<typeof boundSchema>;

const fileSchema = z.object({
  key: z.string(),
  rows: count,
  /** As it is stored. */
  bytes: count,
  sha256: z.string(),
});
export type ExportedFile = z.output<typeof fileSchema>;

const events = {
  ExportRunPlanned: z.object({
    id: z.string().transform((text) => text as TaskId),
    scheduled_task_id: referenceSchema('schtask'),
    connection_id: referenceSchema('conn'),
    entity_type: exportTypeSchema,
    job_config: keptJobConfigSchema,
    start: instant,
    end: instant,
    /** The place in the log that closes the window. */
    position,
    /** The window before it; null for the first, and for a run that somebody asked for. */
    previous: boundSchema.nullable(),
    /** True for a window of the schedule, false for a run that somebody asked for. */
    is_scheduled: z.boolean(),
  }),
  ExportAttemptStarted: z.object({ attempt: count }),
  ExportProgressed: z.object({ rows: count }),
  ExportAttemptFailed: z.object({
    attempt: count,
    error: z.string(),
    /** The instant of the next attempt, by the system's clock; null: there is none. */
    retry_at: instant.nullable(),
    /** True for the one after which the run counts as failed, and somebody is told. */
    is_failure: z.boolean(),
  }),
  ExportRunCompleted: z.object({
    files: z.array(fileSchema),
    manifest_key: z.string(),
    generation: count,
    /** False where the same rows were there already, and nothing was written. */
    is_new: z.boolean(),
    rows: count,
    /** Rows that came into the log after the window of their instant had been exported; null where that cannot be. */
    late_rows: count.nullable(),
  }),
} as const;

export type ExportRunEvent = EventOf<typeof events>;
export type ExportRunEventData<Type extends ExportRunEvent['type']> = Extract<
  ExportRunEvent,
  { readonly type: Type }
>['data'];

/** A run of an export: one window, or a range that somebody asked for. */
export interface ExportRun extends RecordStamps, ExportRunEventData<'ExportRunPlanned'> {
  readonly task_status: z.output<typeof runStatusSchema>;
  readonly attempts: number;
  /** Rows that the last attempt has written so far. */
  readonly rows: number;
  readonly error: string | null;
  /** True once somebody was told that it has failed; a later attempt may still complete it. */
  readonly has_failed: boolean;
  /** True until it is completed, or was given up. */
  readonly is_open: boolean;
  /** The instant before which it is not tried again; null: it may be tried at once. */
  readonly retry_at: Instant | null;
  readonly started_at: Instant | null;
  readonly ended_at: Instant | null;
  readonly completed: ExportRunEventData<'ExportRunCompleted'> | null;
}

/** Null until it is planned. */
export type ExportRunState = ExportRun | null;

function evolve(state: ExportRunState, event: Stamped<ExportRunEvent>): ExportRunState {
  const { occurred_at: at } = event.stamp;
  if (event.type === 'ExportRunPlanned') {
    return {
      ...event.data,
      ...createdStamps(event.stamp),
      task_status: 'PENDING',
      attempts: 0,
      rows: 0,
      error: null,
      has_failed: false,
      is_open: true,
      retry_at: null,
      started_at: null,
      ended_at: null,
      completed: null,
    };
  }
  const run = { ...existing(state, 'run of an export'), ...updatedStamps(event.stamp) };
  switch (event.type) {
    case 'ExportAttemptStarted': {
      const started_at = run.started_at ?? at;
      const { attempt: attempts } = event.data;
      return { ...run, attempts, started_at, task_status: 'PROCESSING', rows: 0, retry_at: null };
    }
    case 'ExportProgressed':
      return { ...run, rows: event.data.rows };
    case 'ExportAttemptFailed': {
      const { error, retry_at, is_failure } = event.data;
      const has_failed = run.has_failed || is_failure;
      const ended = has_failed ? ({ task_status: 'FAILED', ended_at: at } as const) : {};
      return { ...run, error, has_failed, retry_at, is_open: retry_at !== null, ...ended };
    }
    case 'ExportRunCompleted': {
      const { rows } = event.data;
      const ended = {
        task_status: 'COMPLETED',
        is_open: false,
        retry_at: null,
        error: null,
      } as const;
      return { ...run, ...ended, rows, ended_at: at, completed: event.data };
    }
    default:
      return event satisfies never;
  }
}

/**
 * Runs of exports, one stream for each. Their times are the system's: a storage that is away comes back by no clock of an
 * environment (D84).
 */
export const exportRun = aggregate({
  name: 'export_run',
  scope: 'environment',
  clock: 'system',
  events,
  initial: null as ExportRunState,
  evolve,
});
