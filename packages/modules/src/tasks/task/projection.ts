import { type EventFrom, projection } from '@counterfoil/engine/define';
import { exportRun, exportRunView } from '../../scheduled-tasks/index.ts';
import { isRunnable } from './decisions.ts';
import type { Task } from './schema.ts';
import { type ImportTask, importTask } from './task.ts';
import { taskView } from './view.ts';

type Source = typeof importTask | typeof exportRun;

/** A row: an import, or a run of an export, which is a record of its own (ADR 51). */
type TaskRow =
  | { readonly kind: 'import'; readonly state: ImportTask | null }
  | { readonly kind: 'export'; readonly state: Parameters<typeof exportRunView>[0] };

function folded(row: TaskRow | null, event: EventFrom<Source>): TaskRow {
  if (event.aggregate === importTask.name) {
    const before = row?.kind === 'import' ? row.state : null;
    return { kind: 'import', state: importTask.evolve(before, event) };
  }
  const before = row?.kind === 'export' ? row.state : null;
  return { kind: 'export', state: exportRun.evolve(before, event) };
}

const isOwn = ({ type, aggregate }: EventFrom<Source>): boolean =>
  Object.hasOwn(aggregate === importTask.name ? importTask.events : exportRun.events, type);

/** One row per task: imports, and runs of exports. */
export const taskTable = projection([importTask, exportRun], {
  name: 'tasks',
  version: 1,
  keys: (event) => (isOwn(event) ? [event.aggregate_id] : []),
  adds: (event) => (event.revision === 0 ? [event.aggregate_id] : []),
  fold: folded,
  view: (row: TaskRow): Task =>
    row.kind === 'import' ? taskView(row.state) : exportRunView(row.state),
  columns: {
    task_type: { type: 'text', of: ({ task_type }) => task_type },
    task_status: { type: 'text', of: ({ task_status }) => task_status },
    entity_type: { type: 'text', of: ({ entity_type }) => entity_type },
    scheduled_task_id: {
      type: 'text',
      of: ({ scheduled_task_id }) => scheduled_task_id,
      index: true,
    },
    created_by: { type: 'text', of: ({ created_by }) => created_by },
    /** Of an import that is to be carried out, when it was asked for: how processes of the api find their work. */
    runnable_since: {
      type: 'timestamptz',
      of: ({ created_at }, { kind, state }) =>
        kind === 'import' && state && isRunnable(state) ? created_at : null,
      index: true,
    },
  },
});
