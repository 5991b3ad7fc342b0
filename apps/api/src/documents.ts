import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { onceDone } from '@counterfoil/engine';
import { BrokenInvariant } from '@counterfoil/kernel';
import type { Documents } from './print-documents.ts';

const program = fileURLToPath(new URL('./print-documents.ts', import.meta.url));

/** The documents have about a megabyte, and take a slow machine six seconds. */
const programLimits = { maxBuffer: 16 * 1024 ** 2, timeout: 60_000 };

/**
 * Writes the documents of the API, by path, all of them when the first is asked for. They take some seconds of a
 * processor: before the process accepts requests these would be a time without service, and afterwards nobody would be
 * served meanwhile. So a process of its own does it, and gives back the memory that it takes, which a thread keeps.
 * Rejects when that fails.
 */
export function documentWriter(): (path: string) => Promise<string> {
  const write = onceDone(async () => {
    const { stdout } = await promisify(execFile)(process.execPath, [program], programLimits);
    return JSON.parse(stdout) as Documents;
  });
  return async (path) => {
    const text = (await write())[path];
    if (text === undefined) throw new BrokenInvariant(`no document has the path ${path}`);
    return text;
  };
}
