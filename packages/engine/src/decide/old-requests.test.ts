import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { MemoryStore } from '@counterfoil/testkit';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { openSnapshotFolder } from '../stream-cache/snapshot-folder.ts';
import type { StreamsOptions } from './streams.ts';
import { command, fill, startOn } from './test-jar.ts';

const test = suite('answers from long ago');

const folder = mkdtempSync(join(tmpdir(), 'counterfoil-old-requests-'));
test.after(() => rmSync(folder, { recursive: true, force: true }));

/** Counts the events that are read of streams. */
class CountingStore extends MemoryStore {
  events = 0;
  override async *readStream(...[stream, options]: Parameters<MemoryStore['readStream']>) {
    for await (const event of super.readStream(stream, options)) {
      this.events += 1;
      yield event;
    }
  }
}

/** A process on a store, with what it can be asked. */
const processOn = (store: CountingStore, options: Partial<StreamsOptions> = {}) => {
  const { writer } = startOn(store, undefined, options);
  return {
    writer,
    /** Sends the request that put in the coin of this number, counted from 1. */
    send: (coin: number) => writer().run(command(fill(1), `key ${coin}`)),
    /** Sends it again; returns the coins of its answer and the events that were read for it. */
    async repeat(coin: number) {
      store.events = 0;
      const outcome = await writer().run(command(fill(1), `key ${coin}`));
      assert.ok(outcome.replayed);
      assert.is(outcome.events.length, 1);
      return { coins: outcome.state.coins, read: store.events };
    },
  };
};

/** A process that comes to a store when nobody repeats a request of it after a fault any more. */
const processLater = (store: CountingStore, options: Partial<StreamsOptions> = {}) =>
  processOn(store, { ...options, now: () => Date.now() + 61_000 });

/** Of so many events, the states of some are kept. */
const lately = 8 * 512;

/** A jar with so many coins, each put in by a request of its own. */
async function filled(coins: number, store = new CountingStore()) {
  const first = processOn(store);
  for (let start = 1; start <= coins; start += 500) {
    const batch = Array.from({ length: Math.min(500, coins - start + 1) }, (_, index) =>
      first.send(start + index),
    );
    await Promise.all(batch);
  }
  return { store, first };
}

test('every old answer is the first one, here and in another process', async () => {
  const { store, first } = await filled(700);
  const reader = processOn(store);
  await reader.writer().current();
  for (const process of [first, reader]) {
    for (let coin = 1; coin <= 700; coin += 1) {
      assert.is((await process.repeat(coin)).coins, coin);
    }
  }
  assert.is(store.log.length, 700);
});

test('the answers of the last requests are in memory', async () => {
  const { first } = await filled(700);
  for (let coin = 700; coin > 700 - 256; coin -= 1) {
    assert.equal(await first.repeat(coin), { coins: coin, read: 0 });
  }
});

test('an answer from after a snapshot is folded from there, an earlier one from the beginning', async () => {
  const onError = (error: unknown): void => {
    throw error;
  };
  const snapshots = openSnapshotFolder({ folder, code: 'code', every: 1_000, onError });
  const { store } = await filled(1_500);
  await processOn(store, { snapshots }).writer().current();
  await snapshots.settled();
  const writing = processOn(store);
  await Promise.all(Array.from({ length: 500 }, (_, index) => writing.send(1_501 + index)));
  const reader = processLater(store, { snapshots });
  await reader.writer().current();
  assert.equal(await reader.repeat(1_600), { coins: 1_600, read: 100 });
  assert.equal(await reader.repeat(1_400), { coins: 1_400, read: 1_400 });
});

test('so are those of another process, as they are folded here', async () => {
  const { store, first } = await filled(700);
  const reader = processOn(store);
  await reader.writer().current();
  await first.send(701);
  await reader.writer().current();
  for (let coin = 701; coin > 701 - 256; coin -= 1) {
    assert.equal(await reader.repeat(coin), { coins: coin, read: 0 });
  }
});

test('but not those of more than a minute ago, which nobody repeats after a fault', async () => {
  const { store } = await filled(20);
  const reader = processLater(store);
  await reader.writer().current();
  assert.equal(await reader.repeat(20), { coins: 20, read: 20 });
});

test('what another process has answered lately is folded from nearby', async () => {
  const { store } = await filled(6_000);
  const reader = processLater(store);
  await reader.writer().current();
  for (const coin of [6_000, 5_700, 4_200, 2_600]) {
    const { coins, read } = await reader.repeat(coin);
    assert.is(coins, coin);
    assert.ok(read <= 512, `${read} events were read for request ${coin}`);
  }
});

test('an answer from before one that was asked for is folded from nearby', async () => {
  const { store } = await filled(2_000 + lately);
  const reader = processLater(store);
  await reader.writer().current();
  assert.equal(await reader.repeat(1_700), { coins: 1_700, read: 1_700 });
  for (const coin of [1, 511, 512, 513, 1_023, 1_025, 1_600, 1_744]) {
    const { coins, read } = await reader.repeat(coin);
    assert.is(coins, coin);
    assert.ok(read <= 512, `${read} events were read for request ${coin}`);
  }
});

test('as many states are kept on the way as there is room for, those that were asked for last', async () => {
  const { store } = await filled(40 * 512 + lately);
  const reader = processLater(store);
  await reader.writer().current();
  await reader.repeat(40 * 512 - 300);
  const [early, late] = [await reader.repeat(700), await reader.repeat(30 * 512 + 1)];
  assert.equal(early, { coins: 700, read: 700 }, 'the first states have made room');
  assert.ok(late.read <= 512);
  assert.ok((await reader.repeat(690)).read <= 512, 'and are kept again');
});

test('what is repeated in order is folded on from the answer before', async () => {
  const { store } = await filled(1_000 + lately);
  const reader = processLater(store);
  await reader.writer().current();
  await reader.repeat(600);
  for (let coin = 601; coin <= 700; coin += 1) {
    assert.equal(await reader.repeat(coin), { coins: coin, read: 2 });
  }
});

test.run();
