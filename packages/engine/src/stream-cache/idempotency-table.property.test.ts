import fc from 'fast-check';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { IdempotencyTable, type RequestSpan } from './idempotency-table.ts';

const test = suite('table of requests');

/** Few first words, so that keys meet in the same slots; marks, and keys that are no hashes. */
const keys = fc.oneof(
  fc
    .tuple(fc.constantFrom('00000000', '00000001', 'ffffffff', '80000000'), fc.nat(40))
    .map(([start, rest]) => start + rest.toString(16).padStart(24, '0')),
  fc.nat(40).map((number) => `key ${number}`),
);
const spans = fc
  .tuple(fc.nat(2_000_000_000), fc.nat(1_000))
  .map(([first, more]): RequestSpan => ({ first, last: first + more }));

test('knows what a map knows, whatever is noted in whatever order', () => {
  fc.assert(
    fc.property(fc.array(fc.tuple(keys, spans), { maxLength: 300 }), keys, (noted, other) => {
      const map = new Map(noted);
      const table = new IdempotencyTable();
      for (const [key, span] of noted) table.set(key, span);
      for (const copy of [table, IdempotencyTable.from(table.words.slice())]) {
        assert.is(copy.size, map.size);
        for (const [key, span] of map) assert.equal(copy.get(key), span);
        assert.equal(copy.get(other), map.get(other));
      }
    }),
  );
});

test('a new table knows nothing', () => {
  assert.is(new IdempotencyTable().get('0'.repeat(32)), undefined);
});

test('what cannot be a table is refused, and so is a revision that does not fit', () => {
  assert.throws(() => IdempotencyTable.from(new Uint32Array(7)), /no table of requests/);
  assert.throws(() => IdempotencyTable.from(new Uint32Array(18)), /no table of requests/);
  const span = { first: 2 ** 32, last: 2 ** 32 };
  assert.throws(() => new IdempotencyTable().set('a', span), /does not fit/);
});

test.run();
