import { type ChildProcess, spawn } from 'node:child_process';
import { closeSync, openSync, rmSync } from 'node:fs';
import { Socket } from 'node:net';
import type { Readable, Writable } from 'node:stream';
import { becomeBatchWork, type Turns } from './batch-work.ts';
import { type StopSignal, writeProcessRecord } from './process-record.ts';

/** The end of a process: one of the two is set. */
export interface ProcessExit {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

export interface GuardedProcessOptions {
  readonly command: string;
  readonly args: readonly string[];
  readonly env: NodeJS.ProcessEnv;
  /** Default: the working folder of the caller. */
  readonly cwd?: string;
  /** Account to run as; only root may give one. */
  readonly account?: { readonly uid: number; readonly gid: number } | undefined;
  /** The time for which it works before another one that waits has its turn. Default: short. */
  readonly turns?: Turns | undefined;
  readonly stopSignal: StopSignal;
  /** The time that the process may take to stop before it is killed. */
  readonly stopLimitMs: number;
  /** A file that everything the process prints is appended to, or 'pipe' to read it. */
  readonly output: 'pipe' | { readonly file: string };
  /** The file in which the running process is written down; see process-record.ts. */
  readonly recordFile?: string | undefined;
}

export interface GuardedProcess {
  readonly pid: number;
  readonly stdout: Readable | null;
  readonly stderr: Readable | null;
  readonly exited: Promise<ProcessExit>;
  /** Sends the stop signal, and SIGKILL after the limit; resolves when the process has ended. */
  stop(): Promise<ProcessExit>;
  /** Sends SIGKILL; resolves when the process has ended. */
  kill(): Promise<ProcessExit>;
}

/**
 * The process proper is started by this shell line, which waits for a word from the parent. The word
 * comes when the guard stands, so there is no moment at which the parent can die and leave an orphan.
 */
const launcher = (turns: Turns): string =>
  `read -r word <&3 || exit 1; ${becomeBatchWork(turns)}; exec "$@" 3<&-`;

/**
 * The guard reads a pipe that only the parent holds. A word means that it is no longer needed; the
 * end of the pipe without a word means that the parent is dead, however it died.
 */
const GUARD = `
if read -r word; then exit 0; fi
kill -s "$2" "$1" 2>/dev/null || exit 0
tenths=0
while kill -0 "$1" 2>/dev/null && [ "$tenths" -lt "$3" ]; do
  sleep 0.1
  tenths=$((tenths + 1))
done
kill -s KILL "$1" 2>/dev/null
`;

/**
 * Starts a process that ends when the calling process ends, even by SIGKILL, but does not receive the
 * terminal's Ctrl-C: it runs in a session of its own, so that the caller decides the order of
 * stopping. Unless its output is piped, it does not keep the caller's event loop alive: a program that
 * has nothing more to do may end without stopping it, and the guard then does.
 */
export function spawnGuarded(options: GuardedProcessOptions): GuardedProcess {
  const child = launch(options);
  if (child.pid === undefined) throw new Error(`cannot start ${options.command}`);
  const pid = child.pid;
  const guard = postGuard(pid, options);
  if (options.recordFile !== undefined) {
    writeProcessRecord(options.recordFile, pid, options.stopSignal, options.stopLimitMs);
  }
  const exited = new Promise<ProcessExit>((resolve) => {
    child.once('exit', (code, signal) => {
      dismiss(guard);
      if (options.recordFile !== undefined) rmSync(options.recordFile, { force: true });
      resolve({ code, signal });
    });
  });
  sayWord(child.stdio[3] as Writable);
  if (options.output !== 'pipe') child.unref();
  return {
    pid,
    stdout: child.stdout,
    stderr: child.stderr,
    exited,
    stop: () => end(child, exited, options.stopSignal, options.stopLimitMs),
    kill: () => end(child, exited, 'SIGKILL', options.stopLimitMs),
  };
}

function launch(options: GuardedProcessOptions): ChildProcess {
  const line = launcher(options.turns ?? 'short');
  const target = options.output === 'pipe' ? 'pipe' : openSync(options.output.file, 'a', 0o600);
  try {
    const child = spawn(
      '/bin/sh',
      ['-c', line, 'counterfoil-launcher', options.command, ...options.args],
      {
        env: options.env,
        detached: true,
        stdio: ['ignore', target, target, 'pipe'],
        ...(options.cwd === undefined ? {} : { cwd: options.cwd }),
        ...options.account,
      },
    );
    // An error event would be raised for a failure that the missing pid tells already.
    child.on('error', () => undefined);
    return child;
  } finally {
    if (typeof target === 'number') closeSync(target);
  }
}

function postGuard(pid: number, options: GuardedProcessOptions): ChildProcess {
  const signalName = options.stopSignal.slice('SIG'.length);
  const tenths = Math.ceil(options.stopLimitMs / 100);
  const guard = spawn(
    '/bin/sh',
    ['-c', GUARD, 'counterfoil-guard', String(pid), signalName, String(tenths)],
    { cwd: '/', detached: true, stdio: ['pipe', 'ignore', 'ignore'] },
  );
  guard.on('error', () => undefined);
  // A guard that ends by itself breaks the pipe; the process it watched has then ended as well.
  guard.stdin?.on('error', () => undefined);
  guard.unref();
  if (guard.stdin instanceof Socket) guard.stdin.unref();
  return guard;
}

function dismiss(guard: ChildProcess): void {
  guard.stdin?.end('done\n');
}

function sayWord(pipe: Writable): void {
  // A launcher that was killed before it read the word breaks the pipe; its exit is reported anyway.
  pipe.on('error', () => undefined);
  pipe.end('start\n');
}

async function end(
  child: ChildProcess,
  exited: Promise<ProcessExit>,
  signal: NodeJS.Signals,
  limitMs: number,
): Promise<ProcessExit> {
  child.ref();
  child.kill(signal);
  const timer = setTimeout(() => child.kill('SIGKILL'), limitMs);
  try {
    return await exited;
  } finally {
    clearTimeout(timer);
  }
}
