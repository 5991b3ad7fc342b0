import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { MemoryStore } from '@counterfoil/testkit';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { openSnapshotFolder } from '../stream-cache/snapshot-folder.ts';
import type { StreamsOptions } from './streams.ts';
import { command, fill, outcomeOf, startOn } from './test-jar.ts';

const test = suite('answers from long ago');

const folder = mkdtempSync(join(tmpdir(), 'counterfoil-old-requests-'));
test.after(() => rmSync(folder, { recursive: true, force: true }));

type Read = Parameters<MemoryStore['readStream']>;

/** Counts the events that are read of streams, and holds reads of many up when it is told to. */
class CountingStore extends MemoryStore {
  events = 0;
  held: Promise<void> | null = null;
  override async *readStream(...[stream, options]: Read) {
    if (this.held && (options?.maximum ?? 0) > 4_096) await this.held;
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
    /** Sends it again; gives the coins of its answer and the events that were read for it. */
    async repeat(coin: number) {
      store.events = 0;
      const outcome = await writer().run(command(fill(1), `key ${coin}`));
      assert.ok(outcome.replayed);
      assert.is(outcome.events.length, 1);
      return { coins: outcome.state.coins, read: store.events };
    },
  };
};

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

test('an old answer of a long stream takes the events of a short one', async () => {
  const { store, first } = await filled(6_000);
  const reader = processOn(store);
  await reader.writer().current();
  for (const process of [first, reader]) {
    for (const coin of [1, 1_023, 1_024, 1_025, 2_500, 5_500]) {
      const { coins, read } = await process.repeat(coin);
      assert.is(coins, coin);
      assert.ok(read <= 1_300, `${read} events for request ${coin}`);
    }
  }
});

test('every old answer is the first one, wherever the states are that it is folded from', async () => {
  const { store } = await filled(700);
  for (const waypoints of [
    { spacing: 7, bytes: 1_000_000 },
    { spacing: 7, bytes: 20_000 },
    { spacing: 1, bytes: 1_000_000 },
    { spacing: 100, bytes: 1 },
  ]) {
    const reader = processOn(store, { waypoints });
    await reader.writer().current();
    for (let coin = 1; coin <= 700; coin += 1) {
      assert.is((await reader.repeat(coin)).coins, coin);
    }
  }
  assert.is(store.log.length, 700);
});

/** A process that began with a snapshot, so that it has seen only the end of the stream. */
async function fromSnapshot(coins: number) {
  const onError = (error: unknown): void => {
    throw error;
  };
  const snapshots = openSnapshotFolder({ folder, code: 'code', every: 1_000, onError });
  const { store } = await filled(coins);
  await processOn(store, { snapshots }).writer().current();
  await snapshots.settled();
  const reader = processOn(store, { snapshots });
  store.events = 0;
  await reader.writer().current();
  assert.ok(store.events <= 1, `${store.events} events after the snapshot`);
  return { store, reader };
}

test('after a snapshot the first old answer is folded from the beginning, and no other', async () => {
  const { reader } = await fromSnapshot(6_000);
  assert.is((await reader.repeat(5_900)).read, 5_900);
  for (const coin of [10, 3_000, 5_000, 5_899]) {
    const { coins, read } = await reader.repeat(coin);
    assert.is(coins, coin);
    assert.ok(read <= 1_024, `${read} events for request ${coin}`);
  }
});

test('few of those that take long are looked for at once, and nothing else waits for them', async () => {
  const { store, reader } = await fromSnapshot(5_000);
  let release: () => void = () => undefined;
  store.held = new Promise((resolve) => {
    release = resolve;
  });
  const results: (string | number)[] = [];
  const asked = Array.from({ length: 70 }, async (_, index) => {
    const outcome = await outcomeOf(reader.send(4_500 + index));
    results.push(typeof outcome === 'string' ? outcome : outcome.state.coins);
  });
  assert.is((await reader.repeat(10)).coins, 10);
  assert.is((await reader.writer().run(command(fill(1)))).state.coins, 5_001);
  assert.equal(results, Array(4).fill('service_unavailable'));
  release();
  await Promise.all(asked);
  assert.equal(
    results.slice(4).sort(),
    Array.from({ length: 66 }, (_, index) => 4_500 + index),
  );
});

test.run();
