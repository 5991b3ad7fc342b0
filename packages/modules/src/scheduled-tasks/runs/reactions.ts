import { type ReactionContext, reaction } from '@counterfoil/engine/define';
import { existing, type Instant, invariant, type Span } from '@counterfoil/kernel';
import { runOfWindow } from '../decisions.ts';
import { type ScheduledTaskEventData, scheduledTask } from '../scheduled-task.ts';
import { planRun } from './decisions.ts';
import { exportRun, type WindowBound } from './export-run.ts';

type Closed = Pick<ScheduledTaskEventData<'ExportWindowDue'>, 'run_id' | 'start' | 'end'>;

/** Plans the run of each window that is closed, and of each range that somebody asks for. */
export const runsPlanned = reaction(scheduledTask, {
  name: 'runs of exports',
  on: {
    ExportWindowDue: async ({ aggregate_id: id, revision, data }, context) =>
      plan(context, id, revision, data, await boundBefore(context, id, data.start)),
    ExportRunRequested: ({ aggregate_id: id, revision, data }, context) =>
      plan(context, id, revision, data, null, false),
  },
});

async function plan(
  context: ReactionContext,
  id: string,
  revision: number,
  { run_id, ...range }: Closed & Span,
  previous: WindowBound | null,
  isScheduled = true,
): Promise<void> {
  const task = existing(await context.load(scheduledTask, id), 'scheduled task');
  const { connection_id, entity_type, job_config } = task;
  const { start, end } = range;
  await context.execute(
    exportRun,
    run_id,
    planRun({
      ...{ id: run_id, scheduled_task_id: task.id, connection_id, entity_type, job_config },
      ...{ start, end, previous, is_scheduled: isScheduled },
      position: await positionOf(context, id, revision),
    }),
  );
}

/** The bound of the window before the one that begins at an instant; null for the first. Its run was planned before. */
async function boundBefore(
  context: ReactionContext,
  id: string,
  start: Instant,
): Promise<WindowBound | null> {
  const before = await context.load(exportRun, runOfWindow(id, start));
  return before && { end: before.end, position: before.position };
}

/** The place of an event of a scheduled task in the log. */
async function positionOf(context: ReactionContext, id: string, revision: number): Promise<string> {
  const range = { from: revision, maximum: 1 };
  for await (const event of context.history(scheduledTask, id, range)) return event.position;
  invariant(false, `scheduled task ${id} has no event ${revision}`);
  return '';
}
