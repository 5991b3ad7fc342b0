import { module } from '@counterfoil/engine/define';
import { importOperations } from './imports/operations.ts';
import { taskTable } from './task/projection.ts';
import { exportRunPublicEvents, taskPublicEvents } from './task/public-events.ts';
import { type TaskOptions, taskRoutes } from './task/routes.ts';
import { importTask } from './task/task.ts';

export { BulkRefused, recordEvents, withEventId } from './imports/bulk.ts';
export { eventFields } from './imports/kinds.ts';
export type { ImportPorts, RowRequest } from './imports/ports.ts';
export { fileRows } from './imports/rows.ts';
export { type ImportEnd, runImport } from './imports/run-import.ts';
export { importLimits } from './limits.ts';
export {
  abandonTask,
  completeTask,
  createTask,
  failTask,
  isRunnable,
  noteProgress,
  receiveFile,
  startTask,
} from './task/decisions.ts';
export { keptHours, uploadHours, uploadOf } from './task/files.ts';
export { taskTable } from './task/projection.ts';
export type { TaskOptions } from './task/routes.ts';
export type { Task } from './task/schema.ts';
export { type ImportTask, importTask } from './task/task.ts';
export { keepFile } from './task/upload.ts';
export { taskView } from './task/view.ts';

/** Work on files: imports, and the runs of exports. */
export const tasks = (options: TaskOptions) =>
  module({
    name: 'tasks',
    aggregates: [importTask],
    tables: [taskTable],
    routes: taskRoutes(options),
    operations: importOperations,
    publicEvents: [taskPublicEvents, exportRunPublicEvents],
  });

/** The routes with their exact types, for the typed client. */
export type TaskRoutes = ReturnType<typeof taskRoutes>;
