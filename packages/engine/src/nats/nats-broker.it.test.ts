import { Problem } from '@counterfoil/kernel';
import type { ConsumerInfo, NatsConnection } from 'nats';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import type { ReaderStart } from '../define/event-broker.ts';
import type { FeedEvent, FeedPage, PublicFeed } from '../define/public-feed.ts';
import { silentLog as log, until } from '../projection/test-world.ts';
import { boxScope } from '../relay/test-box.ts';
import {
  createTraffic,
  type Stack,
  startStack,
  type Traffic,
  untilStored,
} from '../relay/test-stack.ts';
import { natsBroker } from './nats-broker.ts';
import type { Nats, NatsSession } from './nats-connection.ts';

const test = suite('event feed');
let stack: Stack;
let feed: PublicFeed;
let expected: readonly string[] = [];

test.before(async () => {
  stack = await startStack();
  feed = natsBroker(await stack.nats(), log, () => stack.store.head());
  await stack.relay();
  const traffic = createTraffic(stack.store);
  await traffic.append(400);
  expected = traffic.expected;
  await untilStored(await stack.client(), expected.length);
});
test.after(() => stack.close());

const bodies = (events: readonly FeedEvent[]): string[] =>
  events.map(({ body }) => JSON.stringify(body));

test('pages of any size give every event once, in order, and events of one change together', async () => {
  for (const limit of [1, 7, 100, 1_000]) {
    const read: FeedEvent[] = [];
    let after: string | null = null;
    for (let more = true; more; ) {
      const page = await feed.read(boxScope, { after, limit });
      const last = page.events.at(-1);
      assert.is(page.nextPosition, last?.position);
      read.push(...page.events);
      after = page.nextPosition;
      more = page.hasMore;
    }
    assert.equal(bodies(read), expected, `pages of ${limit}`);
  }
});

test('pages of one type or of one record give all of its events, and no other', async () => {
  const all = (await feed.read(boxScope, { after: null, limit: 1_000 })).events;
  const record = all[0]?.resourceId ?? '';
  const wanted = [
    { type: 'box.updated' },
    { type: 'box.content.*' },
    { type: 'box.*' },
    { resourceId: record },
    { type: 'box.updated', resourceId: record },
  ];
  const fits = ({ type, resourceId }: FeedEvent, want: (typeof wanted)[number]): boolean =>
    (want.resourceId ?? resourceId) === resourceId &&
    type.startsWith((want.type ?? '').replace(/\*$/, ''));
  for (const want of wanted) {
    const expectedEvents = all.filter((event) => fits(event, want));
    assert.ok(expectedEvents.length > 0);
    for (const limit of [1, 7, 1_000]) {
      const read: FeedEvent[] = [];
      let after: string | null = null;
      for (let more = true; more; ) {
        const page = await feed.read(boxScope, { ...want, after, limit });
        read.push(...page.events);
        after = page.nextPosition;
        more = page.hasMore;
      }
      assert.equal(bodies(read), bodies(expectedEvents), JSON.stringify({ ...want, limit }));
      assert.is(after, all.at(-1)?.position);
    }
  }
});

test('a position that the log has not reached is refused, one that was just written is not', async () => {
  const head = await stack.store.head();
  const page = await feed.read(boxScope, { after: String(head), limit: 10 });
  assert.equal(page.events, []);
  const future = feed.read(boxScope, { after: String(head + 1n), limit: 10 });
  assert.is(await codeOf(future), 'invalid_operation');
});

test('at the end a page is empty and says where to go on', async () => {
  const all = await feed.read(boxScope, { after: null, limit: 1_000 });
  const page = await feed.read(boxScope, { after: all.nextPosition, limit: 10 });
  assert.equal(page, { events: [], nextPosition: all.nextPosition, hasMore: false });
});

test('another environment sees none of it', async () => {
  for (const scope of [
    { ...boxScope, environmentId: 'env_other' },
    { ...boxScope, tenantId: 'tenant_other' },
  ]) {
    const page = await feed.read(scope, { after: null, limit: 10 });
    const { nextPosition } = await feed.read(boxScope, { after: null, limit: 1_000 });
    assert.equal(page, { events: [], nextPosition, hasMore: false });
  }
});

const quietScope = { ...boxScope, environmentId: 'env_quiet' };

/** A stream that keeps some fifty messages, and what fills it. */
async function smallStream(work: (given: SmallStream) => Promise<void>): Promise<void> {
  const small = await startStack();
  try {
    await small.relay({ streams: { maximumBytes: 40_000 } });
    const traffic = createTraffic(small.store);
    const client = await small.client();
    const fill = async (events: number) => {
      await traffic.append(events);
      await untilStored(client, traffic.expected.length);
    };
    await work({ fill, traffic, client, nats: await small.nats(), head: () => small.store.head() });
  } finally {
    await small.close();
  }
}

