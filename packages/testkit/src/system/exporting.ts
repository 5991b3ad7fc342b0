import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { createLog } from '@counterfoil/engine';
import { type Exporter, startExporter } from '@counterfoil/exporter';
import { freePort } from '@counterfoil/local';
import { eventually } from '../eventually.ts';
import { nodeOptions } from '../node-options.ts';
import type { SharedStack, TestTenant } from '../stack.ts';
import type { S3Server } from '../storage/s3-server.ts';

const program = fileURLToPath(import.meta.resolve('@counterfoil/exporter/main'));

/** Starts an exporter in this process, which may reach storages on the machine. */
export const startTestExporter = (stack: SharedStack): Promise<Exporter> =>
  startExporter(
    {
      EVENTSTORE_URL: stack.eventStoreUrl,
      DATABASE_URL: stack.databaseUrl,
      COUNTERFOIL_SECRET_KEY: stack.secretKey,
      EXPORT_FOLDER: `${stack.directory}/exports`,
      WEBHOOK_ALLOW_HTTP: true,
      WEBHOOK_ALLOWED_CIDRS: ['127.0.0.0/8'],
      WEBHOOK_DENIED_CIDRS: [],
      HOST: '127.0.0.1',
      HEALTH_PORT: 0,
      LOG_LEVEL: 'silent',
      CLOCK_SKEW_SECONDS: 5,
    },
    [],
    createLog({ level: 'silent', name: 'exporter' }),
  );

/** Starts an exporter in a process of its own. Gives what ends it as a crash does. */
export async function startExporterProcess(stack: SharedStack): Promise<() => Promise<void>> {
  const port = await freePort();
  const child = spawn(process.execPath, [...nodeOptions, program], {
    env: {
      ...process.env,
      EVENTSTORE_URL: stack.eventStoreUrl,
      DATABASE_URL: stack.databaseUrl,
      COUNTERFOIL_SECRET_KEY: stack.secretKey,
      WEBHOOK_ALLOW_HTTP: 'true',
      WEBHOOK_ALLOWED_CIDRS: '127.0.0.0/8',
      HEALTH_PORT: String(port),
      LOG_LEVEL: 'silent',
    },
    stdio: 'ignore',
  });
  const kill = async (): Promise<void> => {
    if (child.exitCode !== null || child.signalCode !== null) return;
    const ended = once(child, 'exit');
    child.kill('SIGKILL');
    await ended;
  };
  const isReady = async () =>
    (await fetch(`http://127.0.0.1:${port}/readyz`).catch(() => null))?.ok === true;
  await eventually(isReady, () => 'the exporter is not ready').catch(async (error) => {
    await kill();
    throw error;
  });
  return kill;
}

/** Makes a connection of a tenant to a storage, and gives what schedules exports to it. */
export async function exportsTo(tenant: TestTenant, storage: S3Server, keyPrefix: string) {
  const { id: connection_id } = await tenant.ok('POST', '/connections', {
    name: 'Warehouse',
    provider_type: 's3',
    encrypted_secret_data: { s3: storage.credentials },
  });
  const schedule = (body: object, job: object = {}) =>
    tenant.ok('POST', '/tasks/scheduled', {
      ...{ connection_id, interval: 'hourly', ...body },
      job_config: {
        ...{ bucket: storage.bucket, region: 'eu-central-1', key_prefix: keyPrefix },
        ...{ endpoint_url: storage.url, use_path_style: true, ...job },
      },
    });
  return { connection_id: connection_id as string, schedule };
}

/** The run once it has ended. */
export const endedRun = (tenant: TestTenant, taskId: string) =>
  eventually(
    async () => {
      const task = await tenant.ok('GET', `/tasks/${taskId}`);
      return ['COMPLETED', 'FAILED'].includes(task.task_status) && task;
    },
    () => `the run ${taskId} has not ended`,
  );
