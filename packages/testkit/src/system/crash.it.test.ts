import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { verify } from '@counterfoil/cli/verify';
import { freePort } from '@counterfoil/local';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { type Caller, caller } from '../caller.ts';
import { eventually } from '../eventually.ts';
import { type Sink, startSink } from '../sink.ts';
import { type Acknowledged, insist, type Movement } from './movements.ts';
import { assertNothingIsLost } from './truth.ts';

const test = suite('kill -9 of each process and of all at once');

/** Where the pid of each process stands, below the data folder. */
const records = {
  api: 'processes/api.json',
  projector: 'processes/projector.json',
  webhooks: 'processes/webhooks.json',
  nats: 'nats/process.json',
  postgres: 'postgres/process.json',
  'event store': 'eventstore/process.json',
} as const;
type ProcessName = keyof typeof records;
const names = Object.keys(records) as ProcessName[];

const walletCount = 3;
/** Movements per wallet around each kill. */
const movementsPerKill = 12;
const restartMilliseconds = 60_000;

interface Demo {
  readonly base_url: string;
  readonly api_key: string;
  readonly nats_url: string;
  readonly database_url: string;
  readonly eventstore_url: string;
  readonly pid: number;
}

const folder = mkdtempSync(join(tmpdir(), 'counterfoil-crash-'));
const main = fileURLToPath(import.meta.resolve('@counterfoil/cli'));
let supervisor: ChildProcess;
let sink: Sink;

const json = (file: string) => JSON.parse(readFileSync(join(folder, file), 'utf8'));
const isAlive = (pid: number): boolean => {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
};

/** The pid of a process that runs; null while there is none. */
const pidOf = (name: ProcessName): number | null => {
  const file = join(folder, records[name]);
  if (!existsSync(file)) return null;
  const { pid } = json(records[name]);
  return isAlive(pid) ? pid : null;
};

/** Starts everything on the same folder and port, and waits until requests are answered. */
async function up(port: number): Promise<Demo> {
  supervisor = spawn(process.execPath, ['--import', import.meta.resolve('tsx'), main, 'up'], {
    env: {
      ...process.env,
      COUNTERFOIL_DATA: folder,
      PORT: String(port),
      LOG_LEVEL: 'warn',
      WEBHOOK_RETRY_LADDER_MS: Array(50).fill(200).join(','),
      WEBHOOK_SLOW_DOWN_MS: '200',
    },
    stdio: 'ignore',
  });
  const { pid } = supervisor;
  return eventually(
    () => {
      try {
        const demo: Demo = json('demo.json');
        return demo.pid === pid && demo;
      } catch {
        return false;
      }
    },
    () => 'the installation did not start',
    restartMilliseconds,
  );
}

test.before(async () => {
  sink = await startSink();
});
test.after(async () => {
  supervisor.kill('SIGTERM');
  await eventually(() => supervisor.exitCode !== null || supervisor.signalCode !== null);
  await sink.close();
  rmSync(folder, { recursive: true, force: true });
});

const makeWallet = async (api: Caller, name: string): Promise<string> => {
  const customer = await api.ok('POST', '/customers', { external_id: name, name });
  const body = { customer_id: customer.id, currency: 'usd', initial_credits_to_load: '100000' };
  return (await api.ok('POST', '/wallets', body)).id;
};

/** Moves credits in every wallet, one request after the other in each, and kills in the middle. */
async function underLoad(
  api: Caller,
  walletIds: readonly string[],
  round: string,
  kill: () => Promise<void>,
): Promise<Acknowledged[]> {
  const inWallet = async (walletId: string): Promise<Acknowledged[]> => {
    const done: Acknowledged[] = [];
    for (let count = 0; count < movementsPerKill; count += 1) {
      const kind = count % 3 ? 'debit' : 'top-up';
      const movement: Movement = {
        walletId,
        kind,
        credits: '7',
        key: `${round.replace(' ', '_')}_${count}`,
      };
      done.push(await insist(api, movement));
      if (count === 3 && walletId === walletIds[0]) await kill();
    }
    return done;
  };
  return (await Promise.all(walletIds.map(inWallet))).flat();
}

test('what was acknowledged is there once, published once and delivered, and verify is clean', async () => {
  const port = await freePort();
  let demo = await up(port);
  const api = caller(demo.base_url, demo.api_key);
  await api.ok('POST', '/webhooks/endpoints', { url: sink.url });
  const walletIds: string[] = [];
  for (let index = 0; index < walletCount; index += 1) {
    walletIds.push(await makeWallet(api, `crash ${index}`));
  }
  const acknowledged: Acknowledged[] = [];
  for (const name of names) {
    const before = await eventually(() => pidOf(name) ?? false);
    const kill = async () => {
      process.kill(before, 'SIGKILL');
    };
    acknowledged.push(...(await underLoad(api, walletIds, name, kill)));
    await eventually(
      () => (pidOf(name) ?? before) !== before,
      () => `${name} was not started again`,
      restartMilliseconds,
    );
  }

  const killAll = async () => {
    const pids = names.flatMap((name) => pidOf(name) ?? []);
    process.kill(demo.pid, 'SIGKILL');
    for (const pid of pids) if (isAlive(pid)) process.kill(pid, 'SIGKILL');
    await eventually(() => !pids.some(isAlive) && !isAlive(demo.pid));
    demo = await up(port);
  };
  acknowledged.push(...(await underLoad(api, walletIds, 'all', killAll)));

  const known = { caller: api, natsUrl: demo.nats_url, sink, walletIds, acknowledged };
  await assertNothingIsLost(known);
  const lines: string[] = [];
  const urls = {
    eventStoreUrl: demo.eventstore_url,
    databaseUrl: demo.database_url,
    natsUrl: demo.nats_url,
  };
  assert.ok(await verify(urls, (line) => lines.push(line)), lines.join('\n'));
});

test.run();
