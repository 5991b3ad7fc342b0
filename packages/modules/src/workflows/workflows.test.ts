import type { AnyProjectedEvent } from '@counterfoil/engine/define';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import type { Workflow } from './schema.ts';
import { workflowTable } from './workflows.ts';

const test = suite('work in the background');

/** The rows after some events, by their keys. */
function rowsAfter(
  ...events: readonly [aggregate: string, id: string, type: string, data: object][]
) {
  const rows = new Map<string, Workflow>();
  for (const [index, [aggregate, aggregate_id, type, data]] of events.entries()) {
    const stamp = {
      tenant_id: 'tenant_1',
      environment_id: 'env_1',
      occurred_at: `2026-01-01T00:00:0${index}.000Z`,
      actor: { user_id: null, key_id: null },
    };
    const event = { aggregate, aggregate_id, type, data, stamp } as unknown as AnyProjectedEvent;
    for (const key of workflowTable.keys(event)) {
      const row = workflowTable.fold(rows.get(key) ?? null, event, key);
      if (row) rows.set(key, row);
    }
  }
  return rows;
}

const told = (row: Workflow | undefined) =>
  row && [row.workflow_type, row.entity, row.workflow_status, row.progress, row.close_time];

test('an import goes on, fails, goes on again and ends', () => {
  const id = 'task_1';
  const created = ['import_task', id, 'ImportCreated', { entity_type: 'EVENTS' }] as const;
  const progressed = [
    ...(['import_task', id, 'ImportProgressed'] as const),
    { successful: 9, failed: 1 },
  ] as [string, string, string, object];
  const failed = ['import_task', id, 'ImportFailed', {}] as [string, string, string, object];
  const resumed = ['import_task', id, 'ImportResumed', {}] as [string, string, string, object];
  const after = (...events: [string, string, string, object][]) =>
    told(rowsAfter([...created], ...events).get(id));
  const counts = { processed: 10, failed: 1 };
  assert.equal(after(progressed), ['import', 'EVENTS', 'Running', counts, undefined]);
  assert.equal(after(progressed, failed), [
    ...['import', 'EVENTS', 'Failed', counts],
    '2026-01-01T00:00:02.000Z',
  ]);
  assert.equal(after(failed, resumed, progressed), [
    ...['import', 'EVENTS', 'Running', counts],
    undefined,
  ]);
  assert.equal(after(progressed, ['import_task', id, 'ImportCompleted', {}]), [
    ...['import', 'EVENTS', 'Completed', counts],
    '2026-01-01T00:00:02.000Z',
  ]);
});

test('each synchronisation of a plan is work of its own', () => {
  const advanced = { last: null, changed: 1, failed: [{}], checked: 3, is_last: true };
  const rows = rowsAfter(
    ['plan_sync', 'plan_1', 'PlanSyncRequested', { id: 'psync_1', plan_id: 'plan_1' }],
    ['plan_sync', 'plan_1', 'PlanSyncAdvanced', { id: 'psync_1', ...advanced }],
    ['plan_sync', 'plan_1', 'PlanSyncRequested', { id: 'psync_2', plan_id: 'plan_1' }],
  );
  assert.equal(told(rows.get('psync_1')), [
    ...['plan_sync', 'plan', 'Completed', { processed: 3, failed: 1 }],
    '2026-01-01T00:00:01.000Z',
  ]);
  assert.is(rows.get('psync_2')?.workflow_status, 'Running');
  assert.is(rows.get('psync_2')?.entity_id, 'plan_1');
});

test('backfills are closed or reverted, and catalogue imports finished', () => {
  const rows = rowsAfter(
    ['usage_backfill', 'b_1', 'BackfillOpened', {}],
    ['usage_backfill', 'b_2', 'BackfillOpened', {}],
    ['catalog_import', 'c_1', 'CatalogImportStarted', {}],
    ['usage_backfill', 'b_1', 'BackfillClosed', {}],
    ['usage_backfill', 'b_2', 'BackfillReverted', {}],
    ['catalog_import', 'c_1', 'CatalogImportFinished', {}],
  );
  assert.equal(
    ['b_1', 'b_2', 'c_1'].map((id) => rows.get(id)?.workflow_status),
    ['Completed', 'Canceled', 'Completed'],
  );
});

test.run();
