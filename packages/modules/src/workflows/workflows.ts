import { type EventFrom, projection } from '@counterfoil/engine/define';
import {
  createdStamps,
  existing,
  type Instant,
  type Stamp,
  updatedStamps,
} from '@counterfoil/kernel';
import { catalogImport } from '../catalog-transfer/index.ts';
import { invoiceRerating, reratingWorkId } from '../rerating/index.ts';
import { type ExportRun, exportRun } from '../scheduled-tasks/index.ts';
import { planSync } from '../subscriptions/index.ts';
import { importTask } from '../tasks/index.ts';
import { usageBackfill } from '../usage/index.ts';
import type { Workflow } from './schema.ts';

const counted = [importTask, catalogImport, planSync, usageBackfill, invoiceRerating] as const;
type CountedEvent = EventFrom<(typeof counted)[number]>;
type RunEvent = EventFrom<typeof exportRun>;
type SourceEvent = CountedEvent | RunEvent;

/** The kind of work that an aggregate's records are, with the queue in which each waits. */
const kinds = {
  import_task: { workflow_type: 'import', task_queue: 'tasks' },
  catalog_import: { workflow_type: 'catalog_import', task_queue: 'catalog' },
  plan_sync: { workflow_type: 'plan_sync', task_queue: 'subscriptions' },
  usage_backfill: { workflow_type: 'backfill', task_queue: 'usage' },
  invoice_rerating: { workflow_type: 'rerating', task_queue: 'invoices' },
} as const;

/** The beginning of a piece of work. */
function begun(
  event: CountedEvent,
  id: string,
  about: Pick<Workflow, 'entity' | 'entity_id'>,
): Workflow {
  const { occurred_at } = event.stamp;
  return {
    id,
    status: 'published',
    ...createdStamps(event.stamp),
    workflow_id: id,
    ...kinds[event.aggregate],
    workflow_status: 'Running',
    ...about,
    start_time: occurred_at,
    progress: { processed: 0, failed: 0 },
  };
}

const DONE: Readonly<Record<string, Workflow['workflow_status']>> = {
  ImportCompleted: 'Completed',
  ImportFailed: 'Failed',
  CatalogImportFinished: 'Completed',
  BackfillClosed: 'Completed',
  BackfillReverted: 'Canceled',
};

const changed = (row: Workflow | null, stamp: Stamp, changes: Partial<Workflow>): Workflow => ({
  ...existing(row, 'workflow'),
  ...updatedStamps(stamp),
  ...changes,
});

const ended = (status: Workflow['workflow_status'], at: Instant) => ({
  workflow_status: status,
  close_time: at,
});

/** The counts after some more. */
const further = (row: Workflow | null, processed: number, failed: number) => {
  const before = existing(row, 'workflow').progress;
  return {
    progress: { processed: before.processed + processed, failed: before.failed + failed },
  };
};

/** A piece of work after one of its events. */
function workflowAfter(row: Workflow | null, event: CountedEvent, id: string): Workflow | null {
  const { stamp } = event;
  const { occurred_at: at } = stamp;
  switch (event.type) {
    case 'ImportCreated':
      return begun(event, id, { entity: event.data.entity_type, entity_id: id });
    case 'CatalogImportStarted':
      return begun(event, id, { entity: 'catalog', entity_id: id });
    case 'BackfillOpened':
      return begun(event, id, { entity: 'events', entity_id: id });
    case 'PlanSyncRequested':
      return begun(event, id, { entity: 'plan', entity_id: event.data.plan_id });
    case 'RerateApplied':
      return begun(event, id, { entity: 'invoice', entity_id: event.aggregate_id });
    case 'ImportProgressed': {
      const { successful, failed } = event.data;
      return changed(row, stamp, further(row, successful + failed, failed));
    }
    case 'PlanSyncAdvanced': {
      const { checked, failed, is_last } = event.data;
      const counts = further(row, checked, failed.length);
      return changed(row, stamp, { ...counts, ...(is_last && ended('Completed', at)) });
    }
    case 'ImportResumed': {
      const { close_time: _, ...before } = existing(row, 'workflow');
      return { ...before, ...updatedStamps(stamp), workflow_status: 'Running' };
    }
    case 'ImportStarted':
    case 'ImportFileReceived':
    case 'CorrectionRefused':
      return changed(row, stamp, {});
    case 'CorrectionsDocumented': {
      const { mended, refused } = event.data;
      const counts = further(row, mended + refused, refused);
      return changed(row, stamp, { ...counts, ...ended(mended > 0 ? 'Completed' : 'Failed', at) });
    }
    case 'ImportCompleted':
    case 'ImportFailed':
    case 'CatalogImportFinished':
    case 'BackfillClosed':
    case 'BackfillReverted':
      return changed(row, stamp, ended(DONE[event.type] ?? 'Completed', at));
    default:
      return event satisfies never;
  }
}

