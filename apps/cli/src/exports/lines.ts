import { readInstant, type Span } from '@counterfoil/kernel';
import { windowsBetween } from '@counterfoil/modules';
import { OperatorError } from '../settings.ts';

/** A scheduled task, as far as it is shown. */
export interface ShownSchedule {
  readonly id: string;
  readonly entity_type: string;
  readonly interval: string;
  readonly timezone: string;
  readonly enabled: boolean;
  readonly exported_until: string;
  readonly next_run_at: string | null;
}

/** A run, as far as it is shown. */
export interface ShownRun {
  readonly id: string;
  readonly task_status: string;
  readonly processed_records: number;
  readonly file_name?: string;
  readonly error_summary?: string;
  readonly metadata: Readonly<Record<string, string>>;
}

/** A scheduled task in one line. */
export const scheduleLine = ({ id, entity_type, interval, ...schedule }: ShownSchedule): string =>
  [
    ...[id, entity_type, interval, schedule.timezone],
    `closed until ${schedule.exported_until}`,
    schedule.enabled ? `next at ${schedule.next_run_at}` : 'paused',
  ].join('  ');

/** A run in one line. */
export const runLine = ({
  id,
  task_status,
  processed_records,
  metadata,
  ...run
}: ShownRun): string =>
  [
    ...[id, task_status.padEnd(10), `${metadata.start_time} to ${metadata.end_time}`],
    `${processed_records.toLocaleString('en-US')} rows`,
    ...(run.file_name === undefined ? [] : [run.file_name]),
    ...(run.error_summary === undefined ? [] : [run.error_summary]),
  ].join('  ');

/** Intervals of one backfill: a run for each. */
const rangesMaximum = 10_000;

/** The intervals of a task that lie within a range, whole. Throws `OperatorError` where there are none, or too many. */
export function rangesOf(schedule: ShownSchedule, from: string, to: string): readonly Span[] {
  const [start, end] = [readInstant(from), readInstant(to)];
  if (start === null || end === null) {
    throw new OperatorError('--from and --to must be instants such as 2026-01-31T09:00:00Z.');
  }
  const windows = windowsBetween(schedule, { start, end }, rangesMaximum + 1);
  if (windows.length === 0) {
    throw new OperatorError(
      `No whole interval (${schedule.interval}) lies between ${from} and ${to}.`,
    );
  }
  if (windows.length > rangesMaximum) {
    throw new OperatorError(
      `The range has more than ${rangesMaximum} intervals: take a shorter one.`,
    );
  }
  return windows;
}
