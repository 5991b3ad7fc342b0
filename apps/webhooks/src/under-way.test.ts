import { setImmediate as turn } from 'node:timers/promises';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { createUnderWay, type UnderWay } from './under-way.ts';

const test = suite('under way');

/** Starts requests that end when they are released or cut off. Gives what they became. */
function start(underWay: UnderWay, count: number, groupOf = (_: number) => 'one') {
  const cut: number[] = [];
  const releases: (() => void)[] = [];
  for (let index = 0; index < count; index += 1) {
    underWay.run(
      groupOf(index),
      (signal) =>
        new Promise((resolve) => {
          releases.push(resolve);
          signal.addEventListener('abort', () => {
            cut.push(index);
            resolve();
          });
        }),
      () => undefined,
    );
  }
  return { cut, releaseAll: () => releases.map((release) => release()) };
}

test('quick requests use up the room and give it back', async () => {
  const underWay = createUnderWay({ maximumQuick: 3, maximumSlow: 3, slowAfterMs: 60_000 });
  const { releaseAll } = start(underWay, 3);
  assert.equal([underWay.room(), underWay.size()], [0, 3]);
  releaseAll();
  await underWay.drained();
  assert.equal([underWay.room(), underWay.size()], [3, 0]);
});

test('what is slow leaves the room to others', () => {
  const underWay = createUnderWay({ maximumQuick: 3, maximumSlow: 3, slowAfterMs: 0 });
  const { cut } = start(underWay, 3);
  assert.is(underWay.room(), 3);
  assert.equal(cut, []);
});

test('when too many are slow, the oldest beside an older one of their endpoint are cut off', async () => {
  const underWay = createUnderWay({ maximumQuick: 3, maximumSlow: 3, slowAfterMs: 0 });
  const { cut } = start(underWay, 5);
  assert.is(underWay.room(), 1, 'never more than both bounds together');
  assert.equal(cut, [1, 2]);
  await turn();
  assert.is(underWay.size(), 3);
  assert.is(underWay.room(), 3);
  assert.equal(cut, [1, 2], 'no more than necessary');
});

test('the oldest slow one of an endpoint goes on while others can be cut off', () => {
  const underWay = createUnderWay({ maximumQuick: 9, maximumSlow: 3, slowAfterMs: 0 });
  const groups = ['alone', 'many', 'many', 'lonely', 'many', 'many'];
  const { cut } = start(underWay, groups.length, (index) => groups[index] ?? '');
  underWay.room();
  assert.equal(cut, [2, 4, 5]);
});

test('when every endpoint has one the oldest are cut off', () => {
  const underWay = createUnderWay({ maximumQuick: 9, maximumSlow: 2, slowAfterMs: 0 });
  const { cut } = start(underWay, 4, String);
  underWay.room();
  assert.equal(cut, [0, 1]);
});

test('the room is never negative by what is slow', () => {
  const underWay = createUnderWay({ maximumQuick: 2, maximumSlow: 100, slowAfterMs: 0 });
  start(underWay, 50);
  assert.is(underWay.room(), 2);
});

test.run();
