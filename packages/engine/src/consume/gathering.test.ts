import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { gathered, gatheringPause } from './gathering.ts';

const test = suite('gathering');

test('what comes alone never waits, and a backlog does not either', () => {
  for (const size of [0, 1, 2, 3, 4, 256, 4_000]) assert.is(gatheringPause(size, 10), 0, `${size}`);
});

test('the wait grows with the work on a batch and with its size, up to a bound', () => {
  for (const [size, work, pause] of [
    [5, 0, 0],
    [5, 4, 4],
    [8, 4, 6.4],
    [16, 4, 12.8],
    [50, 4, 40],
    [51, 4, 40],
    [255, 1, 40],
    [5, 400, 40],
  ] as const) {
    assert.is(gatheringPause(size, work), pause, `${size}, ${work} ms`);
  }
});

/** A source that gives what has arrived whenever it is asked, as a subscription does. */
async function* arriving(waiting: number[]) {
  while (waiting.length > 0) {
    yield waiting.splice(0);
  }
}

test('what arrives during the pause is one batch, and everything comes once and in order', async () => {
  const waiting = [1, 2, 3, 4, 5, 6];
  const batches: (readonly number[])[] = [];
  const pauses: number[] = [];
  let at = 1_000;
  const tools = {
    now: () => at,
    wait: async (milliseconds: number) => {
      pauses.push(milliseconds);
      waiting.push(8);
    },
  };
  const source = arriving(waiting);
  for await (const batch of gathered(source, new AbortController().signal, tools)) {
    batches.push(batch);
    at += 3;
    if (batches.length === 1) waiting.push(7);
  }
  assert.equal(batches, [
    [1, 2, 3, 4, 5, 6],
    [7, 8],
  ]);
  assert.equal(pauses, [gatheringPause(6, 3)]);
});

test('after a batch that is not to be waited after, the next one comes at once', async () => {
  const pauses: number[] = [];
  let at = 0;
  const choice = {
    now: () => at,
    wait: async (milliseconds: number) => void pauses.push(milliseconds),
    gathersAfter: (batch: readonly number[]) => !batch.includes(7),
  };
  const source = arriving([1, 2, 3, 4, 5, 6, 7]);
  for await (const _ of gathered(source, new AbortController().signal, choice)) at += 3;
  assert.equal(pauses, []);
});

test('the end of work ends the pause', async () => {
  const ending = new AbortController();
  const source = arriving([1, 2, 3, 4, 5, 6, 7, 8]);
  for await (const _ of gathered(source, ending.signal)) ending.abort();
  assert.ok(ending.signal.aborted);
});

test.run();
