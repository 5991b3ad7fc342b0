import { type Decision, existing, type Instant, shiftedBy } from '@counterfoil/kernel';
import type { ExportRunEvent, ExportRunEventData, ExportRunState } from './export-run.ts';

export type ExportRunDecision = Decision<ExportRunState, ExportRunEvent>;

const second = 1_000;
const minute = 60 * second;

/** The waits after failed attempts; after the last of them the run counts as failed. */
const waits = [
  10 * second,
  30 * second,
  minute,
  2 * minute,
  5 * minute,
  10 * minute,
  20 * minute,
] as const;

/** The wait of a window that has failed: nothing of a schedule is left out, so it is tried for ever. */
const failedWait = 30 * minute;

/** The attempts after which somebody is told. */
export const attemptsMaximum = waits.length + 1;

const errorMaximum = 1_000;

/** Plans a run, once. */
export const planRun =
  (data: ExportRunEventData<'ExportRunPlanned'>): ExportRunDecision =>
  (state) =>
    state === null ? [{ type: 'ExportRunPlanned', data }] : [];

/** Begins an attempt. No event where the run has ended, or is to wait. */
export const startAttempt: ExportRunDecision = (state, at) => {
  const run = existing(state, 'run of an export');
  if (!run.is_open || (run.retry_at !== null && run.retry_at > at)) return [];
  return [{ type: 'ExportAttemptStarted', data: { attempt: run.attempts + 1 } }];
};

/** True while nobody has begun another attempt after this one, and the run has not ended. */
export const isCurrent = (run: ExportRunState, attempt: number): boolean =>
  run?.is_open === true && run.attempts === attempt;

/** Notes how many rows an attempt has written. */
export const noteRows =
  (attempt: number, rows: number): ExportRunDecision =>
  (state) => {
    const run = existing(state, 'run of an export');
    const isUnderWay = isCurrent(run, attempt) && run.task_status === 'PROCESSING';
    return isUnderWay && rows > run.rows ? [{ type: 'ExportProgressed', data: { rows } }] : [];
  };

/**
 * Notes that an attempt has failed, and when the next one is. A window of the schedule is tried for ever, and holds those behind
 * it back; a run that somebody asked for is given up after the last attempt, or at once where another cannot succeed.
 */
export const failAttempt =
  (attempt: number, error: string, isFinal = false): ExportRunDecision =>
  (state, at) => {
    const run = existing(state, 'run of an export');
    if (!isCurrent(run, attempt)) return [];
    const isOver = isFinal || attempt >= attemptsMaximum;
    const retry_at = isOver ? lastRetry(run.is_scheduled, at) : waitedFor(attempt, at);
    const is_failure = isOver && !run.has_failed;
    const data = { attempt, error: error.slice(0, errorMaximum), retry_at, is_failure };
    return [{ type: 'ExportAttemptFailed', data }];
  };

const waitedFor = (attempt: number, at: Instant): Instant =>
  shiftedBy(at, waits[attempt - 1] ?? failedWait);

const lastRetry = (isScheduled: boolean, at: Instant): Instant | null =>
  isScheduled ? shiftedBy(at, failedWait) : null;

/**
 * Notes that all rows are where they belong. No event where the run has ended, or another attempt was begun: that one finds
 * what this one has written.
 */
export const completeRun =
  (attempt: number, data: ExportRunEventData<'ExportRunCompleted'>): ExportRunDecision =>
  (state) =>
    isCurrent(state, attempt) ? [{ type: 'ExportRunCompleted', data }] : [];

/** Gives a run up for good, because its scheduled task was archived before it was done. */
export const giveUp =
  (error: string): ExportRunDecision =>
  (state) => {
    const { is_open, has_failed, attempts } = existing(state, 'run of an export');
    const data = { attempt: attempts, error, retry_at: null, is_failure: !has_failed };
    return is_open ? [{ type: 'ExportAttemptFailed', data }] : [];
  };
