import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { areDependenciesCurrent, installDependencies } from './dependencies.mjs';
import { findNatsServer } from './nats-server.mjs';
import { findNode } from './node.mjs';

/** The time that a second run waits for a first one that is still installing. */
const WAIT_LIMIT_MS = 15 * 60 * 1000;

/**
 * Installs what is missing, the npm dependencies and, unless NATS_URL names a server to use, the
 * nats-server program, and prints the path of the Node that runs the programs. Costs only a few file
 * reads when everything is there.
 *
 * @param {URL} rootUrl the folder of the checkout
 * @param {Record<string, string | undefined>} environment usually process.env
 * @returns {Promise<number>} the exit code: 0 when ready, 1 when something could not be had; the
 *   reason has then been printed
 */
export async function prepare(rootUrl, environment) {
  const root = fileURLToPath(rootUrl);
  try {
    if (!isReady(root, environment)) await prepareUnderLock(root, environment);
    const node = findNode(root, environment);
    if (node === undefined) throw new Error(NO_NODE);
    console.log(node);
    return 0;
  } catch (error) {
    say(error instanceof Error ? error.message : String(error));
    return 1;
  }
}

const NO_NODE =
  'npm has left out node-linux-…, an optional dependency, which is the Node 24 that is needed. ' +
  'Set no omit=optional for npm, or put Node 24 on PATH.';

function isReady(root, environment) {
  return hasDependencies(root, environment) && hasNats(environment);
}

function hasDependencies(root, environment) {
  return findNode(root, environment) !== undefined && areDependenciesCurrent(root);
}

function hasNats(environment) {
  return Boolean(environment.NATS_URL) || findNatsServer(environment) !== undefined;
}

async function prepareUnderLock(root, environment) {
  // Loaded here because the usual run, which finds everything in place, does not need them.
  const { acquireProcessLock } = await import('./process-lock.mjs');
  const { obtainNatsServer } = await import('./nats-server-install.mjs');

  const folder = join(root, '.counterfoil');
  mkdirSync(folder, { recursive: true });
  const lock = await waitForLock(() => acquireProcessLock(join(folder, 'bootstrap.lock')));
  try {
    if (!hasDependencies(root, environment)) await installDependencies(root, environment, say);
    if (!hasNats(environment)) await obtainNatsServer(environment, say);
  } finally {
    lock.release();
  }
}

async function waitForLock(acquire) {
  const deadline = Date.now() + WAIT_LIMIT_MS;
  let isAnnounced = false;
  for (;;) {
    const lock = acquire();
    if (lock.acquired) return lock;
    if (Date.now() > deadline) {
      throw new Error(
        `process ${lock.pid} has been installing for too long; stop it and try again`,
      );
    }
    if (!isAnnounced) say(`waiting for process ${lock.pid}, which is installing`);
    isAnnounced = true;
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}

/** Progress goes to stderr, so that the output of the command that follows stays its own. */
function say(line) {
  console.error(`counterfoil: ${line}`);
}
