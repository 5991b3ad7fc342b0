/**
 * One process per directory. The lock is the kernel's (flock), so it disappears with its holder,
 * however that ends, and two processes that start at the same moment cannot both get it. The content
 * of the file is only for the message to the second process.
 */
import { spawnSync } from 'node:child_process';
import { closeSync, constants, ftruncateSync, openSync, readFileSync, writeSync } from 'node:fs';
import { join } from 'node:path';

const LOCK_FILE = 'writer.lock';
const FLOCK_BUSY = 1;
// On macOS open(2) itself takes the lock; Node does not name the flag.
const DARWIN_EXCLUSIVE_LOCK = 0x20;

/** The lock of a data directory. */
export interface DirectoryLock {
  /** Writes the address into the lock file for the message to a second process. */
  describe(address: string): void;
  release(): void;
}

/** The directory belongs to another server. */
export class DirectoryLockedError extends Error {
  override readonly name = 'DirectoryLockedError';
}

/** Takes the lock of an existing directory; throws `DirectoryLockedError` when it is taken. */
export function lockDirectory(directory: string): DirectoryLock {
  const path = join(directory, LOCK_FILE);
  const descriptor = process.platform === 'darwin' ? openLocked(path) : openAndLock(path);
  if (descriptor === undefined) throw new DirectoryLockedError(describeHolder(directory, path));
  const write = (address?: string): void => {
    const text = `${JSON.stringify({ pid: process.pid, ...(address ? { address } : {}) })}\n`;
    ftruncateSync(descriptor, 0);
    writeSync(descriptor, text, 0);
  };
  write();
  let released = false;
  return {
    describe: write,
    release: () => {
      if (released) return;
      released = true;
      // The file stays: deleting it would let two processes lock two different files.
      closeSync(descriptor);
    },
  };
}

function openLocked(path: string): number | undefined {
  const { O_RDWR, O_CREAT, O_NONBLOCK } = constants;
  try {
    return openSync(path, O_RDWR | O_CREAT | O_NONBLOCK | DARWIN_EXCLUSIVE_LOCK, 0o600);
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'EAGAIN') return undefined;
    throw error;
  }
}

// A flock belongs to the open file, which the helper shares with us: it takes the lock and exits,
// and the lock stays ours until this process closes the file or dies.
function openAndLock(path: string): number | undefined {
  const descriptor = openSync(path, constants.O_RDWR | constants.O_CREAT, 0o600);
  const result = spawnSync('flock', ['-x', '-n', '3'], {
    stdio: ['ignore', 'ignore', 'pipe', descriptor],
  });
  if (result.status === 0) return descriptor;
  closeSync(descriptor);
  if (result.status === FLOCK_BUSY) return undefined;
  const reason = result.error?.message ?? result.stderr.toString().trim();
  throw new Error(`cannot lock ${path}: the flock command of util-linux is needed (${reason})`);
}

function describeHolder(directory: string, path: string): string {
  const text = readFileSync(path, 'utf8');
  const pid = /"pid":(\d+)/.exec(text)?.[1];
  const address = /"address":"([^"]+)"/.exec(text)?.[1];
  const holder = pid === undefined ? 'another process' : `process ${pid}`;
  return `the event store directory ${directory} is in use by ${holder}${address ? ` at ${address}` : ''}`;
}
