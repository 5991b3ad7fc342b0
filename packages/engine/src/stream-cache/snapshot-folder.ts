import { randomUUID } from 'node:crypto';
import { existsSync, mkdirSync } from 'node:fs';
import { open, readdir, readFile, rename, rm, stat, utimes } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Log } from '../operations/log.ts';
import { codeFingerprint } from './code-fingerprint.ts';
import {
  beginningBytes,
  readSnapshot,
  revisionIn,
  type Snapshot,
  snapshotFile,
} from './snapshot.ts';

/** The store of snapshots of long streams. It is a cache: losing all of it costs time alone. */
export interface Snapshots {
  /**
   * Tells whether a stream gets another snapshot, having its last one at a revision; -1 for none. About as many events as
   * that takes have to be read and folded before a stream that no process has in memory can be decided on.
   */
  isDue(revision: number, keptAt: number): boolean;
  /** The last snapshot of a stream, or null. Never rejects. */
  load<State>(streamName: string): Promise<Snapshot<State> | null>;
  /**
   * Keeps a snapshot in the background, as `take` gives it shortly after. When another process has kept one lately, that
   * does, and `onOther` is told its revision. False when too many are being written: ask again later. Throws nothing.
   */
  save(streamName: string, take: () => Snapshot, onOther: (revision: number) => void): boolean;
  /** Removes a snapshot that does not fit the log. Never rejects. */
  remove(streamName: string): Promise<void>;
  /** Resolves when nothing is being written. */
  settled(): Promise<void>;
}

export interface SnapshotFolderOptions {
  readonly folder: string;
  /** See `SnapshotIdentity`. */
  readonly code: string;
  /** Told about files that could not be read or written. */
  readonly onError: (error: unknown, streamName: string) => void;
  /** Bytes of all files; beyond, those that were not used for longest are removed. */
  readonly bytesMaximum?: number;
  /** Events from one snapshot of a stream to the next, at least. */
  readonly every?: number;
}

const everyDefault = 2_500;
/** A longer stream has a larger snapshot, with all its keys, so it gets one more seldom: after such a part of it. */
const partOfStream = 1 / 8;
const everyMaximum = 4;
const bytesMaximumDefault = 2 * 1024 ** 3;
const writesMaximum = 2;
const extension = '.snapshot';
/** A draft that is older is of a process that was killed, and not of one beside this one. */
const draftMilliseconds = 60_000;

/**
 * Snapshots as files in a folder of this machine, one per stream. Any number of processes may share it:
 * a file is written beside the old one and takes its place in one step, and only when it is of a later
 * event. That another process, or other code, has written a file shows when it is read.
 */
export function openSnapshotFolder(options: SnapshotFolderOptions): Snapshots {
  const { folder, code, onError, every = everyDefault } = options;
  const { bytesMaximum = bytesMaximumDefault } = options;
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const isDue = (revision: number, keptAt: number): boolean => {
    const part = Math.min(keptAt * partOfStream, every * everyMaximum);
    return revision - keptAt >= Math.max(part, every);
  };
  const underWay = new Map<string, Promise<void>>();
  const pathOf = (streamName: string): string => join(folder, streamName + extension);

  const remove = (streamName: string): Promise<void> =>
    rm(pathOf(streamName), { force: true }).catch((error) => onError(error, streamName));
  const load = async <State>(streamName: string): Promise<Snapshot<State> | null> => {
    const path = pathOf(streamName);
    // Hardly any stream is long enough to have one, and each that is read for the first time asks: a look costs a fiftieth of a read that fails.
    if (!existsSync(path)) return null;
    try {
      const snapshot = await readSnapshot<State>(await readFile(path), { streamName, code });
      const now = new Date();
      if (snapshot) await utimes(path, now, now);
      return snapshot;
    } catch (error) {
      if (isMissing(error)) return null;
      onError(error, streamName);
      await remove(streamName);
      return null;
    }
  };
  const write = async (
    streamName: string,
    take: () => Snapshot,
    onOther: (revision: number) => void,
  ): Promise<void> => {
    const path = pathOf(streamName);
    const known = revisionIn(await beginningOf(path), { streamName, code });
    const snapshot = take();
    // Another process that has the stream in memory writes it down as often.
    if (!isDue(snapshot.stream.head.revision, known)) {
      onOther(known);
      return;
    }
    const parts = await snapshotFile({ streamName, code }, snapshot);
    if (!parts) return;
    await replace(path, parts);
    await tidy(folder, bytesMaximum);
  };
  return {
    isDue,
    load,
    remove,
    save(streamName, take, onOther) {
      if (underWay.size >= writesMaximum || underWay.has(streamName)) return false;
      const written = write(streamName, take, onOther)
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

/**
 * Snapshots in a folder of this machine, by the code of packages; none without a folder. Those that other
 * code has left there are passed over: it may have folded the same events to another state.
 *
 * @param packages addresses (`file:`) of a module in a folder right below each package
 */
export function snapshotsIn(
  folder: string | undefined,
  packages: readonly string[],
  log: Log,
): { readonly snapshots?: Snapshots } {
  if (folder === undefined) return {};
  const folders = packages.map((address) => dirname(dirname(fileURLToPath(address))));
  const snapshots = openSnapshotFolder({
    folder,
    code: codeFingerprint(folders),
    onError: (error, stream) => log.warn({ err: error, stream }, 'a snapshot failed'),
  });
  return { snapshots };
}

const isMissing = (error: unknown): boolean => (error as NodeJS.ErrnoException).code === 'ENOENT';

/** The first bytes of a file; none when there is no file. */
async function beginningOf(path: string): Promise<Buffer> {
  try {
    await using file = await open(path);
    const { buffer, bytesRead } = await file.read(Buffer.alloc(beginningBytes));
    return buffer.subarray(0, bytesRead);
  } catch (error) {
    if (isMissing(error)) return Buffer.alloc(0);
    throw error;
  }
}

/** Writes a file beside the one that is there and lets it take that one's place. */
async function replace(path: string, parts: readonly Buffer[]): Promise<void> {
  const draft = `${path}.${randomUUID()}`;
  try {
    await using file = await open(draft, 'wx', 0o600);
    await file.writev([...parts]);
    await rename(draft, path);
  } catch (error) {
    await rm(draft, { force: true });
    throw error;
  }
}

/** Removes drafts that nobody writes any more, and the files beyond the limit. */
async function tidy(folder: string, bytesMaximum: number): Promise<void> {
  const found = (await readdir(folder)).map(async (name) => {
    const path = join(folder, name);
    const stats = await stat(path).catch(() => null);
    return stats ? [{ name, path, bytes: stats.size, usedAt: stats.mtimeMs }] : [];
  });
  const files = (await Promise.all(found)).flat().sort((a, b) => b.usedAt - a.usedAt);
  let bytes = 0;
  for (const { name, path, ...file } of files) {
    const isDraft = !name.endsWith(extension);
    if (!isDraft) bytes += file.bytes;
    const isOld = isDraft && file.usedAt < Date.now() - draftMilliseconds;
    if (isOld || (!isDraft && bytes > bytesMaximum)) await rm(path, { force: true });
  }
}
