import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { freePort } from '@counterfoil/local';
import { eventually } from '../eventually.ts';
import { nodeOptions } from '../node-options.ts';
import type { Stack } from '../stack.ts';
import { type CutLink, startCutLink } from './cut-link.ts';
import type { Openings } from './openings.ts';

/** A process of the api beside others, on the servers of a stack. */
export interface ApiProcess {
  readonly baseUrl: string;
  /** Its link to NATS. */
  readonly nats: CutLink;
  signal(name: NodeJS.Signals): void;
  /** Ends it with SIGKILL, and starts another one at the same address. Resolves when that one is ready. */
  killAndRestart(): Promise<void>;
  /** The sum of a counter of its metrics; 0 while it does not answer. */
  counter(name: string): Promise<number>;
}

/** Nobody is asked who stands still, so this is only kept by a process that is being killed. */
const answerMilliseconds = 10_000;
const program = fileURLToPath(import.meta.resolve('@counterfoil/api/main'));

/** Starts a process of the api, which ends with the others of a test. */
export async function startApiProcess(stack: Stack, opened: Openings): Promise<ApiProcess> {
  const nats = opened.add(await startCutLink(Number(new URL(stack.natsUrl).port)), (link) =>
    link.close(),
  );
  const port = await freePort();
  const baseUrl = `http://127.0.0.1:${port}`;
  const env = {
    ...process.env,
    EVENTSTORE_URL: stack.eventStoreUrl,
    DATABASE_URL: stack.databaseUrl,
    NATS_URL: `nats://127.0.0.1:${nats.port}`,
    COUNTERFOIL_SECRET_KEY: stack.secretKey,
    PORT: String(port),
    RATE_LIMIT_PER_SECOND: '1000000',
    LOG_LEVEL: 'silent',
    // As `counterfoil up` has it: a wallet with a long history is there soon after a start.
    SNAPSHOT_FOLDER: join(stack.directory, 'snapshots'),
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
  const get = (path: string): Promise<Response | null> =>
    fetch(baseUrl + path, { signal: AbortSignal.timeout(answerMilliseconds) }).catch(() => null);
  const untilReady = (): Promise<unknown> =>
    eventually(
      async () => (await get('/readyz'))?.ok,
      () => `${baseUrl} is not ready`,
    );
  await untilReady();
  return {
    baseUrl,
    nats,
    signal: (name) => void child.kill(name),
    killAndRestart: async () => {
      await kill();
      child = launch();
      await untilReady();
    },
    counter: async (name) => {
      const text = (await (await get('/metrics'))?.text().catch(() => '')) ?? '';
      const lines = text.split('\n').filter((line) => line.startsWith(name));
      return lines.reduce((sum, line) => sum + Number(line.split(' ').at(-1)), 0);
    },
  };
}
