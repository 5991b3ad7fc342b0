import { readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import { processIdentity } from '../../bootstrap/process-identity.mjs';

const POLL_MS = 20;
const KILL_LIMIT_MS = 10_000;

/**
 * The guard of a dead parent tells its process to stop by itself. Only when that does not help in this
 * time is the signal sent from here: to an application, a second one would mean "give up at once".
 */
const GUARD_GRACE_MS = 2_000;

export type StopSignal = 'SIGINT' | 'SIGTERM';

interface Identified {
  readonly pid: number;
  readonly identity: string;
}

/** The record of a running process, for a later start to deal with it. */
interface ProcessRecord extends Identified {
  readonly owner: Identified;
  readonly stopSignal: StopSignal;
  readonly stopLimitMs: number;
}

/** A server on this folder is already being run by a living process. */
export class AlreadyRunningError extends Error {
  override readonly name = 'AlreadyRunningError';
}

/**
 * Writes down which process was started and how it is stopped. The owner is the calling process.
 *
 * @param file absolute path of the record
 */
export function writeProcessRecord(
  file: string,
  pid: number,
  stopSignal: StopSignal,
  stopLimitMs: number,
): void {
  const record: ProcessRecord = {
    ...identify(pid),
    owner: identify(process.pid),
    stopSignal,
    stopLimitMs,
  };
  const draft = `${file}.${process.pid}`;
  writeFileSync(draft, JSON.stringify(record));
  renameSync(draft, file);
}

/**
 * Waits until the process that a record names has ended, telling it to stop first. That happens when
 * a parent was killed and is started again at once, while its former servers are still stopping: two
 * servers must never work on the same files.
 *
 * @param file absolute path of the record; nothing happens when there is none
 * @throws {AlreadyRunningError} when the process that started it still lives
 */
export async function settlePredecessor(file: string): Promise<void> {
  const record = readRecord(file);
  if (record === undefined) return;
  if (isAlive(record)) {
    if (isAlive(record.owner)) {
      throw new AlreadyRunningError(
        `process ${record.pid} already runs here, started by process ${record.owner.pid} (${file})`,
      );
    }
    await waitForEnd(record, GUARD_GRACE_MS);
    signal(record, record.stopSignal);
    await waitForEnd(record, record.stopLimitMs);
    signal(record, 'SIGKILL');
    await waitForEnd(record, KILL_LIMIT_MS);
    if (isAlive(record)) throw new AlreadyRunningError(`process ${record.pid} cannot be ended`);
  }
  rmSync(file, { force: true });
}

/**
 * Pid of the process that a record names, while that very process runs; undefined when it has ended
 * or there is no record.
 *
 * @param file absolute path of the record
 */
export function recordedPid(file: string): number | undefined {
  const record = readRecord(file);
  return record !== undefined && isAlive(record) ? record.pid : undefined;
}

/** Tells whether a process with this pid runs, whoever started it. */
export function isRunning(pid: number): boolean {
  return processIdentity(pid) !== undefined;
}

function identify(pid: number): Identified {
  return { pid, identity: processIdentity(pid) ?? '' };
}

function isAlive({ pid, identity }: Identified): boolean {
  return processIdentity(pid) === identity;
}

function readRecord(file: string): ProcessRecord | undefined {
  try {
    return JSON.parse(readFileSync(file, 'utf8'));
  } catch (error) {
    // To ask first whether it exists would leave a gap in which its process ends and removes it.
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined;
    throw error;
  }
}

function signal(target: Identified, name: NodeJS.Signals): void {
  // It may end between the look and the signal, which is just what is wanted.
  if (!isAlive(target)) return;
  try {
    process.kill(target.pid, name);
  } catch (error) {
    if (isAlive(target)) throw error;
  }
}

async function waitForEnd(target: Identified, limitMs: number): Promise<void> {
  const deadline = Date.now() + limitMs;
  while (isAlive(target) && Date.now() < deadline) await pause(POLL_MS);
}
