/**
 * The files: one LMDB environment with four databases. `log` maps a position to a block, the records
 * from there on (block.ts). `index` maps a stream and a revision to the place of its record in a block,
 * one entry for revisions that follow one another there. `streams` maps a name to what is known of the
 * stream, `meta` holds format, generation and counters. A commit is one LMDB transaction that is
 * on disk when its promise resolves, so readers can only ever see events that survive a crash.
 */
import { randomUUID } from 'node:crypto';
import { type Database, open, type RootDatabase } from 'lmdb';
import { blocksOf, recordAt, recordsFrom } from './block.ts';
import { type BlockTable, createBlockTable } from './block-table.ts';
import type { CommitEntry, LogEntry, StreamEntry } from './entry.ts';
import { limits } from './limits.ts';
import { createStreamReaders, encodeRun, type Run, runsOf } from './stream-index.ts';
import { readUint64, writeUint64 } from './wire.ts';

const FORMAT_VERSION = '2';
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
  recordAt(position: number): Buffer | undefined;
  /** Entries with `from` <= position <= `to`, oldest first. */
  logForward(from: number, to: number, limit: number): LogEntry[];
  /** Entries with position < `before`, newest first. */
  logBackward(before: number, limit: number): LogEntry[];
  /** The entry of one stream at a revision. */
  streamAt(streamId: number, revision: number): StreamEntry | undefined;
  /** Entries of one stream with `from` <= revision <= `to`, oldest first. */
  streamForward(streamId: number, from: number, to: number, limit: number): StreamEntry[];
  /** Entries of one stream with `to` <= revision <= `from`, newest first. */
  streamBackward(streamId: number, from: number, to: number, limit: number): StreamEntry[];
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
  const blocks = createBlockTable(tables.log);
  const counters = readCounters(tables.meta, blocks);
  const readers = createStreamReaders(tables.index, blocks);
  return {
    generation,
    counters,
    findStream: (name) => decodeRow(tables.streams.get(Buffer.from(name))),
    recordAt: (position) => {
      for (const block of blocks.forward(position)) return recordAt(block, position);
      return undefined;
    },
    logForward: (from, to, limit) => takePage(forwardEntries(blocks, from, to), limit),
    logBackward: (before, limit) => takePage(backwardEntries(blocks, before), limit),
    streamAt: readers.streamAt,
    streamForward: (id, from, to, limit) => takePage(readers.streamForward(id, from, to), limit),
    streamBackward: (id, from, to, limit) => takePage(readers.streamBackward(id, from, to), limit),
    commit: async (batch) => {
      const added = blocksOf(batch.entries);
      await commitBatch(
        root,
        tables,
        batch,
        added.map(blocks.encode),
        runsOf(batch.entries, added),
      ).catch(rethrowCause);
      root.resetReadTxn();
      blocks.added(added);
    },
    close: () => root.close(),
  };
}

function* forwardEntries(blocks: BlockTable, from: number, to: number): Generator<LogEntry> {
  for (const block of blocks.forward(from)) {
    if (block.start > to) return;
    for (const entry of recordsFrom(block, from)) {
      if (entry.position > to) return;
      yield entry;
    }
  }
}

function* backwardEntries(blocks: BlockTable, before: number): Generator<LogEntry> {
  for (const block of blocks.backward(before)) {
    const entries = [...recordsFrom(block, 0)];
    for (const entry of entries.reverse()) if (entry.position < before) yield entry;
  }
}

function takePage<Entry extends LogEntry>(entries: Iterable<Entry>, limit: number): Entry[] {
  const page: Entry[] = [];
  let bytes = 0;
  for (const entry of entries) {
    page.push(entry);
    bytes += entry.record.length;
    if (page.length >= limit || bytes >= limits.readPageBytes) break;
  }
  return page;
}

/**
 * Blocks come in the order of their keys: told so, LMDB fills each page before it begins the next, and
 * refuses one that is out of order. The types of `put` leave out that it takes options.
 */
const atTheEnd = { append: true } as unknown as number;

/** Writes everything in one transaction; resolves when it is synced to disk. */
async function commitBatch(
  root: RootDatabase<Buffer, Buffer>,
  { log, index, streams, meta }: Tables,
  batch: CommitBatch,
  blocks: readonly { readonly key: Buffer; readonly value: Buffer }[],
  runs: readonly Run[],
): Promise<void> {
  // Each operation has a promise (mostly the same one) that fails with the transaction.
  const operations = new Set<Promise<boolean>>();
  operations.add(
    root.batch(() => {
      for (const { key, value } of blocks) operations.add(log.put(key, value, atTheEnd));
      for (const { key, value } of runs.map(encodeRun)) operations.add(index.put(key, value));
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

function readCounters(meta: Table, blocks: BlockTable): Counters {
  const stored = meta.get(META_COUNTERS);
  if (stored === undefined) throw new Error('the store has no counters: damaged store');
  const counters = {
    nextPosition: readUint64(stored, 0),
    nextStreamId: stored.readUInt32BE(8),
  };
  // Counters and log are written together, so a difference means that the files were tampered with.
  const [last] = takePage(backwardEntries(blocks, Number.MAX_SAFE_INTEGER), 1);
  const expected = last === undefined ? 1 : last.position + last.record.length;
  if (expected !== counters.nextPosition) {
    throw new Error(
      `the log ends before position ${expected} but the counter says ${counters.nextPosition}: damaged store`,
    );
  }
  return counters;
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
