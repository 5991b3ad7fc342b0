import {
  END,
  eventTypeFilter,
  excludeSystemEvents,
  type Position,
  type ResolvedEvent,
  START,
  streamNameFilter,
} from '@eventstore/db-client';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import {
  collect,
  failureOf,
  numbered,
  openTestServer,
  refusal,
  revisionsOf,
  type TestServer,
} from './test-server.ts';

const test = suite<{ store: TestServer }>('subscription');

test.before.each(async (context) => {
  context.store = await openTestServer();
});
test.after.each(({ store }) => store.close());

type Subscription = ReturnType<TestServer['client']['subscribeToAll']>;
type StreamSubscription = ReturnType<TestServer['client']['subscribeToStream']>;

/** Records what a subscription delivers, in order, and lets a test wait for it. */
function record(subscription: Subscription | StreamSubscription) {
  const log: string[] = [];
  const events: ResolvedEvent[] = [];
  const watchers = new Set<() => void>();
  const note = (text: string): void => {
    log.push(text);
    for (const watcher of watchers) watcher();
  };
  subscription.on('data', (event: ResolvedEvent) => {
    events.push(event);
    note(`${event.event?.streamId}:${event.event?.revision}`);
  });
  subscription.on('confirmation', () => note('confirmation'));
  subscription.on('caughtUp', () => note('caught up'));
  const until = (ready: () => boolean): Promise<void> =>
    new Promise((resolve) => {
      const check = (): void => {
        if (!ready()) return;
        watchers.delete(check);
        resolve();
      };
      watchers.add(check);
      check();
    });
  return {
    log,
    events,
    note,
    until,
    caughtUp: () => until(() => log.includes('caught up')),
    received: (count: number) => until(() => events.length >= count),
  };
}

test('$all: catches up from the start, then follows', async ({ store: { client } }) => {
  await client.appendToStream('a-1', numbered(0, 1));
  const subscription = client.subscribeToAll({ fromPosition: START });
  const seen = record(subscription);
  await seen.caughtUp();
  await client.appendToStream('b-1', numbered(2));
  await client.appendToStream('a-1', numbered(3));
  await seen.received(4);
  assert.equal(seen.log, ['confirmation', 'a-1:0', 'a-1:1', 'caught up', 'b-1:0', 'a-1:2']);
  await subscription.unsubscribe();
});

test('$all: from the end delivers what comes later', async ({ store: { client } }) => {
  await client.appendToStream('a-1', numbered(0, 1));
  const subscription = client.subscribeToAll({ fromPosition: END });
  const seen = record(subscription);
  await seen.caughtUp();
  await client.appendToStream('a-1', numbered(2));
  await seen.received(1);
  assert.equal(seen.log, ['confirmation', 'caught up', 'a-1:2']);
  await subscription.unsubscribe();
});

test('$all: starts behind the given position, also after a restart', async ({ store }) => {
  await store.client.appendToStream('a-1', numbered(0, 1, 2));
  const first = store.client.subscribeToAll();
  const seen = record(first);
  await seen.received(3);
  const checkpoint = seen.events[1]?.event?.position ?? END;
  await first.unsubscribe();
  for (const restart of [false, true]) {
    if (restart) await store.restart();
    const resumed = store.client.subscribeToAll({ fromPosition: checkpoint });
    const rest = record(resumed);
    await rest.caughtUp();
    assert.equal(rest.log, ['confirmation', 'a-1:2', 'caught up']);
    await resumed.unsubscribe();
  }
});

test('$all: a checkpoint without its prepare position loses nothing', async ({
  store: { client },
}) => {
  await client.appendToStream('a-1', numbered(0));
  const subscription = client.subscribeToAll();
  const seen = record(subscription);
  await seen.received(1);
  await subscription.unsubscribe();
  const commit = seen.events[0]?.event?.position?.commit ?? 0n;
  const again = client.subscribeToAll({ fromPosition: { commit, prepare: 0n } });
  const rest = record(again);
  await rest.caughtUp();
  assert.equal(rest.log, ['confirmation', 'a-1:0', 'caught up']);
  await again.unsubscribe();
});

