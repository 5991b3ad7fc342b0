import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { type RunningServer, startEventStoreServer } from '@counterfoil/embedded-eventstore';
import { ANY, EventStoreDBClient } from '@eventstore/db-client';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { contentsBytesMaximum } from './annex.ts';
import { openEventStore } from './event-store.ts';
import { UnreadableEvent } from './incoming-event.ts';
import { collect, errorOf, failureOf, fill, freshStream, sampleEvent } from './sample-events.ts';
import { type EventStore, type Position, StoreUnavailable } from './types.ts';

const test = suite('event-store');

let directory: string;
let server: RunningServer;
let store: EventStore;
/** The bare client, for operations that our own store refuses. */
let foreign: EventStoreDBClient;
const unhandled: unknown[] = [];
const rememberUnhandled = (reason: unknown): void => {
  unhandled.push(reason);
};

test.before(async () => {
  process.on('unhandledRejection', rememberUnhandled);
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
  process.off('unhandledRejection', rememberUnhandled);
});

test('appends and reads back what was appended, with revision and position', async () => {
  const stream = freshStream();
  const events = [sampleEvent({ amount: '1.00', nested: [null, { é: '😀' }] }), sampleEvent()];
  const first = await store.append(stream, events, -1);
  assert.is(first.revision, 1);
  const second = await store.append(stream, [sampleEvent()], 1);
  assert.is(second.revision, 2);
  assert.ok(second.position > first.position);

  const read = await collect(store.readStream(stream));
  assert.equal(
    read.map(({ revision }) => revision),
    [0, 1, 2],
  );
  assert.is(read[1]?.position, first.position);
  assert.is(read[2]?.position, second.position);
  assert.equal({ ...read[0] }, { ...events[0], stream, revision: 0, position: read[0]?.position });
});

test('tells its own time, in whole seconds', async () => {
  const before = Math.floor(Date.now() / 1_000) * 1_000;
  const told = (await store.time()) ?? 0;
  assert.ok(told >= before && told <= Date.now(), `${told} from ${before} on`);
});

test('reads a part of a stream, its last event, and nothing of no stream', async () => {
  const stream = freshStream();
  await fill(store, stream, 5);
  const revisions = async (options: { from?: number; maximum?: number }) =>
    (await collect(store.readStream(stream, options))).map(({ revision }) => revision);
  assert.equal(await revisions({ from: 3 }), [3, 4]);
  assert.equal(await revisions({ from: 1, maximum: 2 }), [1, 2]);
  assert.equal(await revisions({ from: 9 }), []);
  assert.is((await store.readLast(stream))?.revision, 4);
  const nowhere = freshStream();
  assert.equal(await collect(store.readStream(nowhere)), []);
  assert.is(await store.readLast(nowhere), null);
});

test('reports a conflict and writes nothing', async () => {
  const stream = freshStream();
  await fill(store, stream, 2);
  assert.is(await failureOf(store.append(stream, [sampleEvent()], -1)), 'conflict');
  assert.is(await failureOf(store.append(stream, [sampleEvent()], 0)), 'conflict');
  assert.is(await failureOf(store.append(stream, [sampleEvent()], 7)), 'conflict');
  assert.is(await failureOf(store.append(freshStream(), [sampleEvent()], 0)), 'conflict');
  assert.is((await store.readLast(stream))?.revision, 1);
});

test('takes a repetition of the same append for a success', async () => {
  const stream = freshStream();
  const events = [sampleEvent(), sampleEvent()];
  const first = await store.append(stream, events, -1);
  assert.equal(await store.append(stream, events, -1), first);
  assert.is((await collect(store.readStream(stream))).length, 2);
});

test('reports a deleted stream', async () => {
  const stream = freshStream();
  await fill(store, stream, 1);
  await foreign.tombstoneStream(stream, { expectedRevision: ANY });
  assert.is(await failureOf(store.append(stream, [sampleEvent()], 0)), 'deleted');
  const error = await errorOf(collect(store.readStream(stream)));
  assert.not.instance(error, StoreUnavailable);
});

