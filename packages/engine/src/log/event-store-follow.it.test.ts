import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { type RunningServer, startEventStoreServer } from '@counterfoil/embedded-eventstore';
import { ANY, EventStoreDBClient, jsonEvent } from '@eventstore/db-client';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { openEventStore } from './event-store.ts';
import { isCaughtUp, positionAfter } from './follow.ts';
import { UnreadableEvent } from './incoming-event.ts';
import {
  collect,
  errorOf,
  eventsOf,
  fill,
  followUntil,
  freshStream,
  sampleEvent,
} from './sample-events.ts';
import type { EventStore, LogItem, Position } from './types.ts';

const test = suite('event-store follow');

let directory: string;
let server: RunningServer;
let store: EventStore;
/** The bare client, for operations that our own store refuses. */
let foreign: EventStoreDBClient;

test.before(async () => {
  directory = await mkdtemp(join(tmpdir(), 'event-store-'));
  server = await startEventStoreServer({ directory });

  store = openEventStore({ url: server.connectionString });
  foreign = EventStoreDBClient.connectionString(server.connectionString);
});

test.after(async () => {
  await foreign.dispose();
  await store.close();
  await server.close();
  await rm(directory, { recursive: true });
});

const writeForeign = (stream: string): Promise<unknown> => {
  const event = jsonEvent({ type: 'CreditsGranted', data: { n: 1 } });
  return foreign.appendToStream(stream, [event], { expectedRevision: ANY });
};

test('follows the log: what was there, that it has caught up, and what comes', async () => {
  const stream = freshStream('followed');
  await fill(store, stream, 3);
  let appended = false;
  const items = await followUntil(store, 'followed-', (item) => {
    if (item.kind === 'caught_up' && !appended) {
      appended = true;
      void store.append(stream, [sampleEvent({ n: 3 }), sampleEvent({ n: 4 })], 2);
    }
    return item.kind === 'event' && item.event.revision === 4;
  });
  assert.equal(
    eventsOf(items).map(({ revision }) => revision),
    [0, 1, 2, 3, 4],
  );
  const caughtUp = items.findIndex(({ kind }) => kind === 'caught_up');
  assert.equal(
    eventsOf(items.slice(0, caughtUp)).map(({ revision }) => revision),
    [0, 1, 2],
  );
});

test('follows after a position, exclusive', async () => {
  const [, second] = await fill(store, freshStream('later'), 3);
  const items = await followUntil(store, 'later-', ({ kind }) => kind === 'caught_up', second);
  assert.equal(
    eventsOf(items).map(({ revision }) => revision),
    [2],
  );
});

test('gives a checkpoint only after all events before it, to a slow consumer too', async () => {
  const stream = freshStream('checked');
  const other = freshStream('unrelated');
  let revision = -1;
  for (let round = 0; round < 200; round += 1) {
    const { position: _position, ...last } = await store.append(
      stream,
      [sampleEvent(), sampleEvent(), sampleEvent()],
      revision,
    );
    revision = last.revision;
    const noise = Array.from({ length: 20 }, () => sampleEvent());
    await store.append(other, noise, round * 20 - 1);
  }
  const all = await collect(
    store.readLog({ prefixes: ['checked-'], after: 0n, upTo: await store.head() }),
  );
  const controller = new AbortController();
  const request = { prefixes: ['checked-'], after: () => 0n, signal: controller.signal };
  const handed: Position[] = [];
  let checkpoints = 0;
  for await (const [item] of store.follow(request, 1)) {
    // So slow that the queue is full and the client's own buffer fills behind it.
    await nextTurn();
    if (item?.kind === 'event') handed.push(item.event.position);
    if (item?.kind === 'caught_up') controller.abort();
    if (item?.kind !== 'checkpoint') continue;
    checkpoints += 1;
    const before = all.filter(({ position }) => position <= item.position);
    assert.is(handed.length, before.length);
  }
  assert.is(handed.length, 600);
  assert.ok(checkpoints > 10, `${checkpoints} checkpoints`);
});

test('keeps its place among events of others, and takes up from there', async () => {
  const other = freshStream('unrelated');
  const append = async (stream: string, expected: number) =>
    (await store.append(stream, [sampleEvent()], expected)).revision;
  let noise = -1;
  const makeNoise = async () => {
    const events = Array.from({ length: 100 }, () => sampleEvent());
    noise = (await store.append(other, events, noise)).revision;
  };
  const stream = freshStream('sparse');
  const begin = await store.head();
  await makeNoise();
  const isPlace = (item: LogItem) => item.kind === 'checkpoint' && item.position > begin;
  const [place] = (await followUntil(store, 'sparse-', isPlace, begin)).slice(-1);
  assert.is(place?.kind, 'checkpoint');
  const after = place?.kind === 'checkpoint' ? place.position : 0n;
  assert.ok(after > begin);
  await append(stream, -1);
  await makeNoise();
  await append(stream, 0);
  // From every place that was named on the way, exactly the events behind it.
  const items = await followUntil(store, 'sparse-', ({ kind }) => kind === 'caught_up', begin);
  const events = eventsOf(items);
  assert.is(events.length, 2);
  for (const item of items) {
    if (item.kind === 'caught_up') continue;
    const position = item.kind === 'event' ? item.event.position : item.position;
    const isEnd = ({ kind }: LogItem) => kind === 'caught_up';
    const rest = eventsOf(await followUntil(store, 'sparse-', isEnd, position));
    assert.equal(
      rest.map(({ id }) => id),
      events.filter((event) => event.position > position).map(({ id }) => id),
    );
  }
});

