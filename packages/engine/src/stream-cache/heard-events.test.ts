import { MemoryStore } from '@counterfoil/testkit';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { requestFingerprint } from '../decide/request-fingerprint.ts';
import { command, fill, type Jar, jar, startOn, unread } from '../decide/test-jar.ts';
import type { StoredEvent } from '../log/types.ts';
import { placeOf } from './stream-state.ts';

const test = suite('streams that hear of others');

const place = placeOf(jar, 'env_1', '1');

/** Two processes on a store that counts reads; `tell` brings the log to the first one. */
function world() {
  const store = new MemoryStore();
  const conflicts: string[] = [];
  let reads = 0;
  const readStream = store.readStream.bind(store);
  store.readStream = (...given) => {
    reads += 1;
    return readStream(...given);
  };
  const here = startOn(store, undefined, { onConflict: () => conflicts.push('here') });
  const there = startOn(store);
  let told = 0;
  const { cache } = here.streams;
  const tell = (): number => {
    const news = store.log.slice(told).filter((event) => cache.wants(unread(event)));
    told = store.log.length;
    for (const event of news) cache.hear(event);
    return news.length;
  };
  const run = (process: typeof here, coins = 1, key?: string) =>
    process.writer().run(command(fill(coins), key));
  /** The log is followed up to its end. */
  const reach = (): void => cache.heard.reach(store.log.at(-1)?.position ?? 0n);
  return { store, here, there, tell, reach, run, conflicts, reads: () => reads };
}

test('what another process appended is known without a read, and no append is lost', async () => {
  const { here, there, tell, run, conflicts, reads } = world();
  await run(here);
  tell();
  await run(there, 5, 'key');
  const before = reads();
  assert.is(tell(), 0);
  assert.is((await run(here)).state.coins, 7);
  assert.equal([conflicts.length, reads() - before], [0, 0]);
  const again = await run(here, 5, 'key');
  assert.equal([again.replayed, again.state.coins], [true, 6]);
});

/** Tells the first process of events as they come, and counts those that it reads. */
function counted({ here, store }: ReturnType<typeof world>) {
  const read: number[] = [];
  const told = (events: readonly StoredEvent[], characters = 10): boolean[] =>
    events.map((event) =>
      here.streams.cache.wants({
        ...unread(event),
        characters,
        read: () => {
          read.push(event.revision);
          return event;
        },
      }),
    );
  return { read, told, last: () => store.log.slice(-1) };
}

test('what another process appends waits unread until somebody needs the state', async () => {
  const all = world();
  const { here, there, run, conflicts, reads, store } = all;
  await run(here);
  const { read, told } = counted(all);
  await run(there, 5, 'key');
  await run(there, 2);
  assert.equal(told(store.log.slice(1)), [false, false]);
  assert.equal(told(store.log.slice(1)), [false, false], 'nor is what comes twice');
  assert.equal(read, []);
  const before = reads();
  const again = await here.writer().replay(requestFingerprint('POST /jars/1/fill', 'key', {}));
  assert.equal([again?.replayed, again?.state.coins], [true, 6]);
  assert.equal(read, [1, 2]);
  assert.is((await run(here)).state.coins, 9);
  assert.equal([conflicts.length, reads() - before, read.length], [0, 0, 2]);
});

test('while somebody is at work, events of others are read as they come, after those that wait', async () => {
  const all = world();
  const { here, there, run } = all;
  await run(here);
  const { read, told, last } = counted(all);
  await run(there, 5);
  told(last());
  const stream = here.streams.cache.of<Jar>(place);
  stream.hold();
  await run(there, 2);
  assert.equal(told(last()), [true]);
  for (const event of last()) stream.hear(event);
  stream.release();
  assert.equal([stream.now.state.coins, stream.isBehind, read], [8, false, [1]]);
});

test('what comes while an event that somebody waited for is read waits behind it', async () => {
  const all = world();
  const { here, there, run, reads } = all;
  await run(here);
  const { read, told, last } = counted(all);
  const stream = here.streams.cache.of<Jar>(place);
  stream.hold();
  await run(there, 5);
  const first = last();
  assert.equal(told(first), [true]);
  stream.release();
  await run(there, 2);
  assert.equal(told(last()), [false]);
  for (const event of first) stream.hear(event);
  const before = reads();
  assert.is((await run(here)).state.coins, 9);
  assert.equal([reads() - before, read], [0, [2]]);
});

test('a stream that is dropped lets go what waits in it', async () => {
  const store = new MemoryStore();
  const here = startOn(store, undefined, { idleStreams: 1 });
  const there = startOn(store);
  await here.writer().run(command(fill(1)));
  const stream = here.streams.cache.of<Jar>(place);
  await there.writer().run(command(fill(5)));
  for (const event of store.log.slice(-1)) here.streams.cache.wants(unread(event));
  await here.writer('2').run(command(fill(1)));
  assert.equal([stream.now.state.coins, stream.isBehind], [1, true]);
  assert.is((await here.writer().run(command(fill(1)))).state.coins, 7);
});

test('few events wait in one stream, and large ones not at all', async () => {
  const all = world();
  const { here, there, run } = all;
  await run(here);
  const { read, told, last } = counted(all);
  for (let count = 1; count <= 64; count += 1) {
    await run(there);
    told(last());
  }
  assert.is(read.length, 0);
  await run(there);
  told(last());
  assert.is(read.length, 65);
  await run(there);
  assert.equal(told(last(), 8_193), [true]);
  assert.equal(told(last(), 8_192), [false]);
});

