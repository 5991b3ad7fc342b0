import { module } from '@counterfoil/engine/define';
import { windowsDue } from './due.ts';
import { scheduledTaskTable } from './projection.ts';
import { type ScheduledTaskOptions, scheduledTaskRoutes } from './routes.ts';
import { exportRun } from './runs/export-run.ts';
import { exportRunTable } from './runs/projection.ts';
import { runsPlanned } from './runs/reactions.ts';
import { scheduledTask } from './scheduled-task.ts';

export { type JobConfig, jobConfigSchema, wholeJobConfig } from './job-config.ts';
export { assertPlace } from './place.ts';
export { scheduledTaskTable } from './projection.ts';
export { windowsBetween } from './rhythm.ts';
export type { ScheduledTaskOptions } from './routes.ts';
export {
  attemptsMaximum,
  completeRun,
  failAttempt,
  giveUp,
  isCurrent,
  noteRows,
  startAttempt,
} from './runs/decisions.ts';
export {
  type ExportedFile,
  type ExportRun,
  type ExportRunEventData,
  exportRun,
  type WindowBound,
} from './runs/export-run.ts';
export { exportRunTable } from './runs/projection.ts';
export { exportRunView } from './runs/view.ts';
export { scheduledTask } from './scheduled-task.ts';
export type { ExportFormat, ExportType } from './values.ts';

/** Exports that are repeated window by window, and their runs. */
export const scheduledTasks = (options: ScheduledTaskOptions) =>
  module({
    name: 'scheduled-tasks',
    aggregates: [scheduledTask, exportRun],
    tables: [scheduledTaskTable, exportRunTable],
    routes: scheduledTaskRoutes(options),
    publicEvents: [],
    dueWork: [windowsDue],
    reactions: [runsPlanned],
  });

/** The routes with their exact types, for the typed client. */
export type ScheduledTaskRoutes = ReturnType<typeof scheduledTaskRoutes>;