test('stream: catches up behind a revision, then follows only itself', async ({
  store: { client },
}) => {
  await client.appendToStream('a-1', numbered(0, 1, 2));
  const subscription = client.subscribeToStream('a-1', { fromRevision: 0n });
  const seen = record(subscription);
  await seen.caughtUp();
  await client.appendToStream('b-1', numbered(3));
  await client.appendToStream('a-1', numbered(4));
  await seen.received(3);
  assert.equal(seen.log, ['confirmation', 'a-1:1', 'a-1:2', 'caught up', 'a-1:3']);
  await subscription.unsubscribe();
});

test('stream: waits for a stream that does not exist', async ({ store: { client } }) => {
  for (const fromRevision of [START, END] as const) {
    const name = `later-${fromRevision}`;
    const subscription = client.subscribeToStream(name, { fromRevision });
    const seen = record(subscription);
    await seen.caughtUp();
    await client.appendToStream(name, numbered(0, 1));
    await seen.received(2);
    assert.equal(seen.log, ['confirmation', 'caught up', `${name}:0`, `${name}:1`]);
    await subscription.unsubscribe();
  }
});

test('stream: honours truncation and skips nothing after it', async ({ store: { client } }) => {
  await client.appendToStream('a-1', numbered(0, 1, 2, 3));
  await client.setStreamMetadata('a-1', { truncateBefore: 2 });
  const subscription = client.subscribeToStream('a-1', { fromRevision: START });
  const seen = record(subscription);
  await seen.caughtUp();
  await client.appendToStream('a-1', numbered(4));
  await seen.received(3);
  assert.equal(revisionsOf(seen.events), [2, 3, 4]);
  await subscription.unsubscribe();
});

test('stream: a tombstone is delivered and ends it', async ({ store: { client } }) => {
  await client.appendToStream('a-1', numbered(0));
  const subscription = client.subscribeToStream('a-1');
  const seen = record(subscription);
  const failed = failureOf(subscription);
  await seen.caughtUp();
  await client.tombstoneStream('a-1');
  assert.is((await failed).type, 'stream-deleted');
  assert.is(seen.events[1]?.event?.type, '$streamDeleted');
  assert.is(seen.events[1]?.event?.revision, 2n ** 63n - 1n);
  const again = await refusal(async () => {
    for await (const _ of client.subscribeToStream('a-1')) throw new Error('unexpected event');
  });
  assert.is(again.type, 'stream-deleted');
});

test('delivers each event once, in order, while many are written', async ({
  store: { client },
}) => {
  const all = client.subscribeToAll();
  const one = client.subscribeToStream('w-3');
  const allSeen = record(all);
  const oneSeen = record(one);
  await Promise.all(
    Array.from({ length: 8 }, async (_, writer) => {
      for (let number = 0; number < 40; number += 1) {
        await client.appendToStream(`w-${writer}`, numbered(writer * 100 + number));
      }
    }),
  );
  await allSeen.received(320);
  await oneSeen.received(40);
  assert.equal(
    revisionsOf(oneSeen.events),
    Array.from({ length: 40 }, (_, revision) => revision),
  );
  const commits = allSeen.events.map(({ event }) => event?.position?.commit ?? 0n);
  assert.is(commits.length, 320);
  assert.ok(commits.every((commit, index) => index === 0 || commit > (commits[index - 1] ?? 0n)));
  assert.is(allSeen.log.filter((entry) => entry === 'caught up').length, 1);
  await Promise.all([all.unsubscribe(), one.unsubscribe()]);
});

test('a slow subscriber is neither dropped nor told twice that it caught up', async ({
  store: { client },
}) => {
  const subscription = client.subscribeToAll();
  const total = 600;
  let caughtUp = 0;
  let received = 0;
  subscription.on('caughtUp', () => {
    caughtUp += 1;
  });
  const writing = (async () => {
    for (let number = 0; number < total; number += 50) {
      const numbers = Array.from({ length: 50 }, (_, index) => number + index);
      await client.appendToStream('a-1', numbered(...numbers));
    }
  })();
  for await (const _ of subscription) {
    await new Promise((resolve) => setImmediate(resolve));
    received += 1;
    if (received === total) break;
  }
  await writing;
  await subscription.unsubscribe();
  assert.is(received, total);
  assert.is(caughtUp, 1);
});

