import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { createGate } from './gate.ts';

const test = suite('gate');

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

/** Work that ends when the test says so. */
function heldWork() {
  const ends: ((error?: Error) => void)[] = [];
  const work = (): Promise<void> =>
    new Promise((resolve, reject) => {
      ends.push((error) => (error ? reject(error) : resolve()));
    });
  return { ends, work };
}

test('so many are under way at once, in order; who ends or fails makes room', async () => {
  const gate = createGate({ atOnce: 2, waiting: 10, refusal: () => new Error('full') });
  const { ends, work } = heldWork();
  const runs = Array.from({ length: 5 }, () => gate.run(work).catch(() => 'failed'));
  assert.is(ends.length, 2);
  ends[0]?.();
  await turn();
  assert.is(ends.length, 3);
  ends[1]?.(new Error('broken'));
  await turn();
  assert.is(ends.length, 4);
  ends[2]?.();
  ends[3]?.();
  await turn();
  assert.is(ends.length, 5);
  ends[4]?.();
  assert.equal(await Promise.all(runs), [undefined, 'failed', undefined, undefined, undefined]);
  const later = Array.from({ length: 3 }, () => gate.run(work));
  assert.is(ends.length, 7, 'two as before');
  for (let index = 5; index < 8; index += 1) {
    ends[index]?.();
    await turn();
  }
  await Promise.all(later);
});

test('a caller that finds no room to wait is refused, and nothing of its own is done', async () => {
  const gate = createGate({ atOnce: 1, waiting: 1, refusal: () => new Error('full') });
  const { ends, work } = heldWork();
  const first = gate.run(work);
  const second = gate.run(work);
  const third = await gate.run(work).catch((error: Error) => error.message);
  assert.is(third, 'full');
  ends[0]?.();
  await first;
  await turn();
  ends[1]?.();
  await second;
  assert.is(ends.length, 2);
});

test.run();
