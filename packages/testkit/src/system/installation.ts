import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { recordedPid } from '@counterfoil/local';
import { eventually } from '../eventually.ts';
import { nodeOptions } from '../node-options.ts';

/**
 * The files in which `counterfoil up` writes down which processes it runs, below its data folder.
 */
const recordFiles = {
  api: 'processes/api.json',
  projector: 'processes/projector.json',
  webhooks: 'processes/webhooks.json',
  nats: 'nats/process.json',
  'event gateway': 'event-gateway/process.json',
  postgres: 'postgres/process.json',
  'event store': 'eventstore/process.json',
} as const;

/** A process that `counterfoil up` starts and starts again when it dies. */
export type ProcessName = keyof typeof recordFiles;
export const processNames = Object.keys(recordFiles) as readonly ProcessName[];

/** The real thing: `counterfoil up` on a folder, as a process with its children. */
export interface Installation {
  readonly baseUrl: string;
  readonly apiKey: string;
  readonly eventStoreUrl: string;
  readonly databaseUrl: string;
  readonly natsUrl: string;
  /** Pid of `counterfoil up` itself. */
  readonly pid: number;
  /** Pid of one of its processes; undefined while that one does not run. */
  pidOf(name: ProcessName): number | undefined;
  /** Ends `counterfoil up` with SIGKILL, if it runs, and resolves when it has ended. */
  kill(): Promise<void>;
}

interface InstallationOptions {
  /** The data folder: a second start on it goes on where the first one was. */
  readonly folder: string;
  readonly port: number;
  /** Environment variables beside those of this process. */
  readonly settings: Readonly<Record<string, string>>;
}

/** A start takes some ten seconds, and many times that on a machine that is busy with other things. */
const startMilliseconds = 600_000;
const outputMaximum = 10_000;

/** The settings that a developer may have for an installation on the same machine. */
const foreignSettings = [
  'EVENTSTORE_URL',
  'DATABASE_URL',
  'NATS_URL',
  'EVENT_GATEWAY_URL',
  'COUNTERFOIL_SECRET_KEY',
];

/** Starts an installation and waits until it answers requests. Throws with its output if not. */
export async function startInstallation(options: InstallationOptions): Promise<Installation> {
  const { folder } = options;
  const child = launch(options);
  const output = collect(child);
  const ended = once(child, 'exit');
  const demo = await eventually(
    () => {
      if (child.exitCode !== null) throw new Error(`counterfoil up has ended: ${output()}`);
      const found = readJson(join(folder, 'demo.json'));
      return found !== null && found.pid === child.pid && found;
    },
    () => `counterfoil up is not ready: ${output()}`,
    startMilliseconds,
  ).catch(async (error: unknown) => {
    child.kill('SIGKILL');
    throw error;
  });
  return {
    baseUrl: String(demo.base_url),
    apiKey: String(demo.api_key),
    eventStoreUrl: String(demo.eventstore_url),
    databaseUrl: String(demo.database_url),
    natsUrl: String(demo.nats_url),
    pid: Number(demo.pid),
    pidOf: (name) => recordedPid(join(folder, recordFiles[name])),
    kill: async () => {
      child.kill('SIGKILL');
      await ended;
    },
  };
}

function launch({ folder, port, settings }: InstallationOptions): ChildProcess {
  const inherited = Object.entries(process.env).filter(([name]) => !foreignSettings.includes(name));
  const main = fileURLToPath(import.meta.resolve('@counterfoil/cli'));
  return spawn(process.execPath, [...nodeOptions, main, 'up'], {
    env: {
      ...Object.fromEntries(inherited),
      HOST: '127.0.0.1',
      PORT: String(port),
      COUNTERFOIL_DATA: folder,
      ...settings,
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
}

/** Keeps the end of a process's output, for when something goes wrong. */
function collect(child: ChildProcess): () => string {
  let text = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream?.on('data', (chunk: Buffer) => {
      text = (text + chunk.toString()).slice(-outputMaximum);
    });
  }
  return () => text;
}

/** Files are renamed into place, so one that is there is whole; it may go at any moment. */
function readJson(file: string): Record<string, unknown> | null {
  if (!existsSync(file)) return null;
  try {
    return JSON.parse(readFileSync(file, 'utf8'));
  } catch {
    return null;
  }
}
