import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { chooser, randomFrom } from './chance.ts';

const test = suite('chance of the load generator');

const draws = 20_000;

const countsOf = (choose: () => number, length: number): number[] => {
  const counts = Array.from({ length }, () => 0);
  for (let draw = 0; draw < draws; draw += 1) {
    const place = choose();
    counts[place] = (counts[place] ?? Number.NaN) + 1;
  }
  return counts;
};

test('the same seed gives the same numbers, another seed others', () => {
  const three = (seed: number) => {
    const random = randomFrom(seed);
    return [random(), random(), random()];
  };
  assert.equal(three(42), three(42));
  assert.not.equal(three(42), three(43));
});

test('uniform: every place is drawn about as often as any other', () => {
  const counts = countsOf(chooser({ kind: 'uniform' }, 10, randomFrom(1)), 10);
  for (const count of counts) assert.ok(Math.abs(count - draws / 10) < draws / 50, String(count));
});

test('zipf: the k-th place is drawn in proportion to 1 / k', () => {
  const counts = countsOf(chooser({ kind: 'zipf', exponent: 1 }, 4, randomFrom(2)), 4);
  const harmonic = 1 + 1 / 2 + 1 / 3 + 1 / 4;
  for (const [place, count] of counts.entries()) {
    const expected = draws / ((place + 1) * harmonic);
    assert.ok(Math.abs(count - expected) < draws / 50, `${place}: ${count}, not ${expected}`);
  }
});

test('a list of one has one place', () => {
  assert.is(chooser({ kind: 'zipf', exponent: 1 }, 1, randomFrom(3))(), 0);
  assert.is(chooser({ kind: 'uniform' }, 1, randomFrom(3))(), 0);
});

test.run();