/** A run of an export as a piece of work. One that has failed and is tried again is running again. */
function workOfRun(state: ExportRun | null): Workflow {
  const run = existing(state, 'run of an export');
  const { id, tenant_id, environment_id, created_at, created_by, updated_at, updated_by } = run;
  const workflow_status = statusOfRun[run.task_status];
  const close_time = workflow_status === 'Running' ? null : run.ended_at;
  return {
    id,
    status: 'published',
    ...{ tenant_id, environment_id, created_at, created_by, updated_at, updated_by },
    workflow_id: id,
    workflow_type: 'export',
    workflow_status,
    task_queue: 'exports',
    entity: run.entity_type,
    entity_id: run.scheduled_task_id,
    start_time: created_at,
    ...(close_time !== null && { close_time }),
    progress: { processed: run.rows, failed: 0 },
  };
}

const statusOfRun = {
  PENDING: 'Running',
  PROCESSING: 'Running',
  COMPLETED: 'Completed',
  FAILED: 'Failed',
} as const;

/** A row: work whose events are counted, or a run of an export, which counts for itself. */
type WorkRow =
  | { readonly kind: 'counted'; readonly work: Workflow | null }
  | { readonly kind: 'export'; readonly run: ExportRun | null };

function rowAfter(row: WorkRow | null, event: SourceEvent, key: string): WorkRow {
  if (event.aggregate === exportRun.name) {
    return {
      kind: 'export',
      run: exportRun.evolve(row?.kind === 'export' ? row.run : null, event),
    };
  }
  return {
    kind: 'counted',
    work: workflowAfter(row?.kind === 'counted' ? row.work : null, event, key),
  };
}

/** Some streams hold several pieces of work, each with an id of its own: synchronisations of a plan, corrections of an invoice. */
function keyOf(event: SourceEvent): string {
  switch (event.aggregate) {
    case 'plan_sync':
      return event.data.id;
    case 'invoice_rerating':
      return reratingWorkId(event.aggregate_id, event.data.number);
    default:
      return event.aggregate_id;
  }
}

const isBeginning = ({ type }: SourceEvent): boolean =>
  type === 'ImportCreated' ||
  type === 'CatalogImportStarted' ||
  type === 'BackfillOpened' ||
  type === 'PlanSyncRequested' ||
  type === 'RerateApplied' ||
  type === 'ExportRunPlanned';

/** One row for each piece of work that goes on in the background, or has ended. */
export const workflowTable = projection([...counted, exportRun], {
  name: 'workflows',
  version: 2,
  columns: {
    workflow_type: { type: 'text', of: (shown) => shown.workflow_type },
    workflow_status: { type: 'text', of: (shown) => shown.workflow_status },
    task_queue: { type: 'text', of: (shown) => shown.task_queue },
    entity: { type: 'text', of: (shown) => shown.entity },
    entity_id: { type: 'text', of: (shown) => shown.entity_id, index: true },
  },
  keys: (event) => [keyOf(event)],
  adds: (event) => (isBeginning(event) ? [keyOf(event)] : []),
  fold: rowAfter,
  view: (row: WorkRow): Workflow =>
    row.kind === 'export' ? workOfRun(row.run) : existing(row.work, 'workflow'),
});
