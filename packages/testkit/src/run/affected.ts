import { readFileSync } from 'node:fs';
import { join, posix } from 'node:path';
import { FOLDERS, pathsUnder } from './discover.ts';

const CODE = /\.[cm]?[jt]s$/;

/**
 * A string that names a file of ours: the target of an import, or of the URL of a program that is started
 * as a process of its own.
 */
const MENTION = /['"`](\.{1,2}\/[^'"`\s]+|@counterfoil\/[^'"`\s]+)['"`]/g;

/**
 * The code files that depend on changed ones, the changed ones included: all those from which a chain of
 * imports leads to a change.
 *
 * @param root folder of the checkout
 * @param changed paths relative to the root, with forward slashes
 */
export function affectedBy(root: string, changed: Iterable<string>): ReadonlySet<string> {
  const importers = importersOf(root);
  const affected = new Set(changed);
  // A set hands out members that are added to it while it is walked through.
  for (const path of affected)
    for (const importer of importers.get(path) ?? []) affected.add(importer);
  return affected;
}

/** For every code file of a checkout the files that mention it. */
function importersOf(root: string): ReadonlyMap<string, readonly string[]> {
  const paths = FOLDERS.flatMap((folder) => pathsUnder(root, folder));
  const entries = packageEntries(root, paths);
  const importers = new Map<string, string[]>();
  for (const path of paths.filter((each) => CODE.test(each))) {
    for (const [, mention = ''] of readFileSync(join(root, path), 'utf8').matchAll(MENTION)) {
      const target = entries.get(mention) ?? posix.join(posix.dirname(path), mention);
      importers.set(target, [...(importers.get(target) ?? []), path]);
    }
  }
  return importers;
}

/** Returns the file behind each name that a package of ours exports. */
function packageEntries(root: string, paths: readonly string[]): ReadonlyMap<string, string> {
  const entries = new Map<string, string>();
  for (const path of paths.filter((each) => each.endsWith('/package.json'))) {
    const { name, exports = {} }: { name: string; exports?: Record<string, string> } = JSON.parse(
      readFileSync(join(root, path), 'utf8'),
    );
    for (const [entry, file] of Object.entries(exports)) {
      entries.set(posix.join(name, entry), posix.join(posix.dirname(path), file));
    }
  }
  return entries;
}
