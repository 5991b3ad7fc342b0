import { watch } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { affectedBy } from './affected.ts';
import { FOLDERS, type TestFile } from './discover.ts';

/** Editors and git write several files, or one file several times; a run begins when that is over. */
const QUIET_MS = 100;
const CODE = /\.[cm]?[jt]s$/;

/**
 * Runs test files, and runs again those that a change of a code file affects, until the signal. A change
 * during a run ends it: what it had to run is run again with what the change affects.
 *
 * @param chosen gives the test files in question, also those that are new
 * @param run runs test files until it is told to stop; gives whether it came to its end
 */
export async function runOnChanges(
  root: string,
  chosen: () => readonly TestFile[],
  run: (files: readonly TestFile[], signal: AbortSignal) => Promise<boolean>,
  signal: AbortSignal,
): Promise<void> {
  const changes = changesIn(root, signal);
  let due = chosen();
  while (!signal.aborted) {
    const change = new AbortController();
    const next = changes.next().finally(() => change.abort());
    const isComplete =
      due.length === 0 || (await run(due, AbortSignal.any([signal, change.signal])));
    if (isComplete) console.log('Waiting for a change; Ctrl-C ends it.');
    const affected = affectedBy(root, await next);
    const left = new Set(isComplete ? [] : due.map(({ path }) => path));
    due = chosen().filter(({ path }) => affected.has(path) || left.has(path));
  }
}

/** The code files that are changed from now on. */
function changesIn(root: string, signal: AbortSignal) {
  const changed = new Set<string>();
  let tell: () => void = () => undefined;
  signal.addEventListener('abort', () => tell(), { once: true });
  for (const folder of FOLDERS) {
    try {
      watch(join(root, folder), { recursive: true, signal }, (_, name) => {
        if (name === null || !CODE.test(name) || name.includes('node_modules')) return;
        changed.add(`${folder}/${name}`);
        tell();
      });
    } catch {
      // Not every checkout has every folder.
    }
  }
  return {
    /** Resolves with the changes since the last call, as soon as there are some; with none at the end. */
    next: async (): Promise<readonly string[]> => {
      await new Promise<void>((resolve) => {
        tell = resolve;
        if (changed.size > 0 || signal.aborted) resolve();
      });
      await pause(QUIET_MS, undefined, { signal }).catch(() => undefined);
      const paths = [...changed];
      changed.clear();
      return paths;
    },
  };
}
