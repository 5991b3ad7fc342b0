import { mkdirSync, rmSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { startEventStoreProcess } from '@counterfoil/embedded-eventstore';
import { batchLauncher } from './batch-work.ts';
import { SERVER_RECORD } from './data-folder.ts';
import type { ProcessExit } from './guarded-process.ts';
import type { LocalServer } from './local-server.ts';
import { settlePredecessor, writeProcessRecord } from './process-record.ts';

export interface EventStoreOptions {
  /** Folder for everything this server keeps; created when absent. */
  readonly directory: string;
  /** Default: a free one. */
  readonly port?: number;
}

const STOP_LIMIT_MS = 20_000;

/**
 * Starts the embedded event store on 127.0.0.1. It ends by itself when the calling process ends.
 *
 * @throws {AlreadyRunningError} when a living process runs a server on this folder
 */
export async function startEventStore(options: EventStoreOptions): Promise<LocalServer> {
  const directory = resolve(options.directory);
  const record = join(directory, SERVER_RECORD);
  const data = join(directory, 'data');
  mkdirSync(data, { recursive: true, mode: 0o700 });
  await settlePredecessor(record);

  let tellExit: (exit: ProcessExit) => void = () => undefined;
  const exited = new Promise<ProcessExit>((settle) => {
    tellExit = (exit) => {
      rmSync(record, { force: true });
      settle(exit);
    };
  });
  const server = await startEventStoreProcess({
    directory: data,
    launcher: batchLauncher,
    ...(options.port === undefined ? {} : { port: options.port }),
    onExit: (exit) => tellExit(exit),
  });
  writeProcessRecord(record, server.pid, 'SIGTERM', STOP_LIMIT_MS);
  return {
    url: server.connectionString,
    port: server.port,
    pid: server.pid,
    exited,
    stop: async () => {
      await server.stop();
      await exited;
    },
    kill: async () => {
      server.kill();
      await exited;
    },
  };
}
