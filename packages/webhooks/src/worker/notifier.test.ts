import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { createNotifier } from './notifier.ts';

const test = suite('notifier');

const never = new AbortController().signal;
const anHour = 3_600_000;

test('a notification ends the sleep', async () => {
  const notifier = createNotifier();
  const sleeping = notifier.wait(anHour, never);
  notifier.notify();
  await sleeping;
});

test('a notification while awake keeps the next sleep from beginning, but only one', async () => {
  const notifier = createNotifier();
  notifier.notify();
  notifier.notify();
  await notifier.wait(anHour, never);
  const asleep = await Promise.race([
    notifier.wait(anHour, never).then(() => false),
    new Promise((resolve) => setImmediate(resolve, true)),
  ]);
  assert.ok(asleep);
  notifier.notify();
});

test('an abort ends the sleep, also one that has not begun', async () => {
  const abort = new AbortController();
  const notifier = createNotifier();
  const sleeping = notifier.wait(anHour, abort.signal);
  abort.abort();
  await sleeping;
  await notifier.wait(anHour, abort.signal);
});

test('without anything the sleep ends by itself', async () => {
  await createNotifier().wait(1, never);
});

test.run();
