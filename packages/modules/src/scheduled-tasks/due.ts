import { dueWork } from '@counterfoil/engine/define';
import { closeDueWindows } from './decisions.ts';
import { scheduledTaskTable } from './projection.ts';
import { scheduledTask } from './scheduled-task.ts';

/** Closes windows whose instant has come, by the clock of the environment. */
export const windowsDue = dueWork({
  name: 'window of an export',
  table: scheduledTaskTable,
  column: 'next_at',
  run: (context, id) => context.execute(scheduledTask, id, closeDueWindows),
});
