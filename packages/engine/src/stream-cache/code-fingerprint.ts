import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join, relative, sep } from 'node:path';

/** Sources, and the manifests that say which versions of others' code they use; no tests. */
const isCode = (name: string): boolean =>
  name === 'package.json' || (/\.[cm]?[jt]s$/.test(name) && !/\.test\.[jt]s$/.test(name));

/**
 * A fingerprint of packages, which tells results of other code apart. It changes with every change,
 * whether it matters or not: for a cache that is the safe side.
 *
 * @param folders absolute paths of packages; the order matters, where they are does not
 */
export function codeFingerprint(folders: readonly string[]): string {
  const digest = createHash('sha256').update(process.version);
  for (const folder of folders) {
    const files = readdirSync(folder, { withFileTypes: true, recursive: true })
      .filter((entry) => entry.isFile() && isCode(entry.name))
      .map((entry) => relative(folder, join(entry.parentPath, entry.name)))
      .filter((path) => !path.split(sep).includes('node_modules'))
      .sort();
    for (const path of files) {
      const text = readFileSync(join(folder, path));
      digest.update(`\n${path} ${text.length}\n`).update(text);
    }
  }
  return digest.digest('hex');
}