/** More than a server takes in one append. */
const largeEvents = () =>
  Array.from({ length: 300 }, (_, index) =>
    sampleEvent({ index, note: `"é😀語"`.repeat(800), 2: 'b', 1: 'a' }),
  );

test('a change larger than any append is read back like every other', async () => {
  const stream = freshStream();
  const before = await store.append(stream, [sampleEvent()], -1);
  const events = largeEvents();
  const appended = await store.append(stream, events, 0);
  const after = await store.append(stream, [sampleEvent()], appended.revision);
  const expected = events.map(({ data, metadata }) => ({ data, metadata }));

  const read = await collect(store.readStream(stream, { from: 1, maximum: events.length }));
  assert.equal(
    read.map(({ data, metadata }) => ({ data, metadata })),
    expected,
  );
  assert.is(read.at(-1)?.position, appended.position);
  const some = await collect(store.readStream(stream, { from: 200, maximum: 1 }));
  assert.equal(some[0]?.data, events[199]?.data);
  const range = { prefixes: [stream], after: before.position, upTo: after.position };
  const log = await collect(store.readLog(range));
  assert.equal(
    log.map(({ id }) => id).slice(0, -1),
    events.map(({ id }) => id),
  );
  assert.equal(log[7]?.data, events[7]?.data);
});

test('nothing is seen of a large change that conflicts', async () => {
  const stream = freshStream();
  const { position } = await store.append(stream, [sampleEvent()], -1);
  assert.is(await failureOf(store.append(stream, largeEvents(), -1)), 'conflict');
  assert.is((await store.readLast(stream))?.revision, 0);
  const upTo = await store.head();
  assert.ok(upTo > position);
  assert.equal(await collect(store.readLog({ prefixes: [stream], after: position, upTo })), []);
});

test('an event whose annex is gone is not passed over', async () => {
  const stream = freshStream();
  await store.append(stream, largeEvents(), -1);
  const [first] = await collect(foreign.readStream(stream, { maxCount: 1 }));
  const metadata = first?.event?.metadata as { annex: { stream: string } } | undefined;
  await foreign.deleteStream(metadata?.annex.stream ?? '');
  assert.instance(await errorOf(store.readLast(stream)), UnreadableEvent);
});

test('refuses what is too large before it is sent', async () => {
  const stream = freshStream();
  const large = sampleEvent({ note: 'x'.repeat(contentsBytesMaximum) });
  assert.is(await failureOf(store.append(stream, [large], -1)), 'too_large');
  assert.is(await store.readLast(stream), null);
});

test('refuses what JSON cannot carry without an unhandled rejection', async () => {
  const stream = freshStream();
  for (const amount of [1n, Number.NaN, new Date(0), Symbol('x')]) {
    const event = { ...sampleEvent(), data: { amount } };
    assert.is(await failureOf(store.append(stream, [event], -1)), 'fatal');
  }
  assert.is(await store.readLast(stream), null);
  assert.equal(unhandled, []);
});

test('refuses to read a stream that is none of ours, or without sense', async () => {
  assert.throws(() => store.readStream('$settings'), /no stream name/);
  await errorOf(store.readLast('orders'));
  const stream = freshStream();
  assert.throws(() => store.readStream(stream, { from: -1 }), /from is -1/);
  assert.throws(() => store.readStream(stream, { maximum: 0 }), /maximum is 0/);
  const signal = new AbortController().signal;
  const request = { prefixes: ['wallet-'], after: () => 0n, signal };
  assert.throws(() => store.follow(request, 0), /maximum is 0/);
});

test('knows the end of the log and answers a ping', async () => {
  const [position] = await fill(store, freshStream(), 1);
  assert.is(await store.head(), position);
  await store.ping();
});

