import { type EventFrom, projection } from '@counterfoil/engine/define';
import {
  createdStamps,
  existing,
  type Instant,
  type Stamp,
  updatedStamps,
} from '@counterfoil/kernel';
import { catalogImport } from '../catalog-transfer/index.ts';
import { planSync } from '../subscriptions/index.ts';
import { importTask } from '../tasks/index.ts';
import { usageBackfill } from '../usage/index.ts';
import type { Workflow } from './schema.ts';

const sources = [importTask, catalogImport, planSync, usageBackfill] as const;
type SourceEvent = EventFrom<(typeof sources)[number]>;

/** The kind of work that an aggregate's records are, with the queue in which each waits. */
const kinds = {
  import_task: { workflow_type: 'import', task_queue: 'tasks' },
  catalog_import: { workflow_type: 'catalog_import', task_queue: 'catalog' },
  plan_sync: { workflow_type: 'plan_sync', task_queue: 'subscriptions' },
  usage_backfill: { workflow_type: 'backfill', task_queue: 'usage' },
} as const;

/** The beginning of a piece of work. */
function begun(
  event: SourceEvent,
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
function workflowAfter(row: Workflow | null, event: SourceEvent, id: string): Workflow | null {
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
      return changed(row, stamp, {});
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

/** The synchronisations of a plan stand in one stream, each with an id of its own. */
const keyOf = (event: SourceEvent): string =>
  event.aggregate === 'plan_sync' ? event.data.id : event.aggregate_id;

const isBeginning = ({ type }: SourceEvent): boolean =>
  type === 'ImportCreated' ||
  type === 'CatalogImportStarted' ||
  type === 'BackfillOpened' ||
  type === 'PlanSyncRequested';

/** One row for each piece of work that goes on in the background, or has ended. */
export const workflowTable = projection(sources, {
  name: 'workflows',
  version: 1,
  columns: {
    workflow_type: { type: 'text', of: (shown) => shown.workflow_type },
    workflow_status: { type: 'text', of: (shown) => shown.workflow_status },
    task_queue: { type: 'text', of: (shown) => shown.task_queue },
    entity: { type: 'text', of: (shown) => shown.entity },
    entity_id: { type: 'text', of: (shown) => shown.entity_id, index: true },
  },
  keys: (event) => [keyOf(event)],
  adds: (event) => (isBeginning(event) ? [keyOf(event)] : []),
  fold: workflowAfter,
  view: (row: Workflow) => row,
});
