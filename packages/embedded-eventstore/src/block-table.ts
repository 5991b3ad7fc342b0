/**
 * The log as blocks: those in the file, and those in memory. The newest stay in memory, so that whoever
 * follows the log is served without a look into the file.
 */
import { LRUCache } from 'lru-cache';
import { type Block, decodeBlock, encodeBlock, indexOfBlock } from './block.ts';
import { limits } from './limits.ts';
import { readUint64, writeUint64 } from './wire.ts';

/** The table of the file that holds the blocks, by their positions. */
export interface BlockFile {
  get(key: Buffer): Buffer | undefined;
  getRange(options: {
    readonly start?: Buffer;
    readonly reverse?: boolean;
    readonly limit?: number;
  }): Iterable<{ readonly key: Buffer; readonly value: Buffer }>;
}

/** The blocks of a log. */
export interface BlockTable {
  /** The block that starts at a position. */
  startingAt(start: number): Block | undefined;
  /** Blocks in their order, from the one that contains the position, or else begins behind it, on. */
  forward(position: number): Generator<Block>;
  /** Blocks in reverse, from the one that contains the last record before the position on. */
  backward(before: number): Generator<Block>;
  /** Key and value of a block for the file. */
  encode(block: Block): { readonly key: Buffer; readonly value: Buffer };
  /** Takes blocks that are on disk now and come after all others. */
  added(blocks: readonly Block[]): void;
}

/** Creates the table over the blocks in a file. */
export function createBlockTable(file: BlockFile): BlockTable {
  const newest: Block[] = [];
  let newestBytes = 0;
  const decoded = new LRUCache<number, Block>({
    maxSize: limits.blockCacheBytes,
    sizeCalculation: ({ bytes }) => bytes.length,
  });

  const take = (start: number, value: Buffer): Block => {
    const known = decoded.get(start);
    if (known !== undefined) return known;
    const block = { start, bytes: decodeBlock(value) };
    decoded.set(start, block);
    return block;
  };
  function* inFile(from: number, reverse: boolean): Generator<Block> {
    for (const { key, value } of file.getRange({ start: blockKey(from), reverse })) {
      yield take(readUint64(key, 0), value);
    }
  }
  const lastBefore = (position: number): Block | undefined => {
    for (const block of inFile(position, true)) return block;
    return undefined;
  };

  return {
    startingAt: (start) => {
      const known = newest[indexOfBlock(newest, start)] ?? decoded.get(start);
      if (known?.start === start) return known;
      const value = file.get(blockKey(start));
      return value && take(start, value);
    },
    forward: function* (position) {
      const index = indexOfBlock(newest, position);
      if (index >= 0) {
        for (let next = index; next < newest.length; next += 1) yield newest[next] as Block;
        return;
      }
      yield* inFile(lastBefore(position)?.start ?? position, false);
    },
    backward: (before) => inFile(Math.max(0, before - 1), true),
    encode: ({ start, bytes }) => ({ key: blockKey(start), value: encodeBlock(bytes) }),
    added: (blocks) => {
      for (const block of blocks) {
        newest.push(block);
        newestBytes += block.bytes.length;
      }
      if (newestBytes > 2 * limits.newestBlockBytes) forgetOldest();
    },
  };

  /** Half at once, so that a block costs the same however many there are. */
  function forgetOldest(): void {
    let count = 0;
    while (newestBytes > limits.newestBlockBytes && count < newest.length - 1) {
      newestBytes -= newest[count]?.bytes.length ?? 0;
      count += 1;
    }
    newest.splice(0, count);
  }
}

function blockKey(start: number): Buffer {
  const key = Buffer.allocUnsafe(8);
  writeUint64(key, start, 0);
  return key;
}
