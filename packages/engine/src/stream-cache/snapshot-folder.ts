import { mkdirSync, readdirSync, rmSync, statSync } from 'node:fs';
import { open, readFile, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { LRUCache } from 'lru-cache';
import { copySnapshot, readSnapshot, type Snapshot, snapshotFile } from './snapshot.ts';

/** The store of snapshots of long streams. It is a cache: losing all of it costs time alone. */
export interface Snapshots {
  /**
   * Events after which a stream gets another snapshot: about so many have to be read and folded before
   * a stream that no process has in memory can be decided on.
   */
  readonly every: number;
  /** The last snapshot of a stream, or null. Never rejects. */
  load(streamName: string): Promise<Snapshot | null>;
  /**
   * Keeps a snapshot in the background. False when too many are being written: ask again later. Throws
   * nothing.
   */
  save(streamName: string, snapshot: Snapshot): boolean;
}

export interface SnapshotFolderOptions {
  readonly folder: string;
  /** See `SnapshotIdentity`. */
  readonly code: string;
  /** Told about what could not be read or written. */
  readonly onError: (error: unknown, streamName: string) => void;
  /** Bytes of all files; beyond, those that were not used for longest are removed. */
  readonly bytesMaximum?: number;
  /** See `Snapshots.every`. */
  readonly every?: number;
}

const defaultEvery = 10_000;

const defaultBytesMaximum = 2 * 1024 ** 3;
const writesMaximum = 2;
const extension = '.snapshot';

/** Snapshots as files in a folder of this machine, one per stream. Several processes may share it. */
export function openSnapshotFolder(options: SnapshotFolderOptions): Snapshots & {
  /** Resolves when nothing is being written. */
  settled(): Promise<void>;
} {
  const {
    folder,
    code,
    onError,
    bytesMaximum = defaultBytesMaximum,
    every = defaultEvery,
  } = options;
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  removeOldDrafts(folder);
  const fileOf = (streamName: string): string => join(folder, streamName + extension);
  const underWay = new Map<string, Promise<void>>();
  const remove = (streamName: string): void => {
    rm(fileOf(streamName), { force: true }).catch((error) => onError(error, streamName));
  };
  const sizes = new LRUCache<string, number>({
    maxSize: bytesMaximum,
    sizeCalculation: (bytes) => bytes,
    dispose: (_bytes, streamName, reason) => {
      if (reason === 'evict') remove(streamName);
    },
  });
  for (const [streamName, bytes] of filesIn(folder)) sizes.set(streamName, bytes);

  const write = async (streamName: string, snapshot: Snapshot): Promise<void> => {
    const copy = copySnapshot({ streamName, code }, snapshot);
    if (!copy) return;
    const draft = `${fileOf(streamName)}.${process.pid}`;
    try {
      const handle = await open(draft, 'w', 0o600);
      try {
        await handle.writev([...(await snapshotFile(copy))]);
      } finally {
        await handle.close();
      }
      await rename(draft, fileOf(streamName));
    } catch (error) {
      await rm(draft, { force: true });
      throw error;
    }
    sizes.set(streamName, copy.header.length + copy.words.length);
  };

  return {
    every,
    async load(streamName) {
      try {
        const snapshot = await readSnapshot(await readFile(fileOf(streamName)), {
          streamName,
          code,
        });
        sizes.get(streamName);
        return snapshot;
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== 'ENOENT') onError(error, streamName);
        return null;
      }
    },
    save(streamName, snapshot) {
      if (underWay.size >= writesMaximum || underWay.has(streamName)) return false;
      const written = write(streamName, snapshot)
        .catch((error) => onError(error, streamName))
        .finally(() => underWay.delete(streamName));
      underWay.set(streamName, written);
      return true;
    },
    async settled() {
      await Promise.all(underWay.values());
    },
  };
}

const draftMilliseconds = 60_000;

/** Drafts of processes that were killed. A young one may be that of a process beside this one. */
function removeOldDrafts(folder: string): void {
  for (const name of readdirSync(folder)) {
    const path = join(folder, name);
    if (!/\.snapshot\.\d+$/.test(name)) continue;
    const stats = statSync(path, { throwIfNoEntry: false });
    if (stats && stats.mtimeMs < Date.now() - draftMilliseconds) rmSync(path, { force: true });
  }
}

/** Lists the files that are there: stream and bytes of each, the one written last at the end. */
function filesIn(folder: string): [string, number][] {
  return readdirSync(folder)
    .filter((name) => name.endsWith(extension))
    .map((name) => ({ name, stats: statSync(join(folder, name), { throwIfNoEntry: false }) }))
    .sort((left, right) => (left.stats?.mtimeMs ?? 0) - (right.stats?.mtimeMs ?? 0))
    .map(({ name, stats }) => [name.slice(0, -extension.length), Math.max(1, stats?.size ?? 1)]);
}