test('reads the log after a position up to a position, by prefix', async () => {
  const [one, two] = [freshStream('invoice'), freshStream('invoice')];
  const positions: Position[] = [];
  for (let index = 0; index < 40; index += 1) {
    const stream = index % 2 === 0 ? one : two;
    const event = [sampleEvent({ n: index })];
    const { position } = await store.append(stream, event, Math.floor(index / 2) - 1);
    positions.push(position);
    await fill(store, freshStream('credit_note'), 1);
  }
  const at = (index: number): Position => positions[index] ?? -1n;
  const read = async (after: Position, upTo: Position, prefixes = ['invoice-']) =>
    (await collect(store.readLog({ prefixes, after, upTo }))).map(({ position }) => position);
  assert.equal(await read(0n, at(39)), positions);
  assert.equal(await read(at(4), at(8)), positions.slice(5, 9));
  assert.equal(await read(at(4), at(8) - 1n), positions.slice(5, 8));
  assert.equal(await read(at(4), at(4)), []);
  assert.equal(await read(at(8), at(4)), []);
  assert.equal(await read(at(37), await store.head()), positions.slice(38));
  assert.equal(await read(at(37), 2n ** 60n), positions.slice(38));
  assert.equal(await read(0n, await store.head(), ['nothing-']), []);
  assert.is((await read(at(0), at(39), ['invoice-', 'credit_note-'])).length, 39 + 39);
});

test('gives up a read of the log with the reason of the signal', async () => {
  await fill(store, freshStream(), 3);
  const controller = new AbortController();
  const { signal } = controller;
  const reading = store.readLog({ prefixes: ['wallet-'], after: 0n, upTo: 2n ** 60n, signal });
  const error = await errorOf(
    (async () => {
      for await (const _ of reading) controller.abort(new Error('enough'));
    })(),
  );
  assert.is(error.message, 'enough');
});

test('is closed once and for all, after the appends under way', async () => {
  const closing = openEventStore({ url: server.connectionString });
  const stream = freshStream();
  await closing.ping();
  const signal = new AbortController().signal;
  const request = { prefixes: ['wallet-'], after: () => 2n ** 60n, signal };
  const following = collect(closing.follow(request, 10));
  const underWay = Array.from({ length: 30 }, () =>
    closing.append(freshStream(), [sampleEvent()], -1),
  );
  await closing.close();
  await closing.close();
  assert.is((await Promise.all(underWay)).length, 30);
  await following;
  assert.is(await failureOf(closing.append(stream, [sampleEvent()], -1)), 'unavailable');
  assert.instance(await errorOf(collect(closing.readStream(stream))), StoreUnavailable);
  assert.instance(await errorOf(closing.ping()), StoreUnavailable);
});

test('does not disturb the appends of another store of the process by closing', async () => {
  const before = unhandled.length;
  for (let round = 0; round < 10; round += 1) {
    // Another string means another client, whose end must not touch the answers of the first.
    const url = `${server.connectionString}&connectionName=round-${round}`;
    const closing = openEventStore({ url });
    const appends = Array.from({ length: 200 }, () =>
      store.append(freshStream(), [sampleEvent()], -1),
    );
    await closing.append(freshStream(), [sampleEvent()], -1);
    await closing.close();
    await Promise.all(appends);
  }
  assert.is(unhandled.length, before);
});

test('can be used with a connection string that says otherwise', async () => {
  const url = `${server.connectionString}&throwOnAppendFailure=false`;
  const other = openEventStore({ url });
  const stream = freshStream();
  await other.append(stream, [sampleEvent()], -1);
  assert.is(await failureOf(other.append(stream, [sampleEvent()], -1)), 'conflict');
  await other.close();
  assert.throws(() => openEventStore({ url: 'http://localhost' }));
});

test('left no rejection unhandled in all of this', async () => {
  await nextTurn();
  assert.equal(unhandled, []);
});

test.run();
