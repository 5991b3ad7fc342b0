import { accessSync, constants, statSync } from 'node:fs';
import { delimiter, join } from 'node:path';

/** Folders that hold server programs but are often not on the PATH of an ordinary user. */
const EXTRA_FOLDERS = ['/usr/local/sbin', '/usr/local/bin', '/usr/sbin', '/opt/homebrew/bin'];

/**
 * Finds the nats-server program: the one that NATS_SERVER_BIN names, else one on PATH, else the
 * copy that the bootstrap has put into the user's cache.
 *
 * @param {Record<string, string | undefined>} environment usually process.env
 * @returns {string | undefined} an absolute path, or undefined when there is none
 * @throws {Error} when NATS_SERVER_BIN names something that cannot be run
 */
export function findNatsServer(environment) {
  const named = environment.NATS_SERVER_BIN;
  if (named) {
    if (isProgram(named)) return named;
    throw new Error(`NATS_SERVER_BIN is ${named}, which is not a program that can be run`);
  }
  const folders = [...(environment.PATH ?? '').split(delimiter), ...EXTRA_FOLDERS];
  const candidates = folders.filter(Boolean).map((folder) => join(folder, 'nats-server'));
  return [...candidates, cachedNatsServer(environment)].find(isProgram);
}

/**
 * Returns where the bootstrap keeps its own copy of nats-server: in the user's cache, so that every
 * checkout shares it and removing the data folder does not remove it.
 *
 * @param {Record<string, string | undefined>} environment
 * @returns {string} an absolute path; the file need not exist
 */
export function cachedNatsServer(environment) {
  return join(
    environment.XDG_CACHE_HOME || join(environment.HOME || '/tmp', '.cache'),
    'counterfoil',
    `${process.platform}-${process.arch}`,
    'nats-server',
  );
}

function isProgram(file) {
  try {
    accessSync(file, constants.X_OK);
    return statSync(file).isFile();
  } catch {
    return false;
  }
}
