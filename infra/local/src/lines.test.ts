import { Readable } from 'node:stream';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { linesOf } from './lines.ts';

const test = suite('lines of a stream');

async function read(chunks: (string | Buffer)[], limit?: number): Promise<string[]> {
  const buffers = chunks.map((chunk) => Buffer.from(chunk));
  const lines: string[] = [];
  for await (const line of linesOf(Readable.from(buffers, { objectMode: false }), limit)) {
    lines.push(line);
  }
  return lines;
}

test('joins what arrives in pieces and splits what arrives together', async () => {
  assert.equal(await read(['a', 'b\nc\n', 'd']), ['ab', 'c', 'd']);
});

test('keeps empty lines and adds none at the end', async () => {
  assert.equal(await read(['a\n\nb\n']), ['a', '', 'b']);
});

test('keeps a character whole that is cut between two chunks', async () => {
  const bytes = Buffer.from('né\n');
  assert.equal(await read([bytes.subarray(0, 2), bytes.subarray(2)]), ['né']);
});

test('gives a line over the limit in pieces, whether it ends or not', async () => {
  assert.equal(await read(['abcdefg\nh\n'], 3), ['abc', 'def', 'g', 'h']);
  assert.equal(await read(['abc', 'def', 'g'], 3), ['abc', 'def', 'g']);
});

test.run();
