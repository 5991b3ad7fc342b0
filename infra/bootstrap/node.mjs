import { spawnSync } from 'node:child_process';
import { accessSync, constants, realpathSync } from 'node:fs';
import { delimiter, join, sep } from 'node:path';

/** From this version on, Node runs TypeScript by itself and prints no warning about it. */
const MINIMUM = [24, 3];

/** The platforms whose Node comes with the dependencies, as an optional package for each. */
const PACKAGED = ['linux-x64', 'linux-arm64'];

/**
 * Finds the Node that runs the programs: the one that runs this, else the first one on PATH, else the
 * one that is installed with the dependencies. npm puts the last one first on PATH, so what lies in a
 * node_modules folder does not count as being there.
 *
 * @param {string} root folder of the checkout
 * @param {Record<string, string | undefined>} environment usually process.env
 * @returns {string | undefined} an absolute path; undefined while the dependencies are missing
 * @throws {Error} with advice when there is none and none comes with the dependencies
 */
export function findNode(root, environment) {
  const running = isSupported(process.versions.node) ? process.execPath : undefined;
  if (running !== undefined && !isDependency(running)) return running;
  const onPath = firstOnPath(environment.PATH ?? '');
  if (onPath !== undefined && isSupported(versionOf(onPath))) return onPath;
  if (running !== undefined) return running;
  const platform = `${process.platform}-${process.arch}`;
  if (!PACKAGED.includes(platform)) {
    throw new Error(
      `needs Node ${MINIMUM.join('.')} or newer on PATH, for example from Homebrew ` +
        '(brew install node@24 && brew link --overwrite node@24) or from https://nodejs.org.',
    );
  }
  const packaged = join(root, 'node_modules', `node-${platform}`, 'bin', 'node');
  return isProgram(packaged) ? packaged : undefined;
}

function firstOnPath(path) {
  return path
    .split(delimiter)
    .map((folder) => join(folder, 'node'))
    .find((file) => isProgram(file) && !isDependency(realpathSync(file)));
}

function isDependency(file) {
  return file.split(sep).includes('node_modules');
}

function versionOf(program) {
  return String(spawnSync(program, ['--version'], { encoding: 'utf8' }).stdout).replace('v', '');
}

function isSupported(version) {
  const [major, minor] = version.split('.').map(Number);
  return major > MINIMUM[0] || (major === MINIMUM[0] && minor >= MINIMUM[1]);
}

function isProgram(file) {
  try {
    accessSync(file, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
