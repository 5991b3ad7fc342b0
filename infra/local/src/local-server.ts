import { closeSync, fstatSync, openSync, readSync, renameSync, rmSync, statSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import type { GuardedProcess, ProcessExit } from './guarded-process.ts';

/** A server of the local stack, running as a process of its own on 127.0.0.1. */
export interface LocalServer {
  /** Connection string that clients use. */
  readonly url: string;
  readonly port: number;
  readonly pid: number;
  /** Resolves when the process has ended, whatever ended it. */
  readonly exited: Promise<ProcessExit>;
  /** Stops it in order; resolves when it has ended. */
  stop(): Promise<void>;
  /** Ends it at once with SIGKILL, as a crash would; resolves when it has ended. */
  kill(): Promise<void>;
}

/** A server of the local stack could not be started; the message ends with what the server said. */
export class ServerStartError extends Error {
  override readonly name = 'ServerStartError';
}

/** The process as a server of the local stack. */
export const localServer = (
  { pid, exited, stop, kill }: GuardedProcess,
  { url, port }: Pick<LocalServer, 'url' | 'port'>,
): LocalServer => ({
  url,
  port,
  pid,
  exited,
  stop: async () => void (await stop()),
  kill: async () => void (await kill()),
});

const POLL_MS = 20;

/**
 * Undefined when the server answers; otherwise why it does not. A failed server has been ended.
 *
 * @param problemOf looks once; undefined for an answer, otherwise what came instead, if only ''
 */
export async function waitUntilReady(
  server: GuardedProcess,
  limitMs: number,
  problemOf: () => Promise<string | undefined>,
): Promise<string | undefined> {
  let ended: string | undefined;
  void server.exited.then((exit) => {
    ended = describeExit(exit);
  });
  const deadline = Date.now() + limitMs;
  while (ended === undefined) {
    const problem = await problemOf();
    // Another program may have taken the port: only an answer while our process lives counts.
    if (problem === undefined && ended === undefined) return undefined;
    if (Date.now() > deadline) {
      await server.kill();
      return `no answer in ${limitMs / 1000} s${problem && `: ${problem}`}`;
    }
    await pause(POLL_MS);
  }
  return ended;
}

const LOG_LIMIT_BYTES = 8 * 1024 * 1024;
const TAIL_BYTES = 2_000;

/** Keeps the log of one earlier period: a log that has grown long is set aside before a start. */
export function setAsideLongLog(file: string): void {
  const size = statSync(file, { throwIfNoEntry: false })?.size ?? 0;
  if (size <= LOG_LIMIT_BYTES) return;
  rmSync(`${file}.1`, { force: true });
  renameSync(file, `${file}.1`);
}

/** Marks the end of a log, so that `logSince` can tell what was written later. */
export function logLength(file: string): number {
  return statSync(file, { throwIfNoEntry: false })?.size ?? 0;
}

/** The last part of what was written to a log after a mark, at most some thousand characters. */
export function logSince(file: string, mark: number): string {
  const descriptor = openSync(file, 'r');
  try {
    const size = fstatSync(descriptor).size;
    const start = Math.max(mark, size - TAIL_BYTES);
    const buffer = Buffer.alloc(Math.max(0, size - start));
    readSync(descriptor, buffer, 0, buffer.length, start);
    return buffer.toString('utf8').trim();
  } finally {
    closeSync(descriptor);
  }
}

/** The description of an ended process in messages. */
export function describeExit(exit: ProcessExit): string {
  return exit.signal === null ? `exit code ${exit.code}` : `signal ${exit.signal}`;
}
