import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import type { EventStore, LogItem, SubscriptionOptions } from '../log/types.ts';
import { type LiveFold, startLiveFold } from './live-fold.ts';

const test = suite('fold that follows the log');

/** A log whose subscription the test plays by hand. */
function playedLog() {
  const waiting: ((items: readonly LogItem[]) => void)[] = [];
  let options: SubscriptionOptions | null = null;
  let asked: () => void = () => undefined;
  const store = {
    async *follow(given: SubscriptionOptions) {
      options = given;
      given.signal.addEventListener('abort', () => waiting.shift()?.([]));
      while (!given.signal.aborted) {
        const items = new Promise<readonly LogItem[]>((resolve) => waiting.push(resolve));
        asked();
        yield await items;
      }
    },
  };
  return {
    store: store as unknown as EventStore,
    lose: () => options?.onLost?.(new Error('gone')),
    /** Hands items over; resolves when they have been taken and more are asked for. */
    give: (...items: LogItem[]) =>
      new Promise<void>((resolve) => {
        asked = resolve;
        waiting.shift()?.(items);
      }),
  };
}

let now = 0;
async function withFold(
  work: (fold: LiveFold, log: ReturnType<typeof playedLog>) => Promise<void>,
): Promise<void> {
  const log = playedLog();
  const fold = startLiveFold({
    store: log.store,
    prefixes: ['key-'],
    apply: () => undefined,
    onFailed: () => assert.unreachable(),
    clock: () => now,
  });
  await log.give({ kind: 'caught_up' });
  await fold.ready;
  try {
    await work(fold, log);
  } finally {
    await fold.stop();
  }
}

test('it knows for how long it has been without the log', () =>
  withFold(async (fold, log) => {
    assert.is(fold.lostFor(), 0);
    now += 1_000;
    log.lose();
    now += 2_000;
    log.lose();
    now += 3_000;
    assert.is(fold.lostFor(), 5_000, 'from the first loss on');
  }));

test('it is without the log until it has caught up again', () =>
  withFold(async (fold, log) => {
    log.lose();
    now += 1_000;
    await log.give({ kind: 'checkpoint', position: 7n });
    assert.is(fold.lostFor(), 1_000);
    await log.give({ kind: 'caught_up' });
    assert.is(fold.lostFor(), 0);
  }));

test('who waits for a position hears whether it was reached', () =>
  withFold(async (fold, log) => {
    assert.is(await fold.waitFor(9n, 1), false);
    const waiting = fold.waitFor(9n, 60_000);
    await log.give({ kind: 'checkpoint', position: 9n });
    assert.is(await waiting, true);
    assert.is(await fold.waitFor(9n, 1), true);
  }));

test.run();