test('tells of places without events as seldom as is asked', async () => {
  const other = freshStream('unrelated');
  const begin = await store.head();
  const stop = new AbortController();
  const counts = { often: 0, seldom: 0 };
  const count = async (checkpoints: 'often' | 'seldom'): Promise<void> => {
    const request = { prefixes: ['last-'], checkpoints, after: () => begin, signal: stop.signal };
    for await (const items of store.follow(request, 100)) {
      if (eventsOf(items).length > 0) return;
      counts[checkpoints] += items.filter(({ kind }) => kind === 'checkpoint').length;
    }
  };
  const counting = Promise.all([count('often'), count('seldom')]);
  const noise = Array.from({ length: 320 }, () => sampleEvent());
  await store.append(other, noise, -1);
  await store.append(freshStream('last'), [sampleEvent()], -1);
  await counting;
  stop.abort();
  assert.ok(counts.often >= 10, `${counts.often} checkpoints`);
  // The one that comes with having caught up, where the subscription began after the first events.
  assert.ok(counts.seldom <= 1, `${counts.seldom} checkpoints`);
});

test('keeps to the maximum of a batch and hands over what has arrived', async () => {
  await fill(store, freshStream('batched'), 200);
  const controller = new AbortController();
  const sizes: number[] = [];
  let events = 0;
  const request = { prefixes: ['batched-'], after: () => 0n, signal: controller.signal };
  for await (const batch of store.follow(request, 50)) {
    sizes.push(batch.length);
    events += eventsOf(batch).length;
    if (batch.some(({ kind }) => kind === 'caught_up')) controller.abort();
  }
  assert.ok(sizes.every((size) => size >= 1 && size <= 50));
  assert.is(events, 200);
});

test('goes on without a loss when the server ends subscriptions that too much comes to', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'event-store-'));
  const strict = await startEventStoreServer({ directory: folder, liveEvents: 8 });
  const own = openEventStore({ url: strict.connectionString });
  const stream = freshStream('burst');
  const controller = new AbortController();
  const losses: string[] = [];
  let after: Position = 0n;
  let revision = -1;
  const burst = async () => {
    const events = Array.from({ length: 50 }, () => sampleEvent());
    revision = (await own.append(stream, events, revision)).revision;
  };
  const handed: number[] = [];
  let bursts = 0;
  let connections = 0;
  const request = {
    prefixes: ['burst-'],
    after: () => {
      connections += 1;
      return after;
    },
    signal: controller.signal,
    onLost: (error: Error) => losses.push(error.message),
  };
  for await (const items of own.follow(request, 100)) {
    after = positionAfter(items) ?? after;
    handed.push(...eventsOf(items).map((event) => event.revision));
    if (!isCaughtUp(items)) continue;
    if (bursts === 4) controller.abort();
    else await burst();
    bursts += 1;
  }
  assert.equal(losses, []);
  assert.is(connections, 5);
  assert.equal(
    handed,
    Array.from({ length: 200 }, (_, index) => index),
  );
  await own.close();
  await strict.close();
  await rm(folder, { recursive: true });
});

test('ends a silent subscription as soon as the signal aborts', async () => {
  const items = await followUntil(store, 'silent-', ({ kind }) => kind === 'caught_up');
  assert.is(eventsOf(items).length, 0);
  const controller = new AbortController();
  const request = { prefixes: ['silent-'], after: () => 0n, signal: controller.signal };
  const iterator = store.follow(request, 10)[Symbol.asyncIterator]();
  await iterator.next();
  const next = iterator.next();
  controller.abort();
  assert.is((await next).done, true);
});

test('passes over streams of others under our prefix', async () => {
  const stream = freshStream('shared');
  await writeForeign('shared-of-somebody-else');
  await fill(store, stream, 1);
  const items = await followUntil(store, 'shared-', ({ kind }) => kind === 'caught_up');
  assert.equal(
    eventsOf(items).map((event) => event.stream),
    [stream],
  );
});

test('stops at a foreign event in a stream of ours, after those before it', async () => {
  const stream = freshStream('broken');
  await fill(store, stream, 2);
  await writeForeign(stream);
  const revisions: number[] = [];
  const reading = async (): Promise<void> => {
    for await (const { revision } of store.readStream(stream)) revisions.push(revision);
  };
  const error = await errorOf(reading());
  assert.instance(error, UnreadableEvent);
  assert.match(error.message, `${stream}@2 cannot be read`);
  assert.equal(revisions, [0, 1]);
  assert.instance(await errorOf(followUntil(store, 'broken-', () => false)), UnreadableEvent);
  assert.instance(await errorOf(store.readLast(stream)), UnreadableEvent);
});

test.run();
