import { readdirSync } from 'node:fs';
import { join } from 'node:path';

/**
 * How much a test file needs: nothing (`x.test.ts`, `x.property.test.ts`), the throw-away servers
 * (`x.it.test.ts`), or much time (`x.long.test.ts`, which runs only when asked for).
 */
export type Level = 'unit' | 'it' | 'long';

export interface TestFile {
  /** Path relative to the root, with forward slashes. */
  readonly path: string;
  readonly level: Level;
}

/** Folders that hold code of ours. */
const FOLDERS = ['packages', 'apps', 'infra', 'docs'];
const LEVELS: readonly string[] = ['unit', 'it', 'long'];

/** What the command `tidy` stands for: the test of the whole tree and the tests of its rules. */
const TIDY_PATH = 'packages/testkit/src/tidy';

/** All test files of a checkout, in a stable order. */
export function findTestFiles(root: string): TestFile[] {
  const paths = FOLDERS.flatMap((folder) => pathsUnder(root, folder));
  return paths
    .filter((path) => path.endsWith('.test.ts'))
    .sort()
    .map((path) => ({ path, level: levelOf(path) }));
}

/**
 * The files that a command line asks for.
 *
 * @param words levels (`unit`, `it`, `long`), `tidy`, or parts of paths; none means everything but
 *   the long tests. A file that any word asks for is chosen. A part of a path chooses a long test
 *   only when it says `.long`.
 */
export function selectFiles(files: readonly TestFile[], words: readonly string[]): TestFile[] {
  if (words.length === 0) return files.filter((file) => file.level !== 'long');
  return files.filter((file) => words.some((word) => isAskedFor(file, word)));
}

function isAskedFor(file: TestFile, word: string): boolean {
  if (LEVELS.includes(word)) return file.level === word;
  if (word === 'tidy') return file.path.startsWith(TIDY_PATH);
  return file.path.includes(word) && (file.level !== 'long' || word.includes('.long'));
}

function levelOf(path: string): Level {
  if (path.endsWith('.it.test.ts')) return 'it';
  return path.endsWith('.long.test.ts') ? 'long' : 'unit';
}

function pathsUnder(root: string, folder: string): string[] {
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
