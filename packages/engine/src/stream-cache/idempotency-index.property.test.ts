import fc from 'fast-check';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { IdempotencyIndex, type RequestSpan } from './idempotency-index.ts';

const test = suite('idempotency index');

/** The form that the digests of requests have. */
const digestOf = (words: readonly number[]): string => {
  const bytes = Buffer.alloc(16);
  for (const [index, word] of words.entries()) bytes.writeUInt32BE(word, 4 * index);
  return bytes.toString('base64url');
};

/** Few first words, so that keys meet in the same slots; hashes, and keys that are none. */
const keys = fc.oneof(
  fc
    .tuple(fc.constantFrom(0, 1, 2 ** 32 - 1, 2 ** 31), fc.nat(2), fc.nat(2), fc.nat(10))
    .map(digestOf),
  fc.nat(40).map((number) => `key ${number}`),
);
const spans = fc
  .tuple(fc.nat(2_000_000_000), fc.nat(1_000))
  .map(([first, more]): RequestSpan => ({ first, last: first + more }));

const note = (index: IdempotencyIndex, key: string, { first, last }: RequestSpan): void =>
  index.note({ key, fields: {}, events: last - first + 1 }, first);

test('knows what a map knows, whatever is noted in whatever order', () => {
  fc.assert(
    fc.property(fc.array(fc.tuple(keys, spans), { maxLength: 300 }), keys, (noted, other) => {
      const map = new Map(noted);
      const index = new IdempotencyIndex();
      for (const [key, span] of noted) note(index, key, span);
      for (const copy of [index, new IdempotencyIndex(index.words.slice())]) {
        assert.is(copy.size, map.size);
        for (const [key, span] of map) assert.equal(copy.get(key), span);
        assert.equal(copy.get(other), map.get(other));
      }
    }),
  );
});

test('a new index knows nothing', () => {
  assert.is(new IdempotencyIndex().get(digestOf([0, 0, 0, 0])), undefined);
});

test('what cannot be an index is refused, and so is a revision that does not fit', () => {
  assert.throws(() => new IdempotencyIndex(new Uint32Array(7)), /no table of requests/);
  assert.throws(() => new IdempotencyIndex(new Uint32Array(18)), /no table of requests/);
  const span = { first: 2 ** 32, last: 2 ** 32 };
  assert.throws(() => note(new IdempotencyIndex(), 'a', span), /does not fit/);
});

test.run();
