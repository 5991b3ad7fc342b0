/**
 * Blocks: records that follow one another in the log and are written by one transaction, as one value. The
 * positions of the log count bytes, so a record stands in its block as many bytes behind the beginning as its
 * position is behind that of the block.
 */
import { constants, zstdCompressSync, zstdDecompressSync } from 'node:zlib';
import type { LogEntry } from './entry.ts';
import { limits } from './limits.ts';
import { recordEnd } from './record.ts';

/** Records that follow one another. */
export interface Block {
  /** Position of the first record. */
  readonly start: number;
  /** The records, one behind the other. */
  readonly bytes: Buffer;
}

const PLAIN = 0;
const COMPRESSED = 1;

// With a checksum: a damaged block is an error of its readers and never another text.
const compression = {
  params: {
    [constants.ZSTD_c_compressionLevel]: 1,
    [constants.ZSTD_c_checksumFlag]: 1,
  },
};

/** Puts entries that follow one another in the log into blocks of bounded size. */
export function blocksOf(entries: readonly LogEntry[]): Block[] {
  const blocks: Block[] = [];
  let records: Buffer[] = [];
  let start = 0;
  let length = 0;
  const finish = (): void => {
    const [only] = records;
    if (only === undefined) return;
    const bytes = records.length === 1 ? only : Buffer.concat(records, length);
    blocks.push({ start, bytes });
  };
  for (const { position, record } of entries) {
    if (length > 0 && length + record.length > limits.blockBytes) {
      finish();
      records = [];
      length = 0;
    }
    if (length === 0) start = position;
    records.push(record);
    length += record.length;
  }
  finish();
  return blocks;
}

/** The index of the last of blocks that begins at or before a position; -1 when all begin behind it. */
export function indexOfBlock(blocks: readonly Block[], position: number): number {
  let low = 0;
  let high = blocks.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((blocks[middle]?.start ?? 0) <= position) low = middle + 1;
    else high = middle;
  }
  return low - 1;
}

/** The value that stands for a block in the file. */
export function encodeBlock(bytes: Buffer): Buffer {
  const isSmall = bytes.length <= limits.plainBlockBytes;
  const content = isSmall ? bytes : zstdCompressSync(bytes, compression);
  return Buffer.concat([Buffer.from([isSmall ? PLAIN : COMPRESSED]), content]);
}

/** The records of a value that `encodeBlock` made. Throws on any other value. */
export function decodeBlock(value: Buffer): Buffer {
  const content = value.subarray(1);
  if (value[0] === PLAIN) return content;
  if (value[0] === COMPRESSED) return zstdDecompressSync(content);
  throw new Error('a block of the log is damaged');
}

/** The records of a block, in order, from the first one at or behind a position on. */
export function* recordsFrom(block: Block, position: number): Generator<LogEntry> {
  const { start, bytes } = block;
  let at = 0;
  while (at < bytes.length) {
    const end = recordEnd(bytes, at);
    if (end > bytes.length) throw new Error('a record runs past the end of its block');
    if (start + at >= position) yield { position: start + at, record: bytes.subarray(at, end) };
    at = end;
  }
}

/** The record at a position, which must be in the block; undefined when none begins there. */
export function recordAt(block: Block, position: number): Buffer | undefined {
  for (const entry of recordsFrom(block, position)) {
    return entry.position === position ? entry.record : undefined;
  }
  return undefined;
}
