import { setImmediate as nextTurn } from 'node:timers/promises';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { createBatchQueue } from './batch-queue.ts';
import { errorOf } from './sample-events.ts';

const test = suite('batch-queue');

function queueOf(capacity = 4) {
  const calls: string[] = [];
  const queue = createBatchQueue<number>({
    capacity,
    pauseSource: () => calls.push('pause'),
    resumeSource: () => calls.push('resume'),
  });
  return { queue, calls };
}

test('hands over everything that has arrived, in order', async () => {
  const { queue } = queueOf();
  for (const item of [1, 2, 3]) queue.push(item);
  assert.equal(await queue.take(10), [1, 2, 3]);
});

test('does not wait for a batch to fill, but takes what arrives in one turn', async () => {
  const { queue } = queueOf();
  const batch = queue.take(10);
  await nextTurn();
  queue.push(1);
  for (let step = 0; step < 20; step += 1) await Promise.resolve();
  queue.push(2);
  assert.equal(await batch, [1, 2]);
});

test('keeps to the maximum', async () => {
  const { queue } = queueOf();
  for (const item of [1, 2, 3]) queue.push(item);
  assert.equal(await queue.take(2), [1, 2]);
  assert.equal(await queue.take(2), [3]);
});

test('pauses the source when full and resumes it at half', async () => {
  const { queue, calls } = queueOf(4);
  for (const item of [1, 2, 3, 4]) queue.push(item);
  assert.equal(calls, ['pause']);
  await queue.take(1);
  assert.equal(calls, ['pause']);
  await queue.take(1);
  assert.equal(calls, ['pause', 'resume']);
});

test('ends after what was pushed', async () => {
  const { queue } = queueOf();
  queue.push(1);
  queue.finish();
  queue.push(2);
  assert.equal(await queue.take(10), [1]);
  assert.is(await queue.take(10), null);
});

test('throws an error once what came before it was taken', async () => {
  const { queue } = queueOf();
  queue.push(1);
  queue.finish(new Error('broken'));
  queue.finish();
  assert.equal(await queue.take(10), [1]);
  assert.is((await errorOf(queue.take(10))).message, 'broken');
});

test('wakes a waiting consumer at the end', async () => {
  const { queue } = queueOf();
  const batch = queue.take(10);
  queue.finish();
  assert.is(await batch, null);
});

test('drops what waits when it is abandoned', async () => {
  const { queue } = queueOf();
  queue.push(1);
  queue.abandon();
  assert.is(await queue.take(10), null);
});

test.run();
