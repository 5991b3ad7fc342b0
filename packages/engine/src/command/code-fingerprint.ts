import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';

const isCode = (name: string): boolean =>
  /\.[cm]?[jt]s$/.test(name) && !/\.test\.[jt]s$/.test(name);

/**
 * A fingerprint of all code below folders, by which what was computed with other code is told apart. It
 * changes with every change, whether it matters or not: for a cache that is the safe side.
 *
 * @param folders absolute paths; the order matters, where they are does not
 */
export function codeFingerprint(folders: readonly string[]): string {
  const digest = createHash('sha256').update(process.version);
  for (const folder of folders) {
    const files = readdirSync(folder, { withFileTypes: true, recursive: true })
      .filter((entry) => entry.isFile() && isCode(entry.name))
      .map((entry) => join(entry.parentPath, entry.name))
      .sort();
    for (const file of files) {
      const text = readFileSync(file);
      digest.update(`\n${relative(folder, file)} ${text.length}\n`).update(text);
    }
  }
  return digest.digest('hex');
}
