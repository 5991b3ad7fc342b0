import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { freePort } from '@counterfoil/local';
import { eventually } from '../eventually.ts';
import { nodeOptions } from '../node-options.ts';
import type { Stack } from '../stack.ts';
import type { Openings } from './openings.ts';

/** A process of the projector beside others, on the servers of a stack. */
export interface ProjectorProcess {
  /** Ends it with SIGKILL, and starts another one. Resolves when that one is ready. */
  killAndRestart(): Promise<void>;
}

const answerMilliseconds = 10_000;
const program = fileURLToPath(import.meta.resolve('@counterfoil/projector/main'));

/** Starts a process of the projector, which ends with the others of a test. Resolves when it is ready. */
export async function startProjectorProcess(
  stack: Stack,
  opened: Openings,
): Promise<ProjectorProcess> {
  const port = await freePort();
  const env = {
    ...process.env,
    EVENTSTORE_URL: stack.eventStoreUrl,
    DATABASE_URL: stack.databaseUrl,
    NATS_URL: stack.natsUrl,
    EVENT_GATEWAY_URL: stack.eventGatewayUrl,
    COUNTERFOIL_SECRET_KEY: stack.secretKey,
    HEALTH_PORT: String(port),
    LOG_LEVEL: 'silent',
  };
  const launch = (): ChildProcess =>
    spawn(process.execPath, [...nodeOptions, program], { env, stdio: 'ignore' });
  let child = launch();
  const kill = async (): Promise<void> => {
    if (child.exitCode !== null || child.signalCode !== null) return;
    const ended = once(child, 'exit');
    child.kill('SIGKILL');
    await ended;
  };
  opened.add(null, kill);
  const isReady = async (): Promise<boolean> => {
    const signal = AbortSignal.timeout(answerMilliseconds);
    const answer = await fetch(`http://127.0.0.1:${port}/readyz`, { signal }).catch(() => null);
    return answer?.ok === true;
  };
  const untilReady = (): Promise<unknown> =>
    eventually(isReady, () => `the projector at ${port} is not ready`);
  await untilReady();
  return {
    killAndRestart: async () => {
      await kill();
      child = launch();
      await untilReady();
    },
  };
}
