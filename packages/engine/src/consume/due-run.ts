import type { EnvironmentId, TenantId } from '@counterfoil/kernel';
import type { Streams } from '../decide/streams.ts';
import { type WorkReads, workContext } from '../decide/work-context.ts';
import type { DueWork } from '../define/due-work.ts';
import type { Position } from '../log/types.ts';
import type { Log } from '../operations/log.ts';
import type { Metrics } from '../operations/metrics.ts';
import type { ProjectedPosition } from '../projection/projected-position.ts';
import type { DueRow } from './due-rows.ts';

/** The outcome of a piece of due work. */
export type DueOutcome =
  /** `position` is that of its last event; null when there was nothing to do. */
  | { readonly kind: 'done'; readonly position: Position | null }
  | { readonly kind: 'failed'; readonly error: unknown };

/** Runs the work of one row. It never rejects. */
export type RunDueWork = (work: DueWork, row: DueRow) => Promise<DueOutcome>;

interface DueRunOptions extends WorkReads {
  readonly streams: Streams;
  readonly log: Log;
  readonly metrics?: Metrics;
  /** The position of the tables that show what is due; records are at least as new. Without it they are read from the log. */
  readonly projected?: Pick<ProjectedPosition, 'position'>;
}

/** Returns what runs the work of rows, under keys that follow from the row and its time. */
export function dueRunner(options: DueRunOptions): RunDueWork {
  const { streams, log, metrics, reader, factsOf, projected } = options;
  const done = metrics?.counter({
    name: 'counterfoil_due_work_total',
    help: 'Work that became due and was done, by kind and outcome',
    labels: ['work', 'outcome'],
  });
  return async (work, row) => {
    const scope = {
      tenantId: row.tenant_id as TenantId,
      environmentId: (row.environment_id ?? row.tenant_id) as EnvironmentId,
      correlationId: `due ${work.name}`,
    };
    let position: Position | null = null;
    const context = workContext(streams, scope, {
      reader,
      factsOf,
      // A row that still shows what has been done since leads to the same key, and so to nothing.
      occasion: {
        job: `due work ${work.name}`,
        key: `${row.id}@${row.revision} ${row.due_at}`,
        remembersEffectsOnly: true,
      },
      onWritten: (written) => {
        if (position === null || written > position) position = written;
      },
      ...(projected ? { loadsUpTo: () => projected.position() } : {}),
    });
    try {
      await work.run(context, row.id);
      done?.inc({ work: work.name, outcome: 'done' });
      return { kind: 'done', position };
    } catch (error) {
      done?.inc({ work: work.name, outcome: 'failed' });
      log.error({ err: error, work: work.name, id: row.id }, 'due work failed');
      return { kind: 'failed', error };
    }
  };
}
