import { createHash } from 'node:crypto';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const INSTALL_LIMIT_MS = 15 * 60 * 1000;

/**
 * Tells whether node_modules is what package-lock.json asks for. The answer is remembered as a hash
 * in node_modules/.counterfoil-lock, so that asking again costs two file reads.
 *
 * @param {string} root folder of the checkout
 * @returns {boolean} false when an install is needed
 */
export function areDependenciesCurrent(root) {
  const fingerprint = fingerprintOf(root);
  if (readText(stampPath(root)) === fingerprint) return true;
  // Somebody may have installed by hand. npm writes its own record of what it put in place as its
  // last step, so a record that agrees with the lock file and with the folders that are there means
  // that the work is done already.
  if (!isSatisfiedByHand(root)) return false;
  writeFileSync(stampPath(root), fingerprint);
  return true;
}

/**
 * Runs `npm ci` and remembers its success.
 *
 * @param {string} root folder of the checkout
 * @param {Record<string, string | undefined>} environment
 * @param {(line: string) => void} say prints one line of progress
 */
export async function installDependencies(root, environment, say) {
  const { runCommand } = await import('./run-command.mjs');
  say('installing the dependencies with npm ci');
  // npm tells its scripts where it is itself; that one fits this Node, one found on PATH may not.
  const npm = environment.npm_execpath;
  const [command, leading] = npm?.endsWith('.js') ? [process.execPath, [npm]] : ['npm', []];
  const outcome = await runCommand(command, [...leading, 'ci', '--no-audit', '--no-fund'], {
    cwd: root,
    environment,
    limitMs: INSTALL_LIMIT_MS,
  });
  if (!outcome.succeeded) throw new Error(`npm ci failed.\n${outcome.output}`);
  writeFileSync(stampPath(root), fingerprintOf(root));
}

function stampPath(root) {
  return join(root, 'node_modules', '.counterfoil-lock');
}

/** Native add-ons depend on the platform. They do not on the version of Node: they use Node-API. */
function fingerprintOf(root) {
  return createHash('sha256')
    .update(`${process.platform} ${process.arch}\0`)
    .update(readFileSync(join(root, 'package-lock.json')))
    .update('\0')
    .update(readFileSync(join(root, 'package.json')))
    .digest('hex');
}

function readText(file) {
  return existsSync(file) ? readFileSync(file, 'utf8') : undefined;
}

function isSatisfiedByHand(root) {
  const installedText = readText(join(root, 'node_modules', '.package-lock.json'));
  if (installedText === undefined) return false;
  const installed = JSON.parse(installedText).packages ?? {};
  const wanted = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8')).packages ?? {};
  return Object.entries(wanted)
    .filter(([path]) => path.startsWith('node_modules/') || path.includes('/node_modules/'))
    .every(([path, entry]) => isInstalled(join(root, path), entry, installed[path]));
}

function isInstalled(folder, wanted, installed) {
  // Packages for other platforms are left out by npm and are rightly missing.
  if (installed === undefined) return Boolean(wanted.optional || wanted.devOptional);
  return (
    wanted.version === installed.version &&
    wanted.integrity === installed.integrity &&
    wanted.link === installed.link &&
    existsSync(folder)
  );
}
