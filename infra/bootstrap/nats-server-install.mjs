import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  renameSync,
  rmSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { cachedNatsServer, findNatsServer } from './nats-server.mjs';
import { runCommand } from './run-command.mjs';

const STEP_LIMIT_MS = 5 * 60 * 1000;

/** The image is built from scratch, so its one program needs no libraries and runs on any Linux. */
const DOCKER_IMAGE = 'nats:2.10.24';
const DOCKER_PROGRAM = '/nats-server';

const ADVICE =
  'nats-server is needed and could not be had. Do one of these and try again:\n' +
  '  - install it: apt-get install nats-server, brew install nats-server, or from https://nats.io/download\n' +
  '  - name a program that you have: NATS_SERVER_BIN=/path/to/nats-server\n' +
  '  - name a running server with JetStream: NATS_URL=nats://127.0.0.1:4222';

/**
 * Gets nats-server by the first way that works: Debian's package unpacked into the user's cache
 * (needs no root, and starts no system service, which installing the package would), Homebrew, or
 * the program copied out of the Docker image.
 *
 * @param {Record<string, string | undefined>} environment
 * @param {(line: string) => void} say prints one line of progress
 * @throws {Error} with advice when no way works
 */
export async function obtainNatsServer(environment, say) {
  const failures = [];
  for (const [name, attempt] of [
    ['apt-get', fromDebianPackage],
    ['brew', fromHomebrew],
    ['docker', fromDockerImage],
  ]) {
    if (!isOnPath(name, environment)) continue;
    const failure = await attempt(environment, say);
    if (failure === undefined) return;
    failures.push(`${name}: ${failure}`);
  }
  throw new Error([ADVICE, ...failures].join('\n'));
}

async function fromDebianPackage(environment, say) {
  say('fetching nats-server with apt-get, into the cache of this user');
  return await withWorkFolder(environment, async (folder) => {
    const run = runnerIn(folder, environment);
    const lists = privateListOptions(folder);
    // The lists of the machine may be missing or out of date; only root may renew those, so the
    // second attempt keeps lists of its own.
    let outcome = await run('apt-get', [...SANDBOX, 'download', 'nats-server']);
    if (!outcome.succeeded) {
      await run('apt-get', [...SANDBOX, ...lists, 'update']);
      outcome = await run('apt-get', [...SANDBOX, ...lists, 'download', 'nats-server']);
    }
    const archive = readdirSync(folder).find((name) => name.endsWith('.deb'));
    if (!outcome.succeeded || archive === undefined) return outcome.output;
    const unpacked = await run('dpkg-deb', ['--extract', archive, 'unpacked']);
    if (!unpacked.succeeded) return unpacked.output;
    const program = ['usr/sbin', 'usr/bin']
      .map((place) => join(folder, 'unpacked', place, 'nats-server'))
      .find((path) => existsSync(path));
    return program === undefined
      ? 'the package holds no program'
      : await keep(program, environment);
  });
}

/** As root, apt-get would download as another user, who may not enter our folder. */
const SANDBOX = ['-qq', '-o', 'APT::Sandbox::User=root'];

function privateListOptions(folder) {
  const state = join(folder, 'state');
  const cache = join(folder, 'cache');
  mkdirSync(join(state, 'lists', 'partial'), { recursive: true });
  mkdirSync(join(cache, 'archives', 'partial'), { recursive: true });
  return ['-o', `Dir::State=${state}`, '-o', `Dir::State::status=/var/lib/dpkg/status`].concat([
    '-o',
    `Dir::Cache=${cache}`,
  ]);
}

async function fromHomebrew(environment, say) {
  say('installing nats-server with Homebrew');
  const outcome = await runCommand('brew', ['install', 'nats-server'], {
    environment,
    limitMs: STEP_LIMIT_MS,
  });
  if (!outcome.succeeded) return outcome.output;
  return findNatsServer(environment) === undefined ? 'brew installed no program' : undefined;
}

async function fromDockerImage(environment, say) {
  // What the image holds is a Linux program; elsewhere it would not run outside a container.
  if (process.platform !== 'linux') return 'its image holds a program for Linux only';
  say(`copying nats-server out of the Docker image ${DOCKER_IMAGE}`);
  return await withWorkFolder(environment, async (folder) => {
    const run = runnerIn(folder, environment);
    const container = `counterfoil-nats-${process.pid}`;
    const created = await run('docker', ['create', '--name', container, DOCKER_IMAGE]);
    if (!created.succeeded) return created.output;
    const copied = await run('docker', ['cp', `${container}:${DOCKER_PROGRAM}`, 'nats-server']);
    await run('docker', ['rm', container]);
    return copied.succeeded ? await keep(join(folder, 'nats-server'), environment) : copied.output;
  });
}

/** Tries the program out before moving it into place, so that the cache never holds a broken one. */
async function keep(program, environment) {
  chmodSync(program, 0o755);
  const outcome = await runCommand(program, ['--version'], { environment, limitMs: STEP_LIMIT_MS });
  if (!outcome.succeeded) return outcome.output;
  renameSync(program, cachedNatsServer(environment));
  return undefined;
}

async function withWorkFolder(environment, action) {
  const cache = dirname(cachedNatsServer(environment));
  mkdirSync(cache, { recursive: true });
  const folder = mkdtempSync(join(cache, 'fetch-'));
  try {
    return await action(folder);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function runnerIn(cwd, environment) {
  const plain = { ...environment, LC_ALL: 'C', DEBIAN_FRONTEND: 'noninteractive' };
  return (command, commandArguments) =>
    runCommand(command, commandArguments, { cwd, environment: plain, limitMs: STEP_LIMIT_MS });
}

function isOnPath(name, environment) {
  const folders = (environment.PATH ?? '').split(':').filter(Boolean);
  return folders.some((folder) => existsSync(join(folder, name)));
}
