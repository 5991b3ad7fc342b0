import { mkdtemp, rm } from 'node:fs/promises';
import { createServer, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { type RunningServer, startEventStoreServer } from '@counterfoil/embedded-eventstore';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { openEventStore } from './event-store.ts';
import { type FaultyProxy, startFaultyProxy } from './faulty-proxy.ts';
import {
  appendAtLast,
  collect,
  errorOf,
  eventsOf,
  failureOf,
  fill,
  followUntil,
  freshStream,
  sampleEvent,
} from './sample-events.ts';
import { type EventStore, type LogItem, type NewEvent, StoreUnavailable } from './types.ts';

const test = suite('event-store faults');

/** Short enough for a test that waits for it. On a busy machine it passes without any fault too. */
const timeout = 400;
/** The status of an answer by a follower of a cluster; the client looks for the trailers. */
const unavailable = 14;
const internal = 13;

let directory: string;
let server: RunningServer;
let proxy: FaultyProxy;
/** Goes through the proxy, and waits for long. */
let store: EventStore;
/** The same, and gives up soon. */
let hasty: EventStore;
/** Sees what the server really has. */
let witness: EventStore;
const unhandled: unknown[] = [];
const rememberUnhandled = (reason: unknown): void => {
  unhandled.push(reason);
};

test.before(async () => {
  process.on('unhandledRejection', rememberUnhandled);
  directory = await mkdtemp(join(tmpdir(), 'event-store-'));
  server = await startEventStoreServer({ directory });
});

test.before.each(async () => {
  proxy = await startFaultyProxy(server.port);
  store = openEventStore({ url: proxy.url, appendTimeoutMs: 60_000, readTimeoutMs: 60_000 });
  hasty = openEventStore({ url: proxy.url, appendTimeoutMs: timeout, readTimeoutMs: timeout });
  witness = openEventStore({ url: server.connectionString });
});

test.after.each(async () => {
  await store.close();
  await hasty.close();
  await witness.close();
  await proxy.close();
});

test.after(async () => {
  await server.close();
  await rm(directory, { recursive: true });
  process.off('unhandledRejection', rememberUnhandled);
});

test('sends nothing when the server cannot be asked what it can do, and recovers', async () => {
  const stream = freshStream();
  for (const code of [unavailable, internal, 2, 7]) {
    proxy.setFault('/GetSupportedMethods', { kind: 'status', code });
    assert.is(await failureOf(store.append(stream, [sampleEvent()], -1)), 'unavailable');
    assert.is(await failureOf(store.append(stream, [sampleEvent()], -1)), 'unavailable');
    assert.is(await witness.readLast(stream), null);
    proxy.setFault('/GetSupportedMethods', null);
  }
  const { revision } = await store.append(stream, [sampleEvent()], -1);
  assert.is(revision, 0);
});

test('sends nothing while the server does not say what it can do, and recovers', async () => {
  const stream = freshStream();
  proxy.setFault('/GetSupportedMethods', { kind: 'swallow' });
  assert.is(await failureOf(hasty.append(stream, [sampleEvent()], -1)), 'unavailable');
  assert.is(await witness.readLast(stream), null);
  proxy.setFault('/GetSupportedMethods', null);
  assert.is(await appendAtLast(hasty, stream, sampleEvent(), -1), 0);
});

/** The failure of an append that was sent: on a busy machine the time may be over before it is. */
async function failureOnceSent(stream: string, event: NewEvent): Promise<string> {
  for (;;) {
    const failure = await failureOf(hasty.append(stream, [event], -1));
    if (failure !== 'unavailable') return failure;
  }
}

test('does not know whether an append was written whose answer is lost', async () => {
  const stream = freshStream();
  proxy.setFault('/BatchAppend', { kind: 'mute' });
  const event = sampleEvent();
  const failure = failureOnceSent(stream, event);
  // The server may need longer than the client waits.
  while ((await witness.readLast(stream))?.id !== event.id) await nextTurn();
  assert.is(await failure, 'unknown_outcome');
  proxy.setFault('/BatchAppend', null);
  assert.is(await appendAtLast(hasty, stream, sampleEvent(), 0), 1);
});

test('does not know whether an append was written that is lost itself', async () => {
  const stream = freshStream();
  proxy.setFault('/BatchAppend', { kind: 'swallow' });
  assert.is(await failureOnceSent(stream, sampleEvent()), 'unknown_outcome');
  assert.is(await witness.readLast(stream), null);
  proxy.setFault('/BatchAppend', null);
  assert.is(await appendAtLast(hasty, stream, sampleEvent(), -1), 0);
});

test('does not know the outcome of any append whose shared stream ends', async () => {
  const leader = {
    exception: 'not-leader',
    'leader-endpoint-host': '127.0.0.1',
    'leader-endpoint-port': String(proxy.port),
  };
  const endings: readonly [number, Record<string, string>][] = [
    [unavailable, {}],
    [1, {}],
    [2, {}],
    [4, {}],
    [5, leader],
    [7, { exception: 'access-denied' }],
    [9, { exception: 'stream-deleted', 'stream-name': 'x' }],
    [10, {}],
    [internal, {}],
  ];
  for (const [code, trailers] of endings) {
    proxy.setFault('/BatchAppend', { kind: 'swallow' });
    const idle = proxy.whenIdle('/BatchAppend');
    await Promise.all([idle, store.ping()]);
    const calls = proxy.callsBegun('/BatchAppend');
    const appends = Array.from({ length: 5 }, () =>
      failureOf(store.append(freshStream(), [sampleEvent()], -1)),
    );
    await proxy.whenBegun('/BatchAppend', calls + 1);
    proxy.endCalls('/BatchAppend', code, trailers);
    assert.equal(await Promise.all(appends), new Array(5).fill('unknown_outcome'), `code ${code}`);
    proxy.setFault('/BatchAppend', null);
    // The next one may find the connection just given up, but must then say that it was not sent.
    const next = store.append(freshStream(), [sampleEvent()], -1);
    await next.catch((error) => assert.is(error.failure, 'unavailable'));
    proxy.endCalls('/BatchAppend', unavailable);
  }
});

test('does not crash when a full stream of appends breaks', async () => {
  const stream = freshStream();
  await store.append(stream, [sampleEvent()], -1);
  const note = 'x'.repeat(20_000);
  const appends = Array.from({ length: 300 }, () =>
    failureOf(store.append(freshStream(), [sampleEvent({ note })], 5)),
  );
  await nextTurn();
  proxy.endCalls('/BatchAppend', unavailable);
  const failures = new Set(await Promise.all(appends));
  assert.ok(failures.has('unknown_outcome'), [...failures].join());
  assert.ok(
    [...failures].every((each) => ['unknown_outcome', 'unavailable', 'conflict'].includes(each)),
  );
  assert.equal(unhandled, []);
});

test('leaves no call open, however a read is left', async () => {
  const stream = freshStream();
  await fill(witness, stream, 60);
  const reads = [
    () => store.readStream(stream),
    () => store.readLog({ prefixes: ['wallet-'], after: 0n, upTo: 2n ** 60n }),
    () => store.follow({ prefixes: ['wallet-'], after: () => 0n, signal: never }, 1),
  ];
  for (const read of reads) {
    for await (const _ of read()) break;
    const iterator = read()[Symbol.asyncIterator]();
    await iterator.next();
    await iterator.return?.();
    await errorOf(
      (async () => {
        for await (const _ of read()) throw new Error('consumer');
      })(),
    );
  }
  await store.readLast(stream);
  await store.head();
  await collect(store.readStream(freshStream()));
  await proxy.whenIdle('/Read');
  assert.is(proxy.callsBegun('/Read'), 12);
  assert.is(proxy.callsCancelled('/Read'), 9);
});

const never = new AbortController().signal;

test('cancels no call that ends by itself', async () => {
  const stream = freshStream();
  await fill(store, stream, 3);
  for (let round = 0; round < 20; round += 1) {
    await store.readLast(stream);
    await store.head();
    await collect(store.readStream(stream, { maximum: 2 }));
    await collect(store.readStream(freshStream()));
  }
  await proxy.whenIdle('/Read');
  assert.is(proxy.callsBegun('/Read'), 80);
  assert.is(proxy.callsCancelled('/Read'), 0);
});

test('closes every call with the store', async () => {
  await followUntil(store, 'wallet-', ({ kind }) => kind === 'caught_up');
  const request = { prefixes: ['wallet-'], after: () => 0n, signal: never };
  const following = collect(store.follow(request, 10));
  await proxy.whenBegun('/Read', 2);
  await store.close();
  await following;
  await proxy.whenIdle('/Read');
});

test('fails a read that the server does not answer, and cancels it', async () => {
  proxy.setFault('/Read', { kind: 'swallow' });
  assert.instance(await errorOf(hasty.ping()), StoreUnavailable);
  assert.instance(await errorOf(hasty.readLast(freshStream())), StoreUnavailable);
  const upTo = 2n ** 60n;
  const log = collect(hasty.readLog({ prefixes: ['wallet-'], after: 0n, upTo }));
  assert.instance(await errorOf(log), StoreUnavailable);
  await proxy.whenIdle('/Read');
});

test('never takes a read that was cut short for a complete one', async () => {
  const stream = freshStream();
  await fill(witness, stream, 3);
  for (const code of [unavailable, internal, 10, 8]) {
    proxy.setFault('/Read', { kind: 'mute' });
    const calls = proxy.callsBegun('/Read');
    const reading = errorOf(collect(store.readStream(stream)));
    await proxy.whenBegun('/Read', calls + 1);
    proxy.endCalls('/Read', code);
    assert.instance(await reading, StoreUnavailable, `code ${code}`);
    proxy.setFault('/Read', null);
    assert.is((await collect(store.readStream(stream))).length, 3);
  }
});

test('follows on after every way in which a subscription can end', async () => {
  const stream = freshStream('survivor');
  const controller = new AbortController();
  const losses: string[] = [];
  const handled: LogItem[] = [];
  const codes = [0, unavailable, 1, 10, internal, 8];
  const request = {
    prefixes: ['survivor-'],
    after: () => eventsOf(handled).at(-1)?.position ?? 0n,
    signal: controller.signal,
    onLost: (error: Error) => losses.push(error.message),
  };
  for await (const batch of store.follow(request, 10)) {
    handled.push(...batch);
    const revision = eventsOf(handled).length - 1;
    if (!batch.some(({ kind }) => kind === 'caught_up')) continue;
    const code = codes.shift();
    if (code === undefined) controller.abort();
    else {
      await witness.append(stream, [sampleEvent()], revision);
      await proxy.whenBegun('/Read', 1);
      proxy.endCalls('/Read', code);
    }
  }
  assert.equal(
    eventsOf(handled).map(({ revision }) => revision),
    [0, 1, 2, 3, 4, 5],
  );
  assert.is(losses.length, 6);
  await proxy.whenIdle('/Read');
});

test('asks again when a subscription is never confirmed', async () => {
  proxy.setFault('/Read', { kind: 'swallow' });
  const controller = new AbortController();
  const lost = new Promise<Error>((onLost) => {
    const request = { prefixes: ['wallet-'], after: () => 0n, signal: controller.signal, onLost };
    void collect(hasty.follow(request, 10));
  });
  assert.instance(await lost, StoreUnavailable);
  controller.abort();
  await proxy.whenIdle('/Read');
});

test('knows that nothing was sent when nobody listens', async () => {
  await proxy.close();
  assert.is(await failureOf(hasty.append(freshStream(), [sampleEvent()], -1)), 'unavailable');
  assert.instance(await errorOf(hasty.ping()), StoreUnavailable);
  assert.instance(await errorOf(collect(hasty.readStream(freshStream()))), StoreUnavailable);
  proxy = await startFaultyProxy(server.port);
});

test('knows that nothing was sent to a server that accepts and never speaks', async () => {
  const sockets = new Set<Socket>();
  const mute = createServer((socket) => sockets.add(socket.on('error', () => {})));
  await new Promise<void>((resolve) => mute.listen(0, '127.0.0.1', resolve));
  const address = mute.address();
  assert.ok(address !== null && typeof address === 'object');
  const url = `esdb://127.0.0.1:${address.port}?tls=false`;
  const deaf = openEventStore({ url, appendTimeoutMs: timeout, readTimeoutMs: timeout });
  assert.is(await failureOf(deaf.append(freshStream(), [sampleEvent()], -1)), 'unavailable');
  assert.instance(await errorOf(deaf.ping()), StoreUnavailable);
  await deaf.close();
  for (const socket of sockets) socket.destroy();
  await new Promise<void>((resolve) => mute.close(() => resolve()));
});

test('left no rejection unhandled in all of this', async () => {
  await nextTurn();
  assert.equal(unhandled, []);
});

test.run();
