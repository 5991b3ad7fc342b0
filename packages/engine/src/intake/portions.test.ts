import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { portionsOf } from './portions.ts';

const test = suite('portions');

const portions = (weights: readonly number[], maximum: number) => [
  ...portionsOf(weights, (weight) => weight, maximum),
];

test('things are cut where they weigh enough, in their order, and none is lost', () => {
  assert.equal(portions([1, 1, 1, 1, 1], 2), [[1, 1], [1, 1], [1]]);
  assert.equal(portions([1, 5, 1, 1], 3), [
    [1, 5],
    [1, 1],
  ]);
  assert.equal(portions([9], 3), [[9]]);
  assert.equal(portions([0, 0, 3, 0], 3), [[0, 0, 3], [0]]);
  assert.equal(portions([], 3), []);
});

test.run();