interface SmallStream {
  readonly fill: (events: number) => Promise<void>;
  readonly traffic: Traffic;
  readonly nats: Nats;
  readonly client: NatsConnection;
  readonly head: () => Promise<bigint>;
}

type Consumers = Awaited<ReturnType<NatsConnection['jetstreamManager']>>['consumers'];

/** The same connection, on which some requests about consumers are other ones. */
function withConsumers(nats: Nats, change: (consumers: Consumers) => Partial<Consumers>): Nats {
  const over = (session: NatsSession): NatsSession => {
    const jetstreamManager: typeof session.connection.jetstreamManager = async (options) => {
      const manager = await session.connection.jetstreamManager(options);
      const { consumers } = manager;
      const changed = Object.assign(Object.create(consumers), change(consumers));
      return Object.create(manager, { consumers: { value: changed } });
    };
    const { connection } = session;
    const hooked = {
      jetstreamManager: { value: jetstreamManager },
      subscribe: { value: connection.subscribe.bind(connection) },
      publish: { value: connection.publish.bind(connection) },
    };
    return { ...session, connection: Object.create(connection, hooked) };
  };
  return { ...nats, session: async (signal) => over(await nats.session(signal)) };
}

/** The same connection, but something happens right before a consumer is made. */
const beforeConsumer = (nats: Nats, work: () => Promise<void>): Nats =>
  withConsumers(nats, (consumers) => ({
    add: async (...given) => {
      await work();
      return consumers.add(...given);
    },
  }));

/** The same connection, but the broker counts what waits for a consumer wrongly. */
const miscounting = (nats: Nats, count: (pending: number) => number): Nats =>
  withConsumers(nats, (consumers) => {
    const wrong = (info: ConsumerInfo) => ({ ...info, num_pending: count(info.num_pending) });
    return {
      add: async (...given) => wrong(await consumers.add(...given)),
      info: async (...given) => wrong(await consumers.info(...given)),
    };
  });

for (const [what, count] of [
  ['too many', (pending: number) => pending + 2],
  ['too few', (pending: number) => Math.max(0, pending - 2)],
  ['none', () => 0],
] as const) {
  test(`every event comes, though the broker counts ${what} that wait`, async () => {
    const broker = natsBroker(miscounting(await stack.nats(), count), log, () =>
      stack.store.head(),
    );
    for (const limit of [7, 1_000]) {
      const read: FeedEvent[] = [];
      let after: string | null = null;
      for (let more = true; more; ) {
        const page: FeedPage = await broker.read(boxScope, { after, limit });
        read.push(...page.events);
        after = page.nextPosition;
        more = page.hasMore;
      }
      assert.equal(bodies(read), expected, `pages of ${limit}`);
    }
    const { nextPosition } = await feed.read(boxScope, { after: null, limit: 1_000 });
    const page = await broker.read(quietScope, { after: null, limit: 7 });
    assert.equal(page, { events: [], nextPosition, hasMore: false });
  });
}

const codeOf = (answer: Promise<unknown>): Promise<unknown> =>
  answer.catch((error) => (error instanceof Problem ? error.code : error));

test('a caller that has got everything can go on, however long nothing happens to it', () =>
  smallStream(async ({ fill, nats, head }) => {
    await fill(10);
    const narrow = natsBroker(nats, log, head);
    const missing = await narrow.read(quietScope, { after: null, limit: 10 });
    let after = missing.nextPosition;
    for (let round = 0; round < 10; round += 1) {
      await fill(15);
      const page = await narrow.read(quietScope, { after, limit: 10 });
      assert.equal(page.events, []);
      assert.ok(BigInt(page.nextPosition) > BigInt(after));
      after = page.nextPosition;
    }
    assert.is(
      await codeOf(narrow.read(quietScope, { after: missing.nextPosition, limit: 10 })),
      'invalid_operation',
    );
  }));

test('a page that is not the last one goes on from its own last event', async () => {
  const page = await feed.read(boxScope, { after: null, limit: 3 });
  assert.ok(page.hasMore);
  assert.is(page.nextPosition, page.events.at(-1)?.position);
});

