import { recordProjection } from '@counterfoil/engine/define';
import { exportRun } from './export-run.ts';
import { exportRunView } from './view.ts';

/** One row per run: what the exporter looks for work in. */
export const exportRunTable = recordProjection(exportRun, {
  name: 'export_runs',
  version: 1,
  view: exportRunView,
  columns: {
    scheduled_task_id: { type: 'text', of: (shown) => shown.scheduled_task_id, index: true },
    task_status: { type: 'text', of: (shown) => shown.task_status },
    /** The end of the window of a run that is not done; null for one that is, so that those that are open are found at once. */
    open_until: {
      type: 'timestamptz',
      of: (_, row) => (row?.is_open ? row.end : null),
      index: true,
    },
    is_scheduled: { type: 'boolean', of: (_, row) => row?.is_scheduled ?? false },
    retry_at: { type: 'timestamptz', of: (_, row) => row?.retry_at ?? null },
  },
});
