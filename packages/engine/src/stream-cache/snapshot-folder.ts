import { existsSync, mkdirSync } from 'node:fs';
import {
  type FileHandle,
  open,
  readdir,
  readFile,
  rename,
  rm,
  stat,
  utimes,
} from 'node:fs/promises';
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
  /** The later of the two snapshots of a stream that does not go beyond a revision; null for none. Never rejects. */
  load<State>(streamName: string, upTo: number): Promise<Snapshot<State> | null>;
  /**
   * Keeps a snapshot in the background, as `take` gives it shortly after. When another process has kept one lately, that
   * does, and `onOther` is told its revision. False when too many are being written: ask again later. Throws nothing.
   */
  save(streamName: string, take: () => Snapshot, onOther: (revision: number) => void): boolean;
  /** Removes the snapshots of a stream, one of which does not fit the log. Never rejects. */
  remove(streamName: string): Promise<void>;
  /** Streams that have snapshots, by this code or other code, at most so many: those whose were used last come first. Never rejects. */
  lastUsed(streamsMaximum: number): Promise<readonly string[]>;
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
const previousExtension = `.previous${extension}`;
const draftExtension = '.draft';
/** A draft that is older is of a process that was killed, and not of one beside this one. */
const draftMilliseconds = 60_000;

/**
 * Snapshots as files in a folder of this machine: the last one of each stream, and the one before it, from which is folded what
 * clients repeat after a fault from right before the last. Any number of processes may share it:
 * a file is written beside the others, by one process at a time, and takes the place of the last in one step, and only when it is
 * of a later event. That another process, or other code, has written a file shows when it is read.
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
  const filesOf = (streamName: string): Files => ({
    last: join(folder, streamName + extension),
    previous: join(folder, streamName + previousExtension),
    draft: join(folder, streamName + extension + draftExtension),
  });
  const revisionsIn = async (streamName: string, { last, previous }: Files): Promise<Revisions> => {
    const identity = { streamName, code };
    return {
      last: revisionIn(await beginningOf(last), identity),
      previous: revisionIn(await beginningOf(previous), identity),
    };
  };

  const removeFile = (streamName: string, path: string): Promise<void> =>
    rm(path, { force: true }).catch((error) => onError(error, streamName));
  const loadFile = async <State>(
    streamName: string,
    path: string,
    upTo: number,
  ): Promise<Snapshot<State> | null> => {
    // Hardly any stream is long enough to have one, and each that is read for the first time asks: a look costs a fiftieth of a read that fails.
    if (!existsSync(path)) return null;
    const identity = { streamName, code };
    try {
      const revision = revisionIn(await beginningOf(path), identity);
      // One of other code, or too late: all of it need not be read.
      if (revision < 0 || revision > upTo) return null;
      const snapshot = await readSnapshot<State>(await readFile(path), identity);
      // Another file may have taken its place since the look.
      if (snapshot === null || snapshot.stream.head.revision > upTo) return null;
      const now = new Date();
      await utimes(path, now, now).catch(unlessMissing);
      return snapshot;
    } catch (error) {
      if (isMissing(error)) return null;
      onError(error, streamName);
      await removeFile(streamName, path);
      return null;
    }
  };
  const write = async (
    streamName: string,
    take: () => Snapshot,
    onOther: (revision: number) => void,
  ): Promise<void> => {
    const files = filesOf(streamName);
    const outcome = await draftFile(files.draft, async (file) => {
      const kept = await revisionsIn(streamName, files);
      const snapshot = take();
      // Another process that has the stream in memory writes it down as often.
      const known = latestOf(kept);
      if (!isDue(snapshot.stream.head.revision, known)) {
        onOther(known);
        return 'dropped';
      }
      const parts = await snapshotFile({ streamName, code }, snapshot);
      if (!parts) return 'dropped';
      await file.writev([...parts]);
      if (kept.last >= 0) await rename(files.last, files.previous).catch(unlessMissing);
      await rename(files.draft, files.last);
      return 'placed';
    });
    // A draft that a process has left behind is removed, or nobody could write another.
    if (outcome !== 'dropped') await tidy(folder, bytesMaximum);
  };
  return {
    isDue,
    async load<State>(streamName: string, upTo: number) {
      const { last, previous } = filesOf(streamName);
      const found = await loadFile<State>(streamName, last, upTo);
      return found ?? (await loadFile<State>(streamName, previous, upTo));
    },
    async remove(streamName) {
      const { last, previous } = filesOf(streamName);
      await Promise.all([last, previous].map((path) => removeFile(streamName, path)));
    },
    save(streamName, take, onOther) {
      if (underWay.size >= writesMaximum || underWay.has(streamName)) return false;
      const written = write(streamName, take, onOther)
        .catch((error) => onError(error, streamName))
        .finally(() => underWay.delete(streamName));
      underWay.set(streamName, written);
      return true;
    },
    async lastUsed(streamsMaximum) {
      const names = await lastUsedIn(folder).catch((error) => onError(error, 'all streams'));
      return (names ?? []).slice(0, streamsMaximum);
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

/** The paths of the two snapshots of a stream, and of the one that is being written. */
interface Files {
  readonly last: string;
  readonly previous: string;
  readonly draft: string;
}

