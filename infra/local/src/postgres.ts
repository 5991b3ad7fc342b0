import { randomBytes } from 'node:crypto';
import {
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { join, resolve } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import pg from 'pg';
import { copyCluster, templateOfRun } from './cluster-template.ts';
import { FOLDER_MODE, SERVER_RECORD } from './data-folder.ts';
import { type GuardedProcess, spawnGuarded } from './guarded-process.ts';
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
import {
  initialiseCluster,
  locatePostgres,
  POSTGRES_ENVIRONMENT,
  type PostgresProgram,
} from './postgres-program.ts';
import { isRunning, settlePredecessor } from './process-record.ts';

export interface PostgresOptions {
  /** Folder for everything this server keeps; created when absent. */
  readonly directory: string;
  /** Default: a free one. */
  readonly port?: number;
  /** False turns flushing to disk off, for tests whose data may be lost. Default true. */
  readonly durable?: boolean;
}

/** The application's role and database have the same name. The role is no superuser. */
const NAME = 'counterfoil';
const READY_LIMIT_MS = 120_000;
const STOP_LIMIT_MS = 30_000;

/** After a kill, the children of the dead server take a moment to notice and to let go. */
const LAUNCH_ATTEMPTS_MAX = 50;
const LAUNCH_PAUSE_MS = 100;

/**
 * Starts a PostgreSQL server on 127.0.0.1 with a database `counterfoil`, owned by a role of that name
 * which may create databases and roles but is no superuser, so that row-level security binds it. The
 * first start on a folder creates the cluster; later ones continue it, also after a crash.
 *
 * @throws {ServerStartError} with what PostgreSQL said
 * @throws {AlreadyRunningError} when a living process runs a server on this folder
 */
export async function startPostgres(options: PostgresOptions): Promise<LocalServer> {
  const directory = resolve(options.directory);
  const durable = options.durable ?? true;
  const data = join(directory, 'data');
  mkdirSync(directory, { recursive: true, mode: FOLDER_MODE });
  await settlePredecessor(join(directory, SERVER_RECORD));

  if (!existsSync(data)) {
    const template = durable ? undefined : templateOfRun();
    if (template === undefined) await createCluster(directory, durable);
    else await copyCluster(template, directory, (draft) => createCluster(draft, durable));
  }
  const program = locatePostgres(directory, data);
  const password = rememberedPassword(directory);

  const { port, server } = await onPort(options.port, async (candidate) => ({
    port: candidate,
    server: await launchUntilReady(program, directory, candidate, password, durable),
  }));
  try {
    await ensureDatabase(port, password);
  } catch (error) {
    await server.stop();
    throw error;
  }
  return localServer(server, {
    url: `postgres://${NAME}:${password}@127.0.0.1:${port}/${NAME}`,
    port,
  });
}

function rememberedPassword(directory: string): string {
  const file = join(directory, 'password');
  if (!existsSync(file)) writeFileSync(file, randomBytes(24).toString('hex'), { mode: 0o600 });
  return readFileSync(file, 'utf8');
}

/** The cluster is made under another name and renamed when whole: a start may be cut off anywhere. */
async function createCluster(directory: string, durable: boolean): Promise<void> {
  const data = join(directory, 'data');
  const program = locatePostgres(directory, data);
  const draft = join(directory, 'data.new');
  const passwordFile = join(directory, 'password.new');
  rmSync(draft, { recursive: true, force: true });
  mkdirSync(draft, { mode: 0o700 });
  writeFileSync(passwordFile, rememberedPassword(directory), { mode: 0o600 });
  if (program.account !== undefined) {
    chmodSync(directory, FOLDER_MODE);
    for (const path of [draft, passwordFile]) {
      chownSync(path, program.account.uid, program.account.gid);
    }
  }
  await initialiseCluster(program, draft, passwordFile, durable);
  rmSync(passwordFile);
  renameSync(draft, data);
}

async function launchUntilReady(
  program: PostgresProgram,
  directory: string,
  port: number,
  password: string,
  durable: boolean,
): Promise<GuardedProcess> {
  const log = join(directory, 'postgres.log');
  setAsideLongLog(log);
  for (let attempt = 1; ; attempt += 1) {
    removeStaleServerFile(join(directory, 'data', 'postmaster.pid'));
    const mark = logLength(log);
    const server = launch(program, directory, port, durable, log);
    const failure = await waitUntilReady(server, READY_LIMIT_MS, () =>
      withClient(port, password, 'postgres', async () => undefined).then(() => undefined, String),
    );
    if (failure === undefined) return server;
    const said = logSince(log, mark);
    const isHeldByPredecessor = said.includes('pre-existing shared memory block');
    if (!isHeldByPredecessor || attempt >= LAUNCH_ATTEMPTS_MAX) {
      throw new ServerStartError(`PostgreSQL did not start (${failure}):\n${said}`);
    }
    await pause(LAUNCH_PAUSE_MS);
  }
}

/**
 * A killed server leaves the file that names its process. PostgreSQL refuses to start when any process
 * has that pid by now, which is common in containers; here it is known that no server of ours runs.
 */
function removeStaleServerFile(file: string): void {
  if (!existsSync(file)) return;
  const pid = Number(readFileSync(file, 'utf8').split('\n')[0]);
  if (isRunning(pid) && isPostgres(pid)) return;
  rmSync(file);
}

function isPostgres(pid: number): boolean {
  const commandFile = `/proc/${pid}/cmdline`;
  // Without /proc it cannot be told; PostgreSQL then decides by itself.
  return !existsSync(commandFile) || readFileSync(commandFile, 'utf8').includes('postgres');
}

function launch(
  program: PostgresProgram,
  directory: string,
  port: number,
  durable: boolean,
  log: string,
): GuardedProcess {
  const settings = [
    'listen_addresses=127.0.0.1',
    'unix_socket_directories=',
    'max_connections=100',
    'timezone=UTC',
    'log_timezone=UTC',
    ...(durable ? [] : ['fsync=off', 'synchronous_commit=off', 'full_page_writes=off']),
  ];
  const [command, ...args] = [
    ...program.prefix,
    program.postgres,
    ...['-D', join(directory, 'data'), '-p', String(port)],
    ...settings.flatMap((setting) => ['-c', setting]),
  ];
  return spawnGuarded({
    command: command ?? program.postgres,
    args,
    env: POSTGRES_ENVIRONMENT,
    cwd: '/',
    account: program.spawnAccount,
    // PostgreSQL's "fast shutdown": cuts connections off, finishes what is committed, flushes.
    stopSignal: 'SIGINT',
    stopLimitMs: STOP_LIMIT_MS,
    output: { file: log },
    recordFile: join(directory, SERVER_RECORD),
  });
}

async function ensureDatabase(port: number, password: string): Promise<void> {
  await withClient(port, password, 'postgres', async (client) => {
    const roles = await client.query('select 1 from pg_roles where rolname = $1', [NAME]);
    if (roles.rowCount === 0) {
      // The password is hexadecimal, made by us; a role's name and password cannot be parameters.
      await client.query(`create role ${NAME} login createdb createrole password '${password}'`);
    }
    const databases = await client.query('select 1 from pg_database where datname = $1', [NAME]);
    if (databases.rowCount === 0) await client.query(`create database ${NAME} owner ${NAME}`);
  });
}

async function withClient(
  port: number,
  password: string,
  user: string,
  action: (client: pg.Client) => Promise<void>,
): Promise<void> {
  const client = new pg.Client({
    ...{ host: '127.0.0.1', port, user, password, database: 'postgres' },
    connectionTimeoutMillis: 5_000,
  });
  // A server that ends while connected reports that here; the caller sees its own failure anyway.
  client.on('error', () => undefined);
  try {
    await client.connect();
    await action(client);
  } finally {
    await client.end().catch(() => undefined);
  }
}
