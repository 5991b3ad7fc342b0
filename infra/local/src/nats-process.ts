import { randomBytes } from 'node:crypto';
import { mkdirSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { join, resolve } from 'node:path';
import { findNatsServer } from '../../bootstrap/nats-server.mjs';
import { SERVER_RECORD } from './data-folder.ts';
import { spawnGuarded } from './guarded-process.ts';
import {
  type LocalServer,
  localServer,
  logLength,
  logSince,
  ServerStartError,
  setAsideLongLog,
  waitUntilReady,
} from './local-server.ts';
import { onPort } from './ports.ts';
import { settlePredecessor } from './process-record.ts';

/** The way to start a nats-server. */
export interface NatsProcess {
  /** Folder for everything this server keeps; created when absent. */
  readonly directory: string;
  /** Default: a free one. */
  readonly port: number | undefined;
  /** The configuration without the name of the server. */
  readonly configuration: (directory: string, port: number) => string;
}

const READY_LIMIT_MS = 60_000;
const STOP_LIMIT_MS = 20_000;
const PROBE_LIMIT_MS = 2_000;

/**
 * Starts a nats-server on 127.0.0.1 and waits until it takes connections.
 *
 * @throws {ServerStartError} when there is no nats-server, or with what it said
 * @throws {AlreadyRunningError} when a living process runs a server on this folder
 */
export async function startNatsProcess(options: NatsProcess): Promise<LocalServer> {
  const program = findNatsServer(process.env);
  if (program === undefined) {
    throw new ServerStartError('there is no nats-server; run: node infra/bootstrap.mjs');
  }
  const directory = resolve(options.directory);
  mkdirSync(directory, { recursive: true, mode: 0o700 });
  await settlePredecessor(join(directory, SERVER_RECORD));

  return await onPort(options.port, (port) =>
    launchUntilReady(program, directory, port, options.configuration(directory, port)),
  );
}

async function launchUntilReady(
  program: string,
  directory: string,
  port: number,
  configuration: string,
): Promise<LocalServer> {
  // A name made for this start tells our server from another one that may sit on the same port.
  const serverName = `counterfoil-${randomBytes(6).toString('hex')}`;
  const configFile = join(directory, 'nats-server.conf');
  const content = `# Written again at every start.\nserver_name: ${serverName}\n${configuration}`;
  writeFileSync(configFile, content, { mode: 0o600 });

  const log = join(directory, 'nats-server.log');
  setAsideLongLog(log);
  const mark = logLength(log);
  const server = spawnGuarded({
    command: program,
    args: ['--config', configFile],
    env: process.env,
    cwd: directory,
    stopSignal: 'SIGTERM',
    stopLimitMs: STOP_LIMIT_MS,
    output: { file: log },
    recordFile: join(directory, SERVER_RECORD),
  });
  // The server accepts connections only after it has recovered its streams.
  const failure = await waitUntilReady(server, READY_LIMIT_MS, async () =>
    (await isAnswering(port, serverName)) ? undefined : '',
  );
  if (failure !== undefined) {
    throw new ServerStartError(`nats-server did not start (${failure}):\n${logSince(log, mark)}`);
  }
  return localServer(server, { url: `nats://127.0.0.1:${port}`, port });
}

/** The first line that a NATS server sends is INFO and a description of itself. */
function isAnswering(port: number, serverName: string): Promise<boolean> {
  return new Promise((settle) => {
    let received = '';
    const socket = connect({ host: '127.0.0.1', port });
    const finish = (answer: boolean): void => {
      socket.destroy();
      settle(answer);
    };
    socket.setTimeout(PROBE_LIMIT_MS, () => finish(false));
    socket.on('error', () => finish(false));
    socket.on('close', () => settle(false));
    socket.setEncoding('utf8').on('data', (chunk) => {
      received += chunk;
      const end = received.indexOf('\r\n');
      if (end >= 0) finish(isOurs(received.slice(0, end), serverName));
    });
  });
}

function isOurs(line: string, serverName: string): boolean {
  if (!line.startsWith('INFO {')) return false;
  const description: unknown = JSON.parse(line.slice('INFO '.length));
  return (
    typeof description === 'object' &&
    description !== null &&
    'server_name' in description &&
    description.server_name === serverName
  );
}