/** The revisions of the two snapshots of a stream; -1 for none. */
type Revisions = Readonly<Record<'last' | 'previous', number>>;

/** A process that was killed between the two steps has left the previous one alone. */
const latestOf = ({ last, previous }: Revisions): number => (last < 0 ? previous : last);

const isMissing = (error: unknown): boolean => (error as NodeJS.ErrnoException).code === 'ENOENT';

const unlessMissing = (error: unknown): void => {
  if (!isMissing(error)) throw error;
};

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

/** A draft is put in its place, or goes again. */
type Drafted = 'placed' | 'dropped';

/** Has a file written that nobody else writes meanwhile; `busy` when another process is at it. */
async function draftFile(
  path: string,
  write: (file: FileHandle) => Promise<Drafted>,
): Promise<Drafted | 'busy'> {
  const opened = await open(path, 'wx', 0o600).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'EEXIST') throw error;
    return null;
  });
  if (opened === null) return 'busy';
  await using file = opened;
  let outcome: Drafted = 'dropped';
  try {
    outcome = await write(file);
    return outcome;
  } finally {
    // Once it is in its place, a draft of this name is another process's.
    if (outcome === 'dropped') await rm(path, { force: true });
  }
}

/** The stream of a file by its name; null when it is no snapshot. */
function streamOf(fileName: string): string | null {
  const found = [previousExtension, extension].find((one) => fileName.endsWith(one));
  return found === undefined ? null : fileName.slice(0, -found.length);
}

/** The streams that have snapshots in a folder; those whose were used last come first. */
async function lastUsedIn(folder: string): Promise<readonly string[]> {
  const names = (await filesIn(folder)).flatMap(({ name }) => streamOf(name) ?? []);
  return [...new Set(names)];
}

/** The files of a folder; those that were used last come first. */
async function filesIn(folder: string) {
  const found = (await readdir(folder)).map(async (name) => {
    const path = join(folder, name);
    const stats = await stat(path).catch(() => null);
    return stats ? [{ name, path, bytes: stats.size, usedAt: stats.mtimeMs }] : [];
  });
  return (await Promise.all(found)).flat().sort((a, b) => b.usedAt - a.usedAt);
}

/** Removes drafts that nobody writes any more, and the files beyond the limit. */
async function tidy(folder: string, bytesMaximum: number): Promise<void> {
  let bytes = 0;
  for (const { name, path, ...file } of await filesIn(folder)) {
    const isDraft = !name.endsWith(extension);
    if (!isDraft) bytes += file.bytes;
    const isOld = isDraft && file.usedAt < Date.now() - draftMilliseconds;
    if (isOld || (!isDraft && bytes > bytesMaximum)) await rm(path, { force: true });
  }
}
