import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { type EventStoreProcess, startEventStoreProcess } from '@counterfoil/embedded-eventstore';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { openEventStore } from './event-store.ts';
import {
  appendAtLast,
  collect,
  eventsOf,
  failureOf,
  freshStream,
  lastOf,
  sampleEvent,
} from './sample-events.ts';
import {
  AppendError,
  type EventStore,
  type NewEvent,
  type Position,
  type StoredEvent,
} from './types.ts';

const test = suite('event-store crash');

let directory: string;
let server: EventStoreProcess;
const unhandled: unknown[] = [];
const rememberUnhandled = (reason: unknown): void => {
  unhandled.push(reason);
};

test.before(() => {
  process.on('unhandledRejection', rememberUnhandled);
});

test.after(() => {
  process.off('unhandledRejection', rememberUnhandled);
});

test.before.each(async () => {
  directory = await mkdtemp(join(tmpdir(), 'event-store-'));
  server = await startEventStoreProcess({ directory });
});

test.after.each(async () => {
  await server.stop();
  await rm(directory, { recursive: true });
});

/** Kills the server without warning and starts it again where it was. */
async function killAndRestart(): Promise<void> {
  const { port, pid } = server;
  const exited = new Promise<void>((resolve) => {
    const watch = (): void => {
      if (isAlive(pid)) setImmediate(watch);
      else resolve();
    };
    watch();
  });
  server.kill();
  await exited;
  server = await startEventStoreProcess({ directory, port });
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

/** The stream as its writer believes it to be; the number of an event is its place in the stream. */
interface WrittenStream {
  readonly name: string;
  readonly acknowledged: number;
}

/**
 * Writes numbered events to one stream until told to stop, as a stream writer does: after an
 * unknown outcome it looks at the end of the stream, and never guesses.
 */
async function write(store: EventStore, isOver: () => boolean): Promise<WrittenStream> {
  const name = freshStream('crashed');
  let revision = -1;
  let acknowledged = -1;
  while (!isOver()) {
    const events: NewEvent[] = [1, 2].map((n) => sampleEvent({ n: revision + n }));
    try {
      ({ revision } = await store.append(name, events, revision));
      acknowledged = revision;
    } catch (error) {
      if (!(error instanceof AppendError)) throw error;
      assert.ok(['unknown_outcome', 'unavailable'].includes(error.failure), error.message);
      revision = (await lastOf(store, name))?.revision ?? -1;
      assert.ok(revision >= acknowledged, 'an acknowledged event was lost');
    }
  }
  return { name, acknowledged };
}

test('loses nothing and repeats nothing while the server is killed again and again', async () => {
  const store = openEventStore({ url: server.connectionString });
  const controller = new AbortController();
  const handled: StoredEvent[] = [];
  let position: Position = 0n;
  let losses = 0;
  let upTo: Position | null = null;
  let arrived: () => void = () => {};
  const following = (async () => {
    const request = {
      prefixes: ['crashed-'],
      after: () => position,
      signal: controller.signal,
      onLost: () => {
        losses += 1;
      },
    };
    for await (const batch of store.follow(request, 50)) {
      for (const item of batch) if (item.kind !== 'caught_up') position = positionOf(item);
      handled.push(...eventsOf(batch));
      arrived();
      if (upTo !== null && position >= upTo) controller.abort();
    }
  })();
  const more = (): Promise<void> => {
    const target = handled.length + 100;
    return new Promise((resolve) => {
      arrived = () => {
        if (handled.length >= target) resolve();
      };
    });
  };

  let isOver = false;
  const writing = Array.from({ length: 8 }, () => write(store, () => isOver));
  for (let round = 0; round < 3; round += 1) {
    await more();
    await killAndRestart();
  }
  await more();
  isOver = true;
  const streams = await Promise.all(writing);
  const last = await store.append(freshStream('crashed'), [sampleEvent({ n: 0 })], -1);
  upTo = last.position;
  // It may have arrived before its own answer.
  if (position >= upTo) controller.abort();
  await following;

  const log = await collect(store.readLog({ prefixes: ['crashed-'], after: 0n, upTo }));
  assert.equal(
    handled.map(({ id }) => id),
    log.map(({ id }) => id),
  );
  for (const { name, acknowledged } of streams) {
    const numbers = (await collect(store.readStream(name))).map(({ data }) => data);
    assert.ok(numbers.length > acknowledged);
    assert.equal(
      numbers,
      numbers.map((_, n) => ({ n })),
    );
  }
  assert.ok(losses >= 3, `${losses} losses`);
  await store.close();
});

const positionOf = (
  item: { kind: 'event'; event: StoredEvent } | { kind: 'checkpoint'; position: Position },
): Position => (item.kind === 'event' ? item.event.position : item.position);

test('keeps what a frozen server does not write in time from being written later', async () => {
  const store = openEventStore({ url: server.connectionString, appendTimeoutMs: 500 });
  const stream = freshStream();
  await appendAtLast(store, stream, sampleEvent(), -1);
  process.kill(server.pid, 'SIGSTOP');
  assert.is(await failureOf(store.append(stream, [sampleEvent()], 0)), 'unknown_outcome');
  assert.is(await failureOf(store.append(stream, [sampleEvent()], 0)), 'unknown_outcome');
  process.kill(server.pid, 'SIGCONT');
  const event = sampleEvent();
  assert.is(await appendAtLast(store, stream, event, 0), 1);
  assert.is((await lastOf(store, stream))?.id, event.id);
  await store.close();
});

test('notices a frozen server while it follows, and goes on when it is back', async () => {
  const original = console.warn;
  console.warn = () => {};
  // The client warns of intervals this short; the default would make the test wait 20 seconds.
  const url = `${server.connectionString}&keepAliveInterval=500&keepAliveTimeout=500`;
  const store = openEventStore({ url });
  console.warn = original;
  const stream = freshStream('frozen');
  await appendAtLast(store, stream, sampleEvent({ n: 0 }), -1);
  let second: Promise<number> | null = null;
  const controller = new AbortController();
  const handled: StoredEvent[] = [];
  let lost = 0;
  const request = {
    prefixes: ['frozen-'],
    after: () => handled.at(-1)?.position ?? 0n,
    signal: controller.signal,
    onLost: () => {
      lost += 1;
      process.kill(server.pid, 'SIGCONT');
    },
  };
  for await (const batch of store.follow(request, 10)) {
    handled.push(...eventsOf(batch));
    if (handled.length === 2) controller.abort();
    if (!batch.some(({ kind }) => kind === 'caught_up')) continue;
    if (lost === 0) process.kill(server.pid, 'SIGSTOP');
    else second ??= appendAtLast(store, stream, sampleEvent({ n: 1 }), 0);
  }
  assert.ok(lost >= 1);
  assert.is(handled.length, 2);
  assert.is(await second, 1);
  await store.close();
});

test('does not crash when the server dies while every buffer is full', async () => {
  const store = openEventStore({ url: server.connectionString });
  await store.append(freshStream(), [sampleEvent()], -1);
  process.kill(server.pid, 'SIGSTOP');
  const note = 'x'.repeat(20_000);
  const appends = Array.from({ length: 1_000 }, () =>
    failureOf(store.append(freshStream(), [sampleEvent({ note })], -1)),
  );
  for (let turn = 0; turn < 200; turn += 1) await nextTurn();
  server.kill();
  const failures = new Set(await Promise.all(appends));
  assert.equal([...failures].sort(), ['unavailable', 'unknown_outcome']);
  assert.equal(unhandled, []);
  await store.close();
});

test('left no rejection unhandled in all of this', async () => {
  await nextTurn();
  assert.equal(unhandled, []);
});

test.run();
