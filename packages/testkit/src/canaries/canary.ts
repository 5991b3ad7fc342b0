import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { pathsUnder } from '../run/discover.ts';
import { takeEvent } from '../run/protocol.ts';
import { workerCommand } from '../run/run-worker.ts';

/**
 * A bug that tests must find: one place of the production code, written differently. The place is found
 * by its text, wherever in the folders it stands, so that a file may move; a text that has changed fails
 * instead of testing nothing.
 */
export interface Canary {
  /** The effect of the bug, in words: the name under which it is reported. */
  readonly name: string;
  /** Folders relative to the root, in which the place is looked for. */
  readonly folders: readonly string[];
  /** The right text; stands in the folders exactly once. */
  readonly text: string;
  /** The wrong text in its place. */
  readonly bug: string;
}

/** The verdict of the tests on the bug. */
export type Verdict =
  | { readonly kind: 'caught' }
  | { readonly kind: 'survived'; readonly passed: number }
  /** The changed file cannot be loaded, or the process ended: that says nothing about the tests. */
  | { readonly kind: 'unusable'; readonly output: string };

const ROOT = fileURLToPath(new URL('../../../../', import.meta.url));
const PLANT = new URL('./plant.ts', import.meta.url).href;
const PROCESS_LIMIT_MS = 300_000;
/** Random lives in which a bug is looked for: ten times what the tests live by themselves, for it must not escape by chance. */
const LIVES = '4000';

/**
 * Runs test files in a process of their own in which the bug is planted. The files on disk stay as
 * they are.
 *
 * @param tests the test files that are to find it, relative to the root
 * @throws when the text does not stand in the folders exactly once
 */
export async function release(canary: Canary, tests: readonly string[]): Promise<Verdict> {
  const paths = placesOf(canary);
  const [path] = paths;
  if (path === undefined || paths.length > 1) throw new Error(misplaced(canary, paths));
  const { text, bug } = canary;
  const planted = JSON.stringify({ url: pathToFileURL(resolve(ROOT, path)).href, text, bug });
  return verdictOf(await outputOf(planted, tests));
}

/** Returns the files in which the text of a canary stands, each as often as it stands there. */
export function placesOf({ folders, text }: Canary): string[] {
  return folders
    .flatMap((folder) => pathsUnder(ROOT, folder))
    .filter((path) => path.endsWith('.ts') && !/(?:\.test\.ts|\/test-[^/]*)$/.test(path))
    .flatMap((path) => {
      const places = readFileSync(resolve(ROOT, path), 'utf8').split(text).length - 1;
      return Array.from({ length: places }, () => path);
    });
}

/** Says that the text of a canary does not stand in exactly one place. */
export function misplaced({ name, folders }: Canary, paths: readonly string[]): string {
  const found = paths.length === 0 ? '' : ` (${paths.join(', ')})`;
  return `${name}: its text stands ${paths.length} times in ${folders.join(', ')}, not once${found}`;
}

/**
 * Releases one canary after the other.
 *
 * @returns a sentence for each that was not caught; empty when the tests find every bug
 */
export async function survivors(
  canaries: readonly Canary[],
  tests: readonly string[],
): Promise<string[]> {
  const sentences: string[] = [];
  for (const canary of canaries) {
    const verdict = await release(canary, tests);
    if (verdict.kind === 'survived') {
      sentences.push(`${canary.name}: all ${verdict.passed} tests pass`);
    } else if (verdict.kind === 'unusable') {
      sentences.push(`${canary.name}: the tests do not run\n${verdict.output}`);
    }
  }
  return sentences;
}

/** Everything that the tests print, for as long as they may take. */
function outputOf(planted: string, tests: readonly string[]): Promise<string> {
  return new Promise((done, fail) => {
    // One test that finds it is enough.
    const [program, ...command] = workerCommand;
    const words = ['--import', PLANT, ...command, '--ends-at-failure', '--', ...tests];
    const child = spawn(program, words, {
      cwd: ROOT,
      env: {
        ...{ ...process.env, NO_COLOR: '1', NODE_ENV: 'test' },
        ...{ COUNTERFOIL_PLANTED: planted, COUNTERFOIL_TEST_LIVES: LIVES },
      },
      stdio: ['ignore', 'pipe', 'pipe'],
      timeout: PROCESS_LIMIT_MS,
      killSignal: 'SIGKILL',
    });
    let output = '';
    child.stdout.setEncoding('utf8').on('data', (chunk: string) => {
      output += chunk;
    });
    child.stderr.setEncoding('utf8').on('data', (chunk: string) => {
      output += chunk;
    });
    child.on('error', fail);
    child.on('close', () => done(output));
  });
}

function verdictOf(output: string): Verdict {
  let [passed, failed, isFinished] = [0, 0, false];
  let printed = '';
  let rest = output;
  for (let taken = takeEvent(rest); taken; taken = takeEvent(rest)) {
    printed += taken.before;
    rest = taken.after;
    if (taken.event.event === 'finished') isFinished = true;
    if (taken.event.event !== 'end') continue;
    passed += taken.event.passed;
    failed += taken.event.failed;
  }
  const isLoaded = !printed.includes('cannot be loaded') && !printed.includes('registered no test');
  if (!isFinished || !isLoaded) return { kind: 'unusable', output: printed + rest };
  return failed > 0 ? { kind: 'caught' } : { kind: 'survived', passed };
}
