import { publicEvents } from '@counterfoil/engine/define';
import { z } from 'zod';
import { exportRun } from './export-run.ts';
import { exportRunView } from './view.ts';

/** A run that has failed is told to endpoints that name the type (D84). */
export const exportRunPublicEvents = publicEvents(
  exportRun,
  ({ event, after }) =>
    event.type === 'ExportAttemptFailed' && event.data.is_failure
      ? [
          {
            type: 'task.failed',
            resourceId: after?.id ?? '',
            body: { task: exportRunView(after) },
          },
        ]
      : [],
  {
    'task.failed': {
      summary: 'A run of an export, or an import, has failed',
      body: z.object({ task: z.record(z.string(), z.unknown()) }),
    },
  },
);
