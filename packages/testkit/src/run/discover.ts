import { readdirSync } from 'node:fs';
import { join } from 'node:path';

/**
 * The needs of a test file: nothing (`*.test.ts`, `*.property.test.ts`), throw-away servers or processes
 * of its own (`*.it.test.ts`), or much time (`*.long.test.ts`, which runs only when it is asked for).
 */
export type Level = 'unit' | 'it' | 'long';

export interface TestFile {
  /** Path relative to the root, with forward slashes. */
  readonly path: string;
  readonly level: Level;
}

/** Folders that hold code of ours. */
export const FOLDERS = ['packages', 'apps', 'infra', 'docs'];

/** The words of a command line that choose by kind; every other word is a part of a path. */
const KINDS: Readonly<Record<string, (file: TestFile) => boolean>> = {
  unit: ({ level }) => level === 'unit',
  it: ({ level }) => level === 'it',
  long: ({ level }) => level === 'long',
  // The test of the whole tree and the tests of its rules.
  tidy: ({ path }) => path.startsWith('packages/testkit/src/tidy'),
};

/** All test files of a checkout, in a stable order. */
export function findTestFiles(root: string): TestFile[] {
  return FOLDERS.flatMap((folder) => pathsUnder(root, folder))
    .filter((path) => path.endsWith('.test.ts'))
    .sort()
    .map((path) => ({ path, level: levelOf(path) }));
}

/**
 * The files that a command line asks for: those of a kind that it names, whose path contains all of the
 * other words. A word may give several parts with commas between, of which the path contains one.
 *
 * @param words without a kind among them, long tests are chosen only by a word that says `.long`
 */
export function selectFiles(files: readonly TestFile[], words: readonly string[]): TestFile[] {
  const kinds = words.flatMap((word) => KINDS[word] ?? []);
  const parts = words.filter((word) => !(word in KINDS)).map((word) => word.split(','));
  const wantsLong = kinds.length > 0 || words.some((word) => word.includes('.long'));
  return files.filter(
    (file) =>
      (wantsLong || file.level !== 'long') &&
      (kinds.length === 0 || kinds.some((isOfKind) => isOfKind(file))) &&
      parts.every((some) => some.some((part) => file.path.includes(part))),
  );
}

function levelOf(path: string): Level {
  if (path.endsWith('.it.test.ts')) return 'it';
  return path.endsWith('.long.test.ts') ? 'long' : 'unit';
}

/** The files under a folder of the root, but hidden and installed ones; none when there is no folder. */
export function pathsUnder(root: string, folder: string): string[] {
  let entries: ReturnType<typeof readFolder>;
  try {
    entries = readFolder(join(root, folder));
  } catch {
    // Not every checkout has every folder.
    return [];
  }
  return entries.flatMap((entry) => {
    const path = `${folder}/${entry.name}`;
    if (entry.isFile()) return [path];
    const isOurs = entry.name !== 'node_modules' && !entry.name.startsWith('.');
    return entry.isDirectory() && isOurs ? pathsUnder(root, path) : [];
  });
}

function readFolder(path: string) {
  return readdirSync(path, { withFileTypes: true });
}
