import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { atEvent, pairOf, positionOf } from './position.ts';

const test = suite('position');

test('a place is taken up by the very pair that named it', () => {
  for (const commit of [1, 299, 2 ** 53 - 1]) {
    for (const prepare of [0, commit]) {
      const position = positionOf({ commit, prepare });
      assert.equal(pairOf(position), { commit: BigInt(commit), prepare: BigInt(prepare) });
    }
  }
});

test('a pair whose second half is not its own event stands for the place before the first half', () => {
  assert.is(positionOf({ commit: 300, prepare: 299 }), positionOf({ commit: 300, prepare: 0 }));
});

test('places are in the order of the log: before an event, at it, before the next', () => {
  const places = [
    positionOf({ commit: 7, prepare: 0 }),
    atEvent(7),
    positionOf({ commit: 8, prepare: 0 }),
    atEvent(8),
  ];
  assert.equal(
    places,
    places.toSorted((a, b) => Number(a - b)),
  );
  assert.is(new Set(places).size, 4);
  assert.is(positionOf({ commit: 7, prepare: 7 }), atEvent(7));
});

test.run();
