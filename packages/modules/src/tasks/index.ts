import { module } from '@counterfoil/engine/define';
import { taskTable } from './task/projection.ts';
import { taskPublicEvents } from './task/public-events.ts';
import { type TaskOptions, taskRoutes } from './task/routes.ts';
import { task } from './task/task.ts';

export { CsvReader, type CsvRow } from './imports/csv.ts';
export { completeTask, createTask, failTask, startTask } from './task/decisions.ts';
export { taskTable } from './task/projection.ts';
export type { TaskOptions } from './task/routes.ts';
export { type TaskRecord, task } from './task/task.ts';
export { taskView } from './task/view.ts';

/** Work on files: imports, and the runs of exports. */
export const tasks = (options: TaskOptions) =>
  module({
    name: 'tasks',
    aggregates: [task],
    tables: [taskTable],
    routes: taskRoutes(options),
    publicEvents: [taskPublicEvents],
  });

/** The routes with their exact types, for the typed client. */
export type TaskRoutes = ReturnType<typeof taskRoutes>;
