/**
 * The files: one LMDB environment with four databases. `log` maps a position to its record,
 * `index` maps (stream id, revision) to a position, `streams` maps a name to what is known of the
 * stream, `meta` holds format, generation and counters. A commit is one LMDB transaction that is
 * on disk when its promise resolves, so readers can only ever see events that survive a crash.
 */
import { randomUUID } from 'node:crypto';
import { type Database, open, type RootDatabase } from 'lmdb';
import { limits } from './limits.ts';
import { readUint64, writeUint64 } from './wire.ts';

const FORMAT_VERSION = '1';
// Only address space is reserved; the file grows with its content.
const MAP_BYTES = 256 * 1024 ** 3;

/** The stored state of one stream. */
export interface StreamRow {
  readonly id: number;
  /** Revision of the last event, or -1. */
  readonly lastRevision: number;
  /** Position of the `$streamDeleted` event when the stream was deleted for ever. */
  readonly tombstonePosition?: number;
}

/** A record of the log at its position. */
export interface LogEntry {
  readonly position: number;
  readonly record: Buffer;
}

/** A revision of a stream, and the position of its event. */
export interface IndexEntry {
  readonly revision: number;
  readonly position: number;
}

/** One event of a commit; a tombstone has no revision and is not in the stream's index. */
export interface CommitEntry extends LogEntry {
  readonly streamId: number;
  readonly revision?: number;
}

/** The next numbers that a write may use. */
export interface Counters {
  readonly nextPosition: number;
  readonly nextStreamId: number;
}

/** Everything that one transaction makes durable. */
export interface CommitBatch {
  readonly entries: readonly CommitEntry[];
  readonly streams: ReadonlyMap<string, StreamRow>;
  readonly counters: Counters;
}

/** The database file of a store. */
export interface Storage {
  /** Identity of this store; it changes when the directory starts empty. */
  readonly generation: string;
  readonly counters: Counters;
  findStream(name: string): StreamRow | undefined;
  positionOf(streamId: number, revision: number): number | undefined;
  recordAt(position: number): Buffer | undefined;
  /** Entries with `from` <= position <= `to`, oldest first. */
  logForward(from: number, to: number, limit: number): LogEntry[];
  /** Entries with position < `before`, newest first. */
  logBackward(before: number, limit: number): LogEntry[];
  /** Entries of one stream with `from` <= revision <= `to`, oldest first. */
  indexForward(streamId: number, from: number, to: number, limit: number): IndexEntry[];
  /** Entries of one stream with `to` <= revision <= `from`, newest first. */
  indexBackward(streamId: number, from: number, to: number, limit: number): IndexEntry[];
  /** Resolves when the batch is on disk; rejects when it is not, after which nothing is certain. */
  commit(batch: CommitBatch): Promise<void>;
  close(): Promise<void>;
}

type Table = Database<Buffer, Buffer>;
type Tables = Readonly<Record<'log' | 'index' | 'streams' | 'meta', Table>>;

const META_FORMAT = Buffer.from('format');
const META_GENERATION = Buffer.from('generation');
const META_COUNTERS = Buffer.from('counters');
const FIRST_COUNTERS: Counters = { nextPosition: 1, nextStreamId: 1 };

/** Opens or creates the files in `directory`, which the caller must have locked. */
export async function openStorage(directory: string): Promise<Storage> {
  const root: RootDatabase<Buffer, Buffer> = open({
    path: directory,
    noSubdir: false,
    mapSize: MAP_BYTES,
    // With overlapping syncs a transaction is readable before it is on disk.
    overlappingSync: false,
    // Commits are batches of their own; LMDB's batches would fail with promises that nothing can handle.
    eventTurnBatching: false,
    encoding: 'binary',
    keyEncoding: 'binary',
    maxDbs: 8,
  });
  try {
    const table = (name: string): Table =>
      root.openDB<Buffer, Buffer>({ name, encoding: 'binary', keyEncoding: 'binary' });
    const tables = {
      log: table('log'),
      index: table('index'),
      streams: table('streams'),
      meta: table('meta'),
    };
    const generation = await openFormat(tables.meta, directory);
    return createStorage(root, tables, generation);
  } catch (error) {
    await root.close();
    throw error;
  }
}

async function openFormat(meta: Table, directory: string): Promise<string> {
  const format = meta.get(META_FORMAT)?.toString();
  if (format === undefined) {
    const generation = randomUUID();
    await meta.batch(() => {
      void meta.put(META_FORMAT, Buffer.from(FORMAT_VERSION));
      void meta.put(META_GENERATION, Buffer.from(generation));
      void meta.put(META_COUNTERS, encodeCounters(FIRST_COUNTERS));
    });
    return generation;
  }
  if (format !== FORMAT_VERSION) {
    throw new Error(
      `${directory} holds an event store of format ${format}; this version reads format ${FORMAT_VERSION}`,
    );
  }
  const generation = meta.get(META_GENERATION)?.toString();
  if (generation === undefined) throw new Error(`${directory} holds no generation: damaged store`);
  return generation;
}

