// Helpers of the tests in this folder.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { linesOf } from './lines.ts';

/** Another Node process that runs a piece of a module and prints one line. */
export interface OtherProcess {
  readonly child: ChildProcess;
  readonly firstLine: string;
  end(signal: NodeJS.Signals): Promise<void>;
}

/**
 * Runs TypeScript in a process of its own, in a process group of its own, until it is ended.
 *
 * @param source may import from './…' as if it lay in this folder, and must print one line
 */
export async function runElsewhere(source: string): Promise<OtherProcess> {
  const folder = new URL('.', import.meta.url).href;
  const child = spawn(
    process.execPath,
    [
      '--input-type=module-typescript',
      '--eval',
      `${source.replaceAll("'./", `'${folder}`)}\nsetInterval(() => undefined, 60_000);`,
    ],
    {
      cwd: fileURLToPath(folder),
      detached: true,
      stdio: ['ignore', 'pipe', 'inherit'],
    },
  );
  const ended = once(child, 'exit');
  const { value } = await linesOf(child.stdout).next();
  return {
    child,
    firstLine: String(value),
    end: async (signal) => {
      child.kill(signal);
      await ended;
    },
  };
}

/** Waits until something is the case, looking often; fails after a time that a busy machine keeps too. */
export async function eventually(
  what: string,
  isSo: () => boolean | Promise<boolean>,
  limitMs = 120_000,
): Promise<void> {
  const deadline = Date.now() + limitMs;
  while (!(await isSo())) {
    if (Date.now() > deadline) throw new Error(`not in time: ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}
