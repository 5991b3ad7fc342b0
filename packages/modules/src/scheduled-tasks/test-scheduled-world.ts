import type { AnyRoute, Routes } from '@counterfoil/engine/define';
import { existing, type Instant, invariant } from '@counterfoil/kernel';
import {
  callRoute,
  memoryDueRows,
  memoryWorld,
  type RawInput,
  reactTo,
  testPrincipal,
  // biome-ignore lint/correctness/noUndeclaredDependencies: only tests import this file.
} from '@counterfoil/testkit';
import { createSealer, strictTargetPolicy } from '@counterfoil/webhooks';
import { connections } from '../connections/index.ts';
import { environment } from '../tenancy/index.ts';
import { scheduledTasks } from './index.ts';
import { type ExportRun, exportRun } from './runs/export-run.ts';
import { exportRunTable } from './runs/projection.ts';
import { runsPlanned } from './runs/reactions.ts';
import { scheduledTask } from './scheduled-task.ts';

// biome-ignore lint/suspicious/noExplicitAny: tests look into answers of every shape.
type Shown = any;

/** The fields of a task that are the same in most tests. */
export const someJob = { bucket: 'warehouse', region: 'eu-central-1' };

/** A world with one connection, whose clock tests move. */
export async function scheduledWorld() {
  const sealer = createSealer(Buffer.alloc(32, 7).toString('base64'));
  const exporting = scheduledTasks({
    policy: strictTargetPolicy,
    // As an export of credits has them.
    columnsOf: () => ['name', 'currency'],
  });
  const slices = [connections({ sealer }), exporting];
  const world = memoryWorld([environment, ...slices.flatMap(({ aggregates }) => aggregates)]);
  const routes: Routes = Object.assign({}, ...slices.map((slice) => slice.routes));
  const request = () => world.request(testPrincipal());
  const call = async (name: string, input: RawInput = {}): Promise<Shown> => {
    const route: AnyRoute | undefined = routes[name as never];
    invariant(route, `there is no ${name}`);
    return await callRoute(route, request(), input);
  };
  const s3 = { aws_access_key_id: 'key', aws_secret_access_key: 'secret' };
  const { id: connectionId } = await call('POST /connections', {
    body: { name: 'Warehouse', provider_type: 's3', encrypted_secret_data: { s3 } },
  });
  const idsOf = (category: string): readonly string[] => [
    ...new Set(
      world.store.log.flatMap(({ stream }) =>
        stream.startsWith(`${category}-`) ? [stream.slice(stream.indexOf('.') + 1)] : [],
      ),
    ),
  ];
  const settle = async () => {
    for (const id of idsOf(scheduledTask.name)) await reactTo(request(), runsPlanned, id);
  };
  return {
    world,
    connectionId,
    request,
    call,
    settle,
    create: (body: object = {}): Promise<Shown> =>
      call('POST /tasks/scheduled', {
        body: {
          connection_id: connectionId,
          entity_type: 'events',
          interval: 'hourly',
          job_config: someJob,
          ...body,
        },
      }),
    /** The clock at a later instant, with all windows that are due by then. */
    pass: async (to: string): Promise<void> => {
      world.now = to as Instant;
      for (const work of exporting.dueWork ?? []) {
        for (let before = -1; before !== world.store.log.length; ) {
          before = world.store.log.length;
          const rows = memoryDueRows(world.store, work, testPrincipal(), world.now);
          for (const { id } of rows) await work.run(request(), id);
        }
      }
      await settle();
    },
    /** The runs that were planned, in their order. */
    runs: async (): Promise<readonly ExportRun[]> =>
      Promise.all(
        idsOf(exportRun.name).map(async (id) =>
          existing(await request().load(exportRun, id), 'run of an export'),
        ),
      ),
    tableRows: () => request().read.list(exportRunTable, { limit: 1_000, offset: 0 }),
  };
}
