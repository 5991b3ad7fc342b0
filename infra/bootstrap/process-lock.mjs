import {
  linkSync,
  mkdirSync,
  readFileSync,
  rmdirSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { processIdentity } from './process-identity.mjs';

/** A takeover is a few file operations; a guard folder older than this was left by a dead process. */
const GUARD_STALE_MS = 5_000;
const GUARD_ATTEMPTS_MAX = 2_000;
const GUARD_PAUSE_MS = 5;

/**
 * Takes a lock file for as long as this process lives. A lock whose process is dead (its pid is
 * gone, or belongs to another process by now) is taken over.
 *
 * @param {string} file absolute path of the lock file; its folder must exist
 * @returns {{ acquired: true, release: () => void } | { acquired: false, pid: number }} the lock, or
 *   the pid of the living process that holds it
 */
export function acquireProcessLock(file) {
  const mine = { pid: process.pid, identity: processIdentity(process.pid) ?? '' };
  return withGuard(`${file}.guard`, () => {
    const holder = readHolder(file);
    if (holder !== undefined && isAlive(holder)) return { acquired: false, pid: holder.pid };
    rmSync(file, { force: true });
    writeWhole(file, JSON.stringify(mine));
    return { acquired: true, release: () => releaseIfMine(file, mine) };
  });
}

function readHolder(file) {
  try {
    return JSON.parse(readFileSync(file, 'utf8'));
  } catch {
    // Absent or unreadable: a lock is linked into place whole, so a torn one cannot be a living one.
    return undefined;
  }
}

function isAlive(holder) {
  return processIdentity(holder.pid) === holder.identity;
}

/** Linking a finished file means that no reader ever sees half of it. */
function writeWhole(file, text) {
  const draft = `${file}.${process.pid}`;
  writeFileSync(draft, text);
  linkSync(draft, file);
  rmSync(draft, { force: true });
}

function releaseIfMine(file, mine) {
  const holder = readHolder(file);
  if (holder?.pid === mine.pid && holder.identity === mine.identity) rmSync(file, { force: true });
}

/**
 * Runs a short synchronous action while holding a folder as a mutex. Reading a lock and replacing it
 * are two steps; without this, two processes could both find it stale and both take it.
 */
function withGuard(guard, action) {
  for (let attempt = 0; attempt < GUARD_ATTEMPTS_MAX; attempt += 1) {
    if (!tryMakeFolder(guard)) {
      removeIfStale(guard);
      pause(GUARD_PAUSE_MS);
      continue;
    }
    try {
      return action();
    } finally {
      rmdirSync(guard);
    }
  }
  throw new Error(`${guard} stays in place; remove it if no other process is starting`);
}

function tryMakeFolder(folder) {
  try {
    mkdirSync(folder);
    return true;
  } catch (error) {
    if (error.code === 'EEXIST') return false;
    throw error;
  }
}

function removeIfStale(folder) {
  try {
    if (Date.now() - statSync(folder).mtimeMs > GUARD_STALE_MS) rmdirSync(folder);
  } catch (error) {
    // Whoever held it has just let it go.
    if (error.code !== 'ENOENT') throw error;
  }
}

function pause(durationMs) {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, durationMs);
}
