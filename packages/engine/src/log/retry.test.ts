import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { createBackoff } from './retry.ts';

const test = suite('retry');

/** Runs waits with timers that fire at once, and returns the intended length of each. */
async function waitsOf(
  draws: readonly number[],
  options: { firstMilliseconds: number; maximumMilliseconds: number },
  resetBefore = -1,
): Promise<number[]> {
  const waits: number[] = [];
  const original = globalThis.setTimeout;
  const recording = (work: () => void, milliseconds?: number) => {
    waits.push(milliseconds ?? 0);
    return original(work, 0);
  };
  globalThis.setTimeout = recording as typeof setTimeout;
  try {
    let draw = 0;
    const backoff = createBackoff({ ...options, random: () => draws[draw++] ?? 0 });
    for (let index = 0; index < draws.length; index += 1) {
      if (index === resetBefore) backoff.reset();
      await backoff.wait(new AbortController().signal);
    }
  } finally {
    globalThis.setTimeout = original;
  }
  return waits;
}

test('doubles its bound up to the maximum and draws below it', async () => {
  const waits = await waitsOf([0.5, 0.5, 0.5, 0.5, 0.5], {
    firstMilliseconds: 100,
    maximumMilliseconds: 500,
  });
  assert.equal(waits, [50, 100, 200, 250, 250]);
});

test('may wait not at all, so that many processes spread out', async () => {
  const waits = await waitsOf([0, 0.999], { firstMilliseconds: 100, maximumMilliseconds: 500 });
  assert.equal(waits, [0, 199.8]);
});

test('begins again after a success', async () => {
  const options = { firstMilliseconds: 100, maximumMilliseconds: 500 };
  assert.equal(await waitsOf([0.5, 0.5, 0.5], options, 2), [50, 100, 50]);
});

test('stops waiting when the signal aborts', async () => {
  const backoff = createBackoff({
    firstMilliseconds: 3_600_000,
    maximumMilliseconds: 3_600_000,
    random: () => 0.9,
  });
  const controller = new AbortController();
  const waiting = backoff.wait(controller.signal);
  controller.abort();
  await waiting;
  await backoff.wait(controller.signal);
});

test.run();
