import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { firstPortion, nextPortion } from './portion-size.ts';

const test = suite('portions of rows');

const rowsOf = (count: number, length: number) =>
  Array.from({ length: count }, () => ({ id: 7, text: 'x'.repeat(length), none: null }));

test('short rows come in larger and larger portions, up to a number', () => {
  const sizes = [firstPortion];
  for (let time = 0; time < 5; time += 1) {
    const before = sizes.at(-1) ?? 0;
    sizes.push(nextPortion(before, rowsOf(before, 250)));
  }
  assert.equal(sizes, [100, 200, 400, 800, 1_000, 1_000]);
});

test('long rows come few at a time, and one that is longer than a portion alone', () => {
  assert.is(nextPortion(1_000, rowsOf(1_000, 32_000)), 62);
  assert.is(nextPortion(62, rowsOf(62, 3_000_000)), 1);
  assert.is(nextPortion(1, rowsOf(1, 100)), 2);
  assert.is(nextPortion(1, [{ id: 7 }]), 2);
});

test.run();
