import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import {
  blocksOf,
  decodeBlock,
  encodeBlock,
  indexOfBlock,
  recordAt,
  recordsFrom,
} from './block.ts';
import type { LogEntry } from './entry.ts';
import { limits } from './limits.ts';
import { encodeRecord } from './record.ts';

const test = suite('blocks');

/** Entries that follow one another, with these lengths of data. */
function entriesOf(lengths: readonly number[]): LogEntry[] {
  let position = 1;
  return lengths.map((length, revision) => {
    const event = {
      id: '0f8fad5b-d9cb-469f-a165-70867728950e',
      type: 'T',
      isJson: true,
      data: Buffer.alloc(length, 'x'),
      metadata: Buffer.alloc(0),
    };
    const place = { streamName: Buffer.from('s'), streamId: 1, revision, position, createdAt: 1 };
    const entry = { position, record: encodeRecord(event, place) };
    position += entry.record.length;
    return entry;
  });
}

const all = (entries: Iterable<LogEntry>): LogEntry[] => [...entries];

test('records are found again in their blocks, each at its position', () => {
  const entries = entriesOf([0, 1, 127, 128, 20_000, 20_000, 100_000, 3]);
  const blocks = blocksOf(entries);
  assert.equal(
    blocks.flatMap((block) => all(recordsFrom(block, 0))),
    entries,
  );
  for (const { position, record } of entries) {
    const block = blocks[indexOfBlock(blocks, position)];
    assert.ok(block);
    assert.equal(recordAt(block, position), record);
    assert.is(recordAt(block, position + 1), undefined);
  }
  assert.is(indexOfBlock(blocks, 0), -1);
});

test('a block has at most its size, but always a record', () => {
  const lengths = blocksOf(entriesOf([9_000, 9_000, 9_000, 9_000, 90_000, 10, 10])).map(
    (block) => all(recordsFrom(block, 0)).length,
  );
  assert.equal(lengths, [3, 1, 1, 2]);
  assert.equal(blocksOf([]), []);
});

test('the value in the file is the same block again, small and large', () => {
  for (const length of [1, limits.plainBlockBytes, limits.plainBlockBytes + 1, 500_000]) {
    const bytes = Buffer.alloc(length, 'record');
    assert.equal(decodeBlock(encodeBlock(bytes)), bytes);
  }
});

test('a compressed block with another byte in it is never read as another text', () => {
  const bytes = Buffer.concat(entriesOf([3_000, 3_000]).map(({ record }) => record));
  const value = encodeBlock(bytes);
  let refused = 0;
  for (let at = 0; at < value.length; at += 1) {
    const damaged = Buffer.from(value);
    damaged[at] = (damaged[at] ?? 0) ^ 4;
    try {
      assert.equal(decodeBlock(damaged), bytes);
    } catch (error) {
      if (error instanceof assert.Assertion) throw error;
      refused += 1;
    }
  }
  assert.ok(refused > value.length - 5);
});

test.run();
