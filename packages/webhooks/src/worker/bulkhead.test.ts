import { setImmediate as turn } from 'node:timers/promises';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { type Bulkhead, createBulkhead } from './bulkhead.ts';

const test = suite('under way');

/** Starts requests that end when they are released or cut off. Gives what they became. */
function start(bulkhead: Bulkhead, count: number, groupOf = (_: number) => 'one') {
  const cut: number[] = [];
  const releases: (() => void)[] = [];
  for (let index = 0; index < count; index += 1) {
    bulkhead.run(
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
  const bulkhead = createBulkhead({ maximumQuick: 3, maximumSlow: 3, slowAfterMs: 60_000 });
  const { releaseAll } = start(bulkhead, 3);
  assert.equal([bulkhead.room(), bulkhead.size()], [0, 3]);
  releaseAll();
  await bulkhead.drained();
  assert.equal([bulkhead.room(), bulkhead.size()], [3, 0]);
});

test('what is slow leaves the room to others', () => {
  const bulkhead = createBulkhead({ maximumQuick: 3, maximumSlow: 3, slowAfterMs: 0 });
  const { cut } = start(bulkhead, 3);
  assert.is(bulkhead.room(), 3);
  assert.equal(cut, []);
});

test('when too many are slow, the oldest beside an older one of their endpoint are cut off', async () => {
  const bulkhead = createBulkhead({ maximumQuick: 3, maximumSlow: 3, slowAfterMs: 0 });
  const { cut } = start(bulkhead, 5);
  assert.is(bulkhead.room(), 1, 'never more than both bounds together');
  assert.equal(cut, [1, 2]);
  await turn();
  assert.is(bulkhead.size(), 3);
  assert.is(bulkhead.room(), 3);
  assert.equal(cut, [1, 2], 'no more than necessary');
});

test('the oldest slow one of an endpoint goes on while others can be cut off', () => {
  const bulkhead = createBulkhead({ maximumQuick: 9, maximumSlow: 3, slowAfterMs: 0 });
  const groups = ['alone', 'many', 'many', 'lonely', 'many', 'many'];
  const { cut } = start(bulkhead, groups.length, (index) => groups[index] ?? '');
  bulkhead.room();
  assert.equal(cut, [2, 4, 5]);
});

test('when every endpoint has one the oldest are cut off', () => {
  const bulkhead = createBulkhead({ maximumQuick: 9, maximumSlow: 2, slowAfterMs: 0 });
  const { cut } = start(bulkhead, 4, String);
  bulkhead.room();
  assert.equal(cut, [0, 1]);
});

test('the room is never negative by what is slow', () => {
  const bulkhead = createBulkhead({ maximumQuick: 2, maximumSlow: 100, slowAfterMs: 0 });
  start(bulkhead, 50);
  assert.is(bulkhead.room(), 2);
});

test.run();