test('messages that are dropped while a page is read are not passed over in silence', () =>
  smallStream(async ({ fill, traffic, nats, head }) => {
    await fill(300);
    let isFirst = true;
    const narrow = natsBroker(
      beforeConsumer(nats, async () => {
        if (isFirst) await fill(300);
        isFirst = false;
      }),
      log,
      head,
    );
    const oldest = await natsBroker(nats, log, head).read(boxScope, { after: null, limit: 1 });
    const next = narrow.read(boxScope, { after: oldest.nextPosition, limit: 1_000 });
    assert.is(await codeOf(next), 'invalid_operation');
    isFirst = true;
    // A page reaches at least as far as the stream did when it was asked for: what came meanwhile may
    // be on it or on those after it.
    const kept: string[] = [];
    let page = await narrow.read(boxScope, { after: null, limit: 1_000 });
    assert.ok(page.events.length > 0);
    while (page.events.length > 0) {
      kept.push(...bodies(page.events));
      page = await narrow.read(boxScope, { after: page.nextPosition, limit: 1_000 });
    }
    assert.equal(kept, traffic.expected.slice(-kept.length), 'the newest without a gap');
  }));

test('events that are no longer kept are not passed over in silence', async () => {
  const small = await startStack();
  try {
    await small.relay({ streams: { maximumBytes: 40_000 } });
    const traffic = createTraffic(small.store);
    await traffic.append(300);
    await untilStored(await small.client(), traffic.expected.length);
    const narrow = natsBroker(await small.nats(), log, () => small.store.head());
    const oldest = await narrow.read(boxScope, { after: null, limit: 1 });
    assert.not.equal(bodies(oldest.events), traffic.expected.slice(0, 1));
    const again = await narrow.read(boxScope, { after: oldest.nextPosition, limit: 1 });
    assert.is(again.events.length, 1);
    try {
      await narrow.read(boxScope, { after: '1', limit: 10 });
      assert.unreachable();
    } catch (error) {
      assert.is(error instanceof Problem && error.code, 'invalid_operation');
      assert.match(String(error), /no longer kept/);
    }
  } finally {
    await small.close();
  }
});

test('a reader that begins with what is no longer kept is told of', () =>
  smallStream(async ({ fill, nats, head }) => {
    await fill(300);
    const warned: unknown[] = [];
    const told = Object.create(log, {
      warn: { value: ({ name }: { readonly name: string }) => warned.push(name) },
    });
    let drop = async (): Promise<void> => undefined;
    const broker = natsBroker(
      beforeConsumer(nats, () => drop()),
      told,
      head,
    );
    const reader = { scope: boxScope, resource: null, generation: 1, unconfirmedMaximum: 1 };
    const ensure = (name: string, start: ReaderStart) =>
      broker.ensureReader({ ...reader, name, start });
    const oldest = await broker.read(boxScope, { after: null, limit: 1 });
    await ensure('all', { kind: 'oldest' });
    await ensure('kept', { kind: 'position', after: oldest.nextPosition });
    assert.equal(warned, []);
    await ensure('gone', { kind: 'position', after: '1' });
    assert.equal(warned, ['gone']);
    drop = () => fill(300);
    await ensure('late', { kind: 'position', after: oldest.nextPosition });
    drop = async () => undefined;
    await ensure('late', { kind: 'position', after: oldest.nextPosition });
    assert.equal(warned, ['gone', 'late']);
  }));

test('a stream that never had a message has an end to begin at', async () => {
  const empty = await startStack();
  try {
    await empty.relay();
    const broker = natsBroker(await empty.nats(), log, async () => 41n);
    const isMade = () => broker.lastPosition().then(Boolean, () => false);
    await until('the stream is made', isMade);
    for (const after of [null, '0', '41']) {
      const page = await broker.read(boxScope, { after, limit: 10 });
      assert.equal(page, { events: [], nextPosition: after ?? '0', hasMore: false });
    }
    const start: ReaderStart = { kind: 'position', after: '0' };
    const reader = { name: 'first', scope: boxScope, resource: null, start };
    const status = await broker.ensureReader({ ...reader, generation: 1, unconfirmedMaximum: 1 });
    assert.equal(status, { pending: 0, unconfirmed: 0 });
  } finally {
    await empty.close();
  }
});

test('a message of somebody else is 503 for every reader', () =>
  smallStream(async ({ fill, traffic, nats, head, client }) => {
    await fill(10);
    const broker = natsBroker(nats, log, head);
    const whole = async () =>
      bodies((await broker.read(boxScope, { after: null, limit: 1_000 })).events);
    assert.equal(await whole(), traffic.expected);
    await client.jetstream().publish('billing.v1.stray.x.box.y.z');
    for (const after of [null, '0']) {
      const read = broker.read(boxScope, { after, limit: 10 });
      assert.is(await codeOf(read), 'service_unavailable');
    }
    assert.is(await codeOf(broker.lastPosition()), 'service_unavailable');
  }));

test('a broker that is away is 503', async () => {
  await stack.killBroker();
  try {
    await feed.read(boxScope, { after: null, limit: 10 });
    assert.unreachable();
  } catch (error) {
    assert.is(error instanceof Problem && error.code, 'service_unavailable');
  } finally {
    await stack.startBroker();
  }
});

test.run();