function createStorage(
  root: RootDatabase<Buffer, Buffer>,
  tables: Tables,
  generation: string,
): Storage {
  const { log, index, streams, meta } = tables;
  const counters = readCounters(meta, log);
  return {
    generation,
    counters,
    findStream: (name) => decodeRow(streams.get(Buffer.from(name))),
    positionOf: (streamId, revision) => {
      const value = index.get(indexKey(streamId, revision));
      return value && readUint64(value, 0);
    },
    recordAt: (position) => log.get(positionKey(position)),
    logForward: (from, to, limit) =>
      takePage(log.getRange({ start: positionKey(from), end: positionKey(to + 1), limit })),
    logBackward: (before, limit) =>
      takePage(log.getRange({ start: positionKey(Math.max(0, before - 1)), reverse: true, limit })),
    indexForward: (streamId, from, to, limit) =>
      takeIndex(
        index.getRange({ start: indexKey(streamId, from), end: indexKey(streamId, to + 1), limit }),
      ),
    indexBackward: (streamId, from, to, limit) =>
      takeIndex(
        index.getRange({
          start: indexKey(streamId, from),
          end: indexKey(streamId, to),
          inclusiveEnd: true,
          reverse: true,
          limit,
        }),
      ),
    commit: async (batch) => {
      await commitBatch(root, tables, batch).catch(rethrowCause);
      root.resetReadTxn();
    },
    close: () => root.close(),
  };
}

/** Writes everything in one transaction; resolves when it is synced to disk. */
async function commitBatch(
  root: RootDatabase<Buffer, Buffer>,
  { log, index, streams, meta }: Tables,
  batch: CommitBatch,
): Promise<void> {
  // Each operation has a promise (mostly the same one) that fails with the transaction.
  const operations = new Set<Promise<boolean>>();
  operations.add(
    root.batch(() => {
      for (const { position, record, streamId, revision } of batch.entries) {
        const key = positionKey(position);
        operations.add(log.put(key, record));
        if (revision !== undefined) operations.add(index.put(indexKey(streamId, revision), key));
      }
      for (const [name, row] of batch.streams) {
        operations.add(streams.put(Buffer.from(name), encodeRow(row)));
      }
      operations.add(meta.put(META_COUNTERS, encodeCounters(batch.counters)));
    }),
  );
  const results = await Promise.all(operations);
  if (results.includes(false)) throw new Error('the transaction was not committed');
}

/** Throws the cause of a failed commit, which LMDB hides in a second promise that nothing else handles. */
async function rethrowCause(error: unknown): Promise<never> {
  if (error instanceof Error && 'commitError' in error) await error.commitError;
  throw error;
}

function readCounters(meta: Table, log: Table): Counters {
  const stored = meta.get(META_COUNTERS);
  if (stored === undefined) throw new Error('the store has no counters: damaged store');
  const counters = {
    nextPosition: readUint64(stored, 0),
    nextStreamId: stored.readUInt32BE(8),
  };
  // Counters and log are written together, so a difference means that the files were tampered with.
  const [last] = takePage(log.getRange({ reverse: true, limit: 1 }));
  const expected = last === undefined ? 1 : last.position + last.record.length;
  if (expected !== counters.nextPosition) {
    throw new Error(
      `the log ends before position ${expected} but the counter says ${counters.nextPosition}: damaged store`,
    );
  }
  return counters;
}

function takePage(range: Iterable<{ key: Buffer; value: Buffer }>): LogEntry[] {
  const entries: LogEntry[] = [];
  let bytes = 0;
  for (const { key, value } of range) {
    entries.push({ position: readUint64(key, 0), record: value });
    bytes += value.length;
    if (bytes >= limits.readPageBytes) break;
  }
  return entries;
}

function takeIndex(range: Iterable<{ key: Buffer; value: Buffer }>): IndexEntry[] {
  const entries: IndexEntry[] = [];
  for (const { key, value } of range) {
    entries.push({ revision: readUint64(key, 4), position: readUint64(value, 0) });
  }
  return entries;
}

function positionKey(position: number): Buffer {
  const key = Buffer.allocUnsafe(8);
  writeUint64(key, position, 0);
  return key;
}

function indexKey(streamId: number, revision: number): Buffer {
  const key = Buffer.allocUnsafe(12);
  key.writeUInt32BE(streamId, 0);
  writeUint64(key, revision, 4);
  return key;
}

function encodeCounters(counters: Counters): Buffer {
  const value = Buffer.allocUnsafe(12);
  writeUint64(value, counters.nextPosition, 0);
  value.writeUInt32BE(counters.nextStreamId, 8);
  return value;
}

// The number of events is stored instead of the last revision because it is never negative.
function encodeRow(row: StreamRow): Buffer {
  const value = Buffer.allocUnsafe(20);
  value.writeUInt32BE(row.id, 0);
  writeUint64(value, row.lastRevision + 1, 4);
  writeUint64(value, row.tombstonePosition ?? 0, 12);
  return value;
}

function decodeRow(value: Buffer | undefined): StreamRow | undefined {
  if (value === undefined) return undefined;
  const tombstonePosition = readUint64(value, 12);
  return {
    id: value.readUInt32BE(0),
    lastRevision: readUint64(value, 4) - 1,
    ...(tombstonePosition > 0 ? { tombstonePosition } : {}),
  };
}
