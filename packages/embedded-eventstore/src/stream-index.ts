/**
 * The index from a stream and a revision to the place of the record. Revisions whose records follow one another
 * in a block are one run, and one entry: the place of the first.
 */
import { type Block, recordsFrom } from './block.ts';
import type { BlockTable } from './block-table.ts';
import type { CommitEntry, StreamEntry } from './entry.ts';
import { isTombstone, streamIdOf } from './record.ts';
import { readUint64, writeUint64 } from './wire.ts';

/** Revisions of one stream, from this one on, whose records follow one another in a block. */
export interface Run {
  readonly streamId: number;
  readonly revision: number;
  /** The beginning of the block, and the bytes from there to the first record. */
  readonly start: number;
  readonly offset: number;
}

/** The table of the file that holds the runs. */
export interface RunFile {
  getRange(options: {
    readonly start: Buffer;
    readonly end: Buffer;
    readonly inclusiveEnd?: boolean;
    readonly reverse?: boolean;
    readonly limit?: number;
  }): Iterable<{ readonly key: Buffer; readonly value: Buffer }>;
}

/** Reads streams. */
export interface StreamReaders {
  /** The entry of a stream at a revision. */
  streamAt(streamId: number, revision: number): StreamEntry | undefined;
  /** Entries of a stream with `from` <= revision <= `to`, oldest first. */
  streamForward(streamId: number, from: number, to: number): Iterable<StreamEntry>;
  /** Entries of a stream with `to` <= revision <= `from`, newest first. */
  streamBackward(streamId: number, from: number, to: number): Iterable<StreamEntry>;
}

/** The runs of entries that were put into these blocks. */
export function runsOf(entries: readonly CommitEntry[], blocks: readonly Block[]): Run[] {
  const runs: Run[] = [];
  let block = 0;
  let streamId: number | undefined;
  let next = 0;
  for (const { position, revision, ...entry } of entries) {
    if (position >= (blocks[block + 1]?.start ?? Number.POSITIVE_INFINITY)) {
      block += 1;
      streamId = undefined;
    }
    if (revision === undefined) {
      streamId = undefined;
      continue;
    }
    if (entry.streamId !== streamId || revision !== next) {
      const start = blocks[block]?.start ?? 0;
      streamId = entry.streamId;
      runs.push({ streamId, revision, start, offset: position - start });
    }
    next = revision + 1;
  }
  return runs;
}

/** Creates the readers over the runs in a file and the blocks that they lie in. */
export function createStreamReaders(file: RunFile, blocks: BlockTable): StreamReaders {
  /** The revision of the run that a revision is in; the revision itself when there is none. */
  const runWith = (streamId: number, revision: number): number => {
    const range = { start: runKey(streamId, revision), end: runKey(streamId, 0) };
    for (const { key } of file.getRange({
      ...range,
      inclusiveEnd: true,
      reverse: true,
      limit: 1,
    })) {
      return readUint64(key, 4);
    }
    return revision;
  };
  function* entriesOf(key: Buffer, value: Buffer): Generator<StreamEntry> {
    const streamId = key.readUInt32BE(0);
    let revision = readUint64(key, 4);
    const start = readUint64(value, 0);
    const block = blocks.startingAt(start);
    if (block === undefined) throw new Error('a block of the log is missing: damaged store');
    for (const entry of recordsFrom(block, start + value.readUInt32BE(8))) {
      if (streamIdOf(entry.record) !== streamId || isTombstone(entry.record)) return;
      yield { ...entry, revision };
      revision += 1;
    }
  }
  function* forward(streamId: number, from: number, to: number): Generator<StreamEntry> {
    const first = from > 0 ? runWith(streamId, from) : 0;
    const range = { start: runKey(streamId, first), end: runKey(streamId, to + 1) };
    for (const { key, value } of file.getRange(range)) {
      for (const entry of entriesOf(key, value)) {
        if (entry.revision > to) return;
        if (entry.revision >= from) yield entry;
      }
    }
  }
  function* backward(streamId: number, from: number, to: number): Generator<StreamEntry> {
    const range = { start: runKey(streamId, from), end: runKey(streamId, 0) };
    for (const { key, value } of file.getRange({ ...range, inclusiveEnd: true, reverse: true })) {
      for (const entry of [...entriesOf(key, value)].reverse()) {
        if (entry.revision < to) return;
        if (entry.revision <= from) yield entry;
      }
    }
  }
  return {
    streamAt: (streamId, revision) => {
      for (const entry of backward(streamId, revision, revision)) return entry;
      return undefined;
    },
    streamForward: forward,
    streamBackward: backward,
  };
}

/** Key and value of a run for the file. */
export function encodeRun({ streamId, revision, start, offset }: Run): {
  readonly key: Buffer;
  readonly value: Buffer;
} {
  const value = Buffer.allocUnsafe(12);
  writeUint64(value, start, 0);
  value.writeUInt32BE(offset, 8);
  return { key: runKey(streamId, revision), value };
}

function runKey(streamId: number, revision: number): Buffer {
  const key = Buffer.allocUnsafe(12);
  key.writeUInt32BE(streamId, 0);
  writeUint64(key, revision, 4);
  return key;
}