test('events that wait and do not fit, or cannot be read, are left to the log', async () => {
  const all = world();
  const { here, there, run, reads, conflicts, store } = all;
  const { cache } = here.streams;
  await run(here);
  for (const spoil of [
    (event: StoredEvent) => ({ ...unread(event), read: () => ({ ...event, data: { coins: 90 } }) }),
    (event: StoredEvent) => ({
      ...unread(event),
      read: (): never => assert.unreachable() as never,
    }),
    (event: StoredEvent) => ({ ...unread(event), read: () => null }),
  ]) {
    await run(there, 2);
    await run(there, 3);
    const [first, second] = store.log.slice(-2);
    assert.ok(first && second);
    const before = reads();
    assert.not(cache.wants(spoil(first)));
    assert.not(cache.wants(unread(second)));
    const { coins } = (await run(here)).state;
    assert.is(coins, (await there.writer().current()).state.coins);
    assert.is(reads() - before, 2, 'one read here, and one there');
  }
  // A gap.
  await run(there);
  await run(there);
  for (const event of store.log.slice(-1)) cache.wants(unread(event));
  assert.is(cache.of<Jar>(place).isBehind, true);
  assert.is((await run(here)).state.coins, 22);
  assert.is(conflicts.length, 0);
});

test('events of streams that are not kept, and those that this process appended, are not wanted', async () => {
  const { store, here, there, tell, run } = world();
  await there.writer('2').run(command(fill(1)));
  assert.is(tell(), 0);
  await run(here);
  assert.is(tell(), 0);
  assert.is(store.log.length, 2);
});

test('a stream that another process has begun a moment ago is decided on without a read', async () => {
  const { here, there, tell, reach, run, conflicts, reads } = world();
  reach();
  await run(there, 5, 'key');
  await run(there, 2);
  assert.is(tell(), 0, 'nothing of it is parsed before somebody asks');
  reach();
  const before = reads();
  assert.is((await run(here)).state.coins, 8);
  const again = await run(here, 5, 'key');
  assert.equal([again.replayed, again.state.coins], [true, 5]);
  tell();
  reach();
  assert.is(
    (await here.writer().seen(2n)).state.coins,
    8,
    'it is known up to where the log was told',
  );
  assert.equal([conflicts.length, reads() - before], [0, 0]);
});

test('one of which something may have been missed, or was changed on the way, is read', async () => {
  const { store, here, there, tell, reach, run, reads, conflicts } = world();
  const { cache } = here.streams;
  reach();
  await run(there, 5);
  tell();
  cache.heard.lose();
  await run(there, 2);
  reach();
  const before = reads();
  assert.is((await run(here)).state.coins, 8);
  assert.is(reads() - before, 1);

  await there.writer('2').run(command(fill(5)));
  const written = store.log.at(-1);
  assert.ok(written);
  cache.wants(unread({ ...written, data: { coins: 500 } }));
  assert.is((await here.writer('2').run(command(fill(1)))).state.coins, 6);

  await there.writer('3').run(command(fill(5)));
  const last = store.log.at(-1);
  assert.ok(last);
  const faulty = (): never => assert.unreachable() as never;
  cache.wants({ ...unread(last), read: faulty });
  assert.is((await here.writer('3').run(command(fill(1)))).state.coins, 6);
  assert.is(conflicts.length, 0);
});

test('events of an append under way are known by their ids, and are its answer', async () => {
  const { store, here, tell, run } = world();
  await run(here);
  const append = store.append.bind(store);
  store.append = async (...given) => {
    const appended = await append(...given);
    tell();
    return appended;
  };
  const stream = here.streams.cache.of<Jar>(place);
  const decided = await run(here, 2, 'key');
  assert.is(decided.state.coins, 3);
  assert.is(
    stream.now.state,
    decided.state,
    'the state is the one that was decided, not folded again',
  );
  assert.is(stream.now.position, 2n);
  assert.ok((await run(here, 2, 'key')).replayed);
});

test('events of an append under way are the answer without being read, and others are not', async () => {
  const { store, here, run } = world();
  await run(here);
  const { cache } = here.streams;
  const append = store.append.bind(store);
  const wanted: boolean[] = [];
  const faulty = (): never => assert.unreachable() as never;
  store.append = async (...given) => {
    const appended = await append(...given);
    const last = store.log.at(-1);
    assert.ok(last);
    const written = { ...unread(last), read: faulty };
    wanted.push(cache.wants({ ...written, id: 'of another attempt' }), cache.wants(written));
    return appended;
  };
  const stream = cache.of<Jar>(place);
  const decided = await run(here, 2, 'key');
  assert.equal(wanted, [true, false]);
  assert.is(stream.now.state, decided.state);
  assert.equal([stream.now.position, stream.isBehind], [2n, false]);
});

test('after a gap the stream is read before anything is decided on it', async () => {
  const { here, there, store, run, conflicts } = world();
  await run(here);
  await run(there);
  await run(there);
  const stream = here.streams.cache.of<Jar>(place);
  const [, , last] = store.log;
  assert.ok(last);
  stream.hear(last);
  assert.equal([stream.now.state.coins, stream.isBehind], [1, true]);
  assert.is((await run(here)).state.coins, 4);
  assert.is(conflicts.length, 0);
});

test('an event that is not as it was written is not taken from the log', async () => {
  const { here, there, store, run } = world();
  await run(here);
  await run(there, 5);
  const stream = here.streams.cache.of<Jar>(place);
  const written = store.log.at(-1);
  assert.ok(written);
  stream.hear({ ...written, data: { coins: 500 } });
  assert.equal([stream.now.state.coins, stream.isBehind], [1, true]);
});

test.run();
