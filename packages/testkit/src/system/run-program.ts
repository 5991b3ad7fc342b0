import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { nodeOptions } from '../node-options.ts';

/** Longer than any command takes on a machine that is busy with other things. */
const programMilliseconds = 300_000;

/**
 * Runs a program to its end, beside this one: what waits for a part of the service in this process would else wait
 * for ever, and a connection that is closed meanwhile has to be noticed.
 *
 * @param program module specifier of its main file
 * @param settings environment variables beside those of this process
 * @returns its exit code, null when it was killed, with all that it said
 */
export async function runProgram(
  program: string,
  words: readonly string[],
  settings: Readonly<Record<string, string>>,
) {
  const main = fileURLToPath(import.meta.resolve(program));
  const child = spawn(process.execPath, [...nodeOptions, main, ...words], {
    env: { ...process.env, ...settings },
    stdio: ['ignore', 'pipe', 'pipe'],
    timeout: programMilliseconds,
  });
  const [stdout, stderr] = await Promise.all([text(child.stdout), text(child.stderr)]);
  if (child.exitCode === null && child.signalCode === null) await once(child, 'exit');
  return { status: child.exitCode, stdout, stderr };
}
