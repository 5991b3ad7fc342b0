import type { AnyProjectedEvent, RouteKey, Routes } from '@counterfoil/engine/define';
import { invariant } from '@counterfoil/kernel';
import { callRoute, memoryWorld, testPrincipal } from '@counterfoil/testkit';
import { createSealer, strictTargetPolicy } from '@counterfoil/webhooks';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { alertLog } from '../alert-log/index.ts';
import { connections } from '../connections/index.ts';
import { reratingWorkId } from '../rerating/index.ts';
import { exportRun, failAttempt, scheduledTasks, startAttempt } from '../scheduled-tasks/index.ts';
import { environment } from '../tenancy/index.ts';
import { workflowRoutes } from './routes.ts';
import type { Workflow } from './schema.ts';
import { workflowTable } from './workflows.ts';

const test = suite('work in the background');

/** The rows after some events, by their keys. */
function rowsAfter(
  ...events: readonly [aggregate: string, id: string, type: string, data: object][]
) {
  const rows = new Map<string, NonNullable<ReturnType<typeof workflowTable.fold>>>();
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
  return new Map([...rows].map(([key, row]) => [key, workflowTable.view(row)]));
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

test('a run of an export fails, is tried again and ends', () => {
  const run = (type: string, data: object): [string, string, string, object] => [
    ...(['export_run', 'task_9', type] as const),
    data,
  ];
  const planned = run('ExportRunPlanned', {
    ...{ id: 'task_9', scheduled_task_id: 'schtask_1', entity_type: 'events' },
  });
  const started = (attempt: number) => run('ExportAttemptStarted', { attempt });
  const failed = (is_failure: boolean) =>
    run('ExportAttemptFailed', { attempt: 1, error: 'away', retry_at: null, is_failure });
  const after = (...events: [string, string, string, object][]) => {
    const row = rowsAfter(planned, ...events).get('task_9');
    return [row?.workflow_status, row?.progress.processed, row?.close_time?.slice(17, 19)];
  };
  const rows = run('ExportProgressed', { rows: 250_000 });
  assert.equal(after(), ['Running', 0, undefined]);
  assert.equal(after(started(1), rows), ['Running', 250_000, undefined]);
  assert.equal(after(started(1), failed(false)), ['Running', 0, undefined]);
  assert.equal(after(started(1), failed(true)), ['Failed', 0, '02']);
  assert.equal(after(started(1), failed(true), started(2)), ['Running', 0, undefined]);
  // Nobody is told a second time, and it has failed all the same.
  assert.equal(after(started(1), failed(true), started(2), failed(false)), ['Failed', 0, '04']);
  const completed = run('ExportRunCompleted', { files: [], rows: 3 });
  assert.equal(after(started(1), failed(true), started(2), completed), ['Completed', 3, '04']);
  const row = rowsAfter(planned).get('task_9');
  assert.equal(
    [row?.workflow_type, row?.entity, row?.entity_id, row?.task_queue],
    ['export', 'events', 'schtask_1', 'exports'],
  );
});

test('a run that somebody asks for is listed under its scheduled task, and an alert where it fails', async () => {
  const sealer = createSealer(Buffer.alloc(32, 7).toString('base64'));
  const slices = [
    connections({ sealer }),
    scheduledTasks({ policy: strictTargetPolicy, columnsOf: () => [] }),
  ];
  const routes: Routes = Object.assign({}, workflowRoutes, alertLog.routes);
  Object.assign(routes, ...slices.map((slice) => slice.routes));
  const world = memoryWorld([environment, ...slices.flatMap(({ aggregates }) => aggregates)]);
  const context = () => world.request(testPrincipal());
  const call = async (key: RouteKey, input: object): Promise<Answer> => {
    const route = routes[key];
    invariant(route, `there is no ${key}`);
    return (await callRoute(route, context(), input)) as Answer;
  };
  const folder = { name: 'Folder', provider_type: 'local_folder' };
  const { id: connection_id } = await call('POST /connections', { body: folder });
  const job_config = { bucket: 'warehouse' };
  const { id: entity_id } = await call('POST /tasks/scheduled', {
    body: { connection_id, entity_type: 'invoice', interval: 'daily', job_config },
  });
  const listed = async (key: RouteKey, search: object) =>
    (await call(key, { body: search })).items.map(
      ({ workflow_id, workflow_status, alert_type, alert_info }: Answer) =>
        workflow_id ? [workflow_id, workflow_status] : [alert_type, alert_info],
    );
  const { task_id } = await call('POST /tasks/scheduled/{id}/run', { params: { id: entity_id } });
  const works = () => listed('POST /workflows/search', { workflow_type: 'export', entity_id });
  const alerts = () => listed('POST /alerts/search', { entity_id: task_id });
  assert.equal([await works(), await alerts()], [[[task_id, 'Running']], []]);
  await context().execute(exportRun, task_id, startAttempt);
  await context().execute(exportRun, task_id, failAttempt(1, 'The folder is full.', true));
  assert.equal(await works(), [[task_id, 'Failed']]);
  assert.equal(await alerts(), [['task_failed', { message: 'The folder is full.' }]]);
});

// biome-ignore lint/suspicious/noExplicitAny: tests look into answers of every shape.
type Answer = any;

test('each correction of an invoice is work of its own, and fails where none of its lines is mended', () => {
  const rerating = (type: string, data: object): [string, string, string, object] => [
    ...(['invoice_rerating', 'inv_1', type] as const),
    data,
  ];
  const rows = rowsAfter(
    rerating('RerateApplied', { number: 1 }),
    rerating('CorrectionsDocumented', { number: 1, mended: 2, refused: 0 }),
    rerating('RerateApplied', { number: 2 }),
    rerating('CorrectionRefused', { number: 2 }),
    rerating('CorrectionsDocumented', { number: 2, mended: 0, refused: 1 }),
    rerating('RerateApplied', { number: 3 }),
  );
  assert.equal(
    [1, 2, 3].map((number) => {
      const row = rows.get(reratingWorkId('inv_1', number));
      return [row?.entity_id, row?.workflow_status, row?.progress];
    }),
    [
      ['inv_1', 'Completed', { processed: 2, failed: 0 }],
      ['inv_1', 'Failed', { processed: 1, failed: 1 }],
      ['inv_1', 'Running', { processed: 0, failed: 0 }],
    ],
  );
});

test.run();
