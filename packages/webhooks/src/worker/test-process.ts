import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import type { World } from './test-world.ts';

/** A worker in a process of its own. */
export interface WorkerProcess {
  readonly child: ChildProcess;
  /** The port on which it answers /healthz, /readyz and /metrics. */
  readonly port: number;
}

/** Starts the worker as a process of its own and waits for its ready line. */
export async function startProcess(
  world: World,
  environment: Readonly<Record<string, string>> = {},
): Promise<WorkerProcess> {
  const main = fileURLToPath(import.meta.resolve('@counterfoil/webhook-worker/main'));
  const child = spawn(process.execPath, [main], {
    env: {
      PATH: process.env.PATH,
      DATABASE_URL: world.databaseUrl,
      NATS_URL: world.natsUrl,
      // Away: nothing that is delivered needs it.
      EVENTSTORE_URL: 'esdb://127.0.0.1:9?tls=false',
      COUNTERFOIL_SECRET_KEY: world.secretKey,
      WEBHOOK_ALLOW_HTTP: 'true',
      WEBHOOK_ALLOWED_CIDRS: '127.0.0.0/8',
      LOG_LEVEL: 'silent',
      ...environment,
    },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const line = await Promise.race([
    once(child.stdout, 'data').then(([data]) => String(data)),
    once(child, 'exit').then(([code]) => {
      throw new Error(`the worker ended with ${code} before it was ready`);
    }),
  ]);
  const ready = JSON.parse(line) as { event: string; port: number; pid: number };
  if (ready.event !== 'ready' || ready.pid !== child.pid) throw new Error(`not ready: ${line}`);
  return { child, port: ready.port };
}
