import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { nodeOptions } from '../node-options.ts';
import { takeEvent, type WorkerEvent } from './protocol.ts';

/** The result of one test file. */
export interface FileResult {
  readonly path: string;
  readonly passed: number;
  readonly failed: number;
  readonly skipped: number;
  readonly durationMs: number;
  /** The output of the file; its end, when there was much. */
  readonly output: string;
}

export interface WorkerLimits {
  /** The time that one file may take. */
  readonly fileLimitMs: number;
  /** The time that the process may take to end after its last test. */
  readonly exitLimitMs: number;
}

/** One process with test files to run. */
export interface WorkerJob {
  readonly root: string;
  /** Relative to the root. */
  readonly paths: readonly string[];
  /** Only tests whose name contains this; undefined for all. */
  readonly name: string | undefined;
  readonly limits: WorkerLimits;
}

const OUTPUT_LIMIT_CHARACTERS = 1024 * 1024;
const OUTPUT_GRACE_MS = 2_000;

/** The command of a worker, before its arguments. */
export const workerCommand: readonly [program: string, ...words: string[]] = [
  process.execPath,
  ...nodeOptions,
  fileURLToPath(new URL('./worker.ts', import.meta.url)),
];

/**
 * Runs test files in one process, which is killed with its whole process group when a file takes too
 * long or when it does not end by itself after the last test.
 *
 * @param onResult told the result of each file as it comes
 * @param signal kills the process
 * @returns the files that were not reached because the process ended before them
 */
export function runWorker(
  { root, paths, name, limits }: WorkerJob,
  onResult: (result: FileResult) => void,
  signal: AbortSignal,
): Promise<string[]> {
  return new Promise((resolve) => {
    const waiting = [...paths];
    const watch = new Watch(onResult);
    const named = name === undefined ? [] : [`--name=${name}`];
    // The shell joins both outputs in one pipe, which keeps their order.
    const child = spawn(
      '/bin/sh',
      ['-c', 'exec "$@" 2>&1', 'sh', ...workerCommand, ...named, '--', ...paths],
      { cwd: root, detached: true, env: environment(), stdio: ['ignore', 'pipe', 'inherit'] },
    );
    const kill = (reason: string): void => {
      watch.say(reason);
      if (child.pid !== undefined) killGroup(child.pid);
    };
    const stop = (): void => kill('stopped');
    signal.addEventListener('abort', stop, { once: true });
    let timer = setTimeout(kill, limits.fileLimitMs, tooLong(limits.fileLimitMs));
    let isFinished = false;

    child.stdout.setEncoding('utf8').on('data', (chunk: string) => {
      for (const event of watch.take(chunk)) {
        clearTimeout(timer);
        if (event.event === 'begin') waiting.shift();
        isFinished ||= event.event === 'finished';
        timer = isFinished
          ? setTimeout(kill, limits.exitLimitMs, NOT_ENDING)
          : setTimeout(kill, limits.fileLimitMs, tooLong(limits.fileLimitMs));
      }
    });
    // A process that a test left behind may hold the pipe open for ever; the worker's own words have
    // been written before it ended.
    child.on('exit', () => {
      clearTimeout(timer);
      timer = setTimeout(() => child.stdout.destroy(), OUTPUT_GRACE_MS);
    });
    child.on('close', (code, endedBy) => {
      clearTimeout(timer);
      signal.removeEventListener('abort', stop);
      if (!isFinished || code !== 0) {
        // A process that did not even begin would otherwise be started again for ever.
        if (waiting.length === paths.length) watch.begin(waiting.shift() ?? '');
        watch.fail(`the process ended (${endedBy ?? `exit code ${code}`})`);
      }
      resolve(waiting);
    });
  });
}

const NOT_ENDING =
  'the process did not end after the last test: something (a server, a timer, a pool) is still open';

function tooLong(limitMs: number): string {
  return `not done within ${limitMs / 1000} s`;
}

function environment(): NodeJS.ProcessEnv {
  const { FORCE_COLOR: _, ...inherited } = process.env;
  return { ...inherited, NO_COLOR: '1', NODE_ENV: 'test' };
}

function killGroup(pid: number): void {
  try {
    process.kill(-pid, 'SIGKILL');
  } catch {
    // It has just ended by itself.
  }
}

/** Sorts what a worker prints into files and results. */
class Watch {
  readonly #onResult: (result: FileResult) => void;
  #received = '';
  #output = '';
  #current = { path: '', startedAt: 0 };

  constructor(onResult: (result: FileResult) => void) {
    this.#onResult = onResult;
  }

  /** Takes a piece of output and returns the events in it. */
  take(chunk: string): WorkerEvent[] {
    this.#received += chunk;
    const events: WorkerEvent[] = [];
    for (let taken = takeEvent(this.#received); taken; taken = takeEvent(this.#received)) {
      this.#received = taken.after;
      this.#keep(taken.before);
      this.#handle(taken.event);
      events.push(taken.event);
    }
    return events;
  }

  say(sentence: string): void {
    this.#keep(`${this.#received}\n  FAIL  ${sentence}\n`);
    this.#received = '';
  }

  begin(path: string): void {
    this.#current = { path, startedAt: Date.now() };
  }

  /** The file under way, or the last one when it brought the process down afterwards, has failed. */
  fail(reason: string): void {
    this.say(reason);
    this.#report({ passed: 0, failed: 1, skipped: 0 });
  }

  #handle(event: WorkerEvent): void {
    if (event.event === 'begin') this.begin(event.file);
    else if (event.event === 'end') this.#report(event);
  }

  #report(counts: { passed: number; failed: number; skipped: number }): void {
    const { passed, failed, skipped } = counts;
    const { path, startedAt } = this.#current;
    const durationMs = Date.now() - startedAt;
    this.#onResult({ path, passed, failed, skipped, durationMs, output: this.#output });
    this.#output = '';
  }

  #keep(text: string): void {
    this.#output = (this.#output + text).slice(-OUTPUT_LIMIT_CHARACTERS);
  }
}