test('one that is live rests after it has found something, and then sends what has come meanwhile', async () => {
  const rested = Promise.withResolvers<void>();
  const store = await openTestServer({ rest: () => rested.promise });
  try {
    const { client } = store;
    const subscription = client.subscribeToAll();
    const seen = record(subscription);
    await seen.caughtUp();
    for (const number of [0, 1, 2]) await client.appendToStream('busy-1', numbered(number));
    await seen.received(1);
    // What else there is would have come before the answer to this read.
    assert.is((await collect(client.readStream('busy-1'))).length, 3);
    assert.is(seen.events.length, 1);
    rested.resolve();
    await seen.received(3);
    await subscription.unsubscribe();
  } finally {
    await store.close();
  }
});

test('filters by type and by stream name', async ({ store: { client } }) => {
  await client.appendToStream('keep-1', numbered(0));
  await client.appendToStream('drop-1', numbered(1));
  await client.setStreamMetadata('keep-1', { note: 'a system event' });
  const filters = [
    [streamNameFilter({ prefixes: ['keep-'] }), ['keep-1:0']],
    [streamNameFilter({ regex: '^drop' }), ['drop-1:0']],
    [eventTypeFilter({ prefixes: ['$meta', 'Nothing'] }), ['$$keep-1:0']],
    [eventTypeFilter({ regex: 'number$|Numb' }), ['keep-1:0', 'drop-1:0']],
    [excludeSystemEvents(), ['keep-1:0', 'drop-1:0']],
  ] as const;
  for (const [filter, expected] of filters) {
    const subscription = client.subscribeToAll({ filter });
    const seen = record(subscription);
    await seen.caughtUp();
    assert.equal(seen.log, ['confirmation', ...expected, 'caught up']);
    await subscription.unsubscribe();
  }
});

test('sends checkpoints as the real server does: before the next event, or at the one just sent', async ({
  store: { client },
}) => {
  const numbers = Array.from({ length: 100 }, (_, number) => number);
  await client.appendToStream('skip-1', numbered(...numbers));
  const checkpoints: Position[] = [];
  let seen: ReturnType<typeof record> | undefined;
  const subscription = client.subscribeToAll({
    filter: streamNameFilter({
      prefixes: ['keep-'],
      checkpointInterval: 1,
      checkpointReached: async (_, position) => {
        checkpoints.push(position);
        seen?.note('checkpoint');
      },
    }),
  });
  seen = record(subscription);
  await seen.caughtUp();
  const positions: bigint[] = [];
  for await (const { event } of client.readAll()) positions.push(event?.position?.commit ?? 0n);
  const expected = [31, 63, 95, 99].map((index) => (positions[index] ?? 0n) + 1n);
  assert.equal(
    checkpoints.map(({ commit }) => commit),
    expected,
  );
  assert.ok(checkpoints.every(({ prepare }) => prepare === 0n));
  // Live events are counted one by one, from zero again.
  for (const number of numbers.slice(0, 33)) {
    await client.appendToStream('skip-1', numbered(1_000 + number));
  }
  await seen.until(() => checkpoints.length === 5);
  await client.appendToStream('keep-1', numbered(0));
  await seen.received(1);
  assert.is(checkpoints.length, 5);
  const event = seen.events[0]?.event?.position?.commit ?? 0n;
  assert.ok((checkpoints[4]?.commit ?? 0n) < event);
  await client.appendToStream('keep-1', numbered(...numbers.slice(1)));
  await seen.until(() => checkpoints.length > 5);
  const sent = checkpoints[5];
  assert.is(sent?.prepare, sent?.commit);
  assert.ok(seen.events.some((one) => one.event?.position?.commit === sent?.commit));
  await subscription.unsubscribe();
});

test('serves far more than a hundred calls on one connection', async ({ store: { client } }) => {
  const subscriptions = Array.from({ length: 250 }, (_, index) =>
    client.subscribeToStream(`many-${index}`),
  );
  await Promise.all(subscriptions.map((subscription) => record(subscription).caughtUp()));
  const result = await client.appendToStream('many-7', numbered(0));
  assert.is(result.nextExpectedRevision, 0n);
  await Promise.all(subscriptions.map((subscription) => subscription.unsubscribe()));
});

test.run();
