import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import type { PublicEvents } from '../define/public-event.ts';
import { publicStream } from '../define/subject.ts';
import { openPublisher } from '../nats/nats-publisher.ts';
import { ensureStreams } from '../nats/nats-streams.ts';
import { jetStreamRequests, readTail } from '../nats/nats-tail.ts';
import { createMetrics } from '../operations/metrics.ts';
import { until } from '../projection/test-world.ts';
import { StreamCache } from '../stream-cache/stream-cache.ts';
import { createRenderer } from './render.ts';
import { boxEvent, boxPublicEvents, boxStream } from './test-box.ts';
import {
  createTraffic,
  memoryCheckpoint,
  type Stack,
  startStack,
  streamBodies,
  untilStored,
} from './test-stack.ts';

const test = suite<{ stack: Stack }>('relay');
const forever = new AbortController().signal;

test.before.each(async (context) => {
  context.stack = await startStack();
});
test.after.each(async (context) => {
  await context.stack.close();
});

test('publishes the backlog and what comes after it, in order', async ({ stack }) => {
  const traffic = createTraffic(stack.store);
  await traffic.append(300);
  const metrics = createMetrics({ processMetrics: false });
  const relay = await stack.relay({ metrics });
  const client = await stack.client();
  await untilStored(client, traffic.expected.length);
  await traffic.append(60);
  await untilStored(client, traffic.expected.length);
  assert.equal(await streamBodies(client), traffic.expected);
  await until('caught up', () => relay.status().headLag === 0n);
  const { sequence, published, error, lagMilliseconds } = relay.status();
  assert.equal(
    { sequence, published, error, lagMilliseconds },
    {
      sequence: traffic.expected.length,
      published: traffic.expected.length,
      error: null,
      lagMilliseconds: 0,
    },
  );
  const text = await metrics.registry.metrics();
  assert.match(text, new RegExp(`relay_published_total ${traffic.expected.length}\n`));
  assert.match(text, /relay_failing 0\n/);
});

test('plain subscribers get stored messages only, under live', async ({ stack }) => {
  const nats = await stack.nats();
  await ensureStreams(nats, {}, forever);
  const client = await stack.client();
  const heard: string[] = [];
  client.subscribe('live.billing.v1.tenant_01.env_01.>', {
    callback: (_error, message) => heard.push(message.string()),
  });
  await client.flush();
  const traffic = createTraffic(stack.store);
  await traffic.append(20);
  await stack.relay({ nats });
  await until('all are heard', () => heard.length >= traffic.expected.length);
  assert.equal(heard, traffic.expected);
});

test('goes on behind what is there and completes an event that was cut', async ({ stack }) => {
  const traffic = createTraffic(stack.store);
  await traffic.append(40);
  const nats = await stack.nats();
  await ensureStreams(nats, {}, forever);
  const client = await stack.client();
  const events = [];
  for await (const event of stack.store.readLog({
    prefixes: ['box-'],
    after: 0n,
    upTo: await stack.store.head(),
  })) {
    events.push(event);
  }
  const { messages } = await createRenderer(new StreamCache({ store: stack.store }), [
    boxPublicEvents,
  ]).render(events);
  // A relay that died right after the first of an event's two messages.
  const cut = messages.findIndex(({ index, count }) => count === 2 && index === 0) + 1;
  assert.ok(cut > 0);
  const publisher = openPublisher(await nats.session(forever), { window: 4 });
  const { acknowledged } = await publisher.publish(messages.slice(0, cut), 0);
  publisher.close();
  assert.is(acknowledged, cut);

  const relay = await stack.relay({ nats });
  await untilStored(client, traffic.expected.length);
  assert.equal(await streamBodies(client), traffic.expected);
  assert.is(relay.status().published, traffic.expected.length - cut);
});

test('two quick changes give two messages with two states', async ({ stack }) => {
  await stack.store.append(
    boxStream('box1'),
    [
      boxEvent(['Made', { id: 'box1' }]),
      boxEvent(['Filled', { amount: 1 }]),
      boxEvent(['Filled', { amount: 1 }]),
    ],
    -1,
  );
  await stack.relay();
  const client = await stack.client();
  await untilStored(client, 3);
  const states = (await streamBodies(client)).map((text) => JSON.parse(text).box.content);
  assert.equal(states, [0, 1, 2]);
});

test('publishes nothing before the read models show it', async ({ stack }) => {
  const traffic = createTraffic(stack.store);
  await traffic.append(50);
  const nats = await stack.nats();
  const requests = await jetStreamRequests(await nats.session(forever));
  let shown = 0n;
  let waits = 0;
  const relay = await stack.relay({
    nats,
    projected: {
      waitFor: async (position) => {
        const { last } = await readTail(requests);
        assert.ok((last?.position ?? 0n) <= shown, 'the stream is not ahead of the read models');
        assert.ok(position > shown);
        shown = position;
        waits += 1;
        if (waits < 4) await traffic.append(10);
      },
    },
  });
  const client = await stack.client();
  await until('four waits', () => waits >= 4);
  await untilStored(client, traffic.expected.length);
  assert.is(relay.status().error, null);
  assert.equal(await streamBodies(client), traffic.expected);
});

test('waits for read models that never come without publishing, and stops at once', async ({
  stack,
}) => {
  await createTraffic(stack.store).append(5);
  let asked = 0;
  const relay = await stack.relay({
    projected: {
      waitFor: () => {
        asked += 1;
        return new Promise(() => undefined);
      },
    },
  });
  await until('it waits', () => asked === 1);
  await until('it is behind', () => relay.status().lagMilliseconds > 0);
  await relay.stop();
  const client = await stack.client();
  assert.equal(await streamBodies(client), []);
});

test('two relays at once lead to one stream', async ({ stack }) => {
  const traffic = createTraffic(stack.store);
  await traffic.append(6_000, 300);
  const relays = [await stack.relay(), await stack.relay(), await stack.relay()];
  await traffic.append(150);
  const client = await stack.client();
  await untilStored(client, traffic.expected.length);
  await Promise.all(relays.map((relay) => relay.stop()));
  assert.equal(await streamBodies(client), traffic.expected);
});

test('works on while the broker is away, and catches up', async ({ stack }) => {
  await stack.killBroker();
  const traffic = createTraffic(stack.store);
  await traffic.append(30);
  const relay = await stack.relay();
  assert.match(relay.status().error ?? '', /no connection to NATS/);
  await stack.startBroker();
  const client = await stack.client();
  await untilStored(client, traffic.expected.length);
  await stack.restartStore();
  await traffic.append(30);
  await untilStored(client, traffic.expected.length);
  assert.equal(await streamBodies(client), traffic.expected);
  await until('all is well', () => relay.status().error === null);
});

test('a publisher that throws stops the relay there, visibly, until it is mended', async ({
  stack,
}) => {
  let broken = true;
  const fragile: PublicEvents = {
    ...boxPublicEvents,
    publish: (change) => {
      if (broken && change.event.type === 'Labelled') throw new Error('a defect');
      return boxPublicEvents.publish(change, {});
    },
  };
  const traffic = createTraffic(stack.store);
  await traffic.append(30);
  const relay = await stack.relay({ publicEvents: [fragile] });
  await until('it is told', () => /Labelled at box-.* a defect/.test(relay.status().error ?? ''));
  const client = await stack.client();
  const before = await streamBodies(client);
  assert.ok(before.length > 0 && before.length < traffic.expected.length);
  assert.equal(before, traffic.expected.slice(0, before.length));
  broken = false;
  await untilStored(client, traffic.expected.length);
  assert.equal(await streamBodies(client), traffic.expected);
  await until('all is well', () => relay.status().error === null);
});

test('a message that is too long goes out as a stub, counted', async ({ stack }) => {
  const label = 'x'.repeat(300_000);
  await stack.store.append(
    boxStream('box1'),
    [boxEvent(['Made', { id: 'box1' }]), boxEvent(['Labelled', { label }])],
    -1,
  );
  const metrics = createMetrics({ processMetrics: false });
  await stack.relay({ metrics });
  const client = await stack.client();
  await untilStored(client, 2);
  const [, stub] = await streamBodies(client);
  assert.is(stub, '{"event_type":"box.updated","box":{"id":"box1"},"truncated":true}');
  assert.match(await metrics.registry.metrics(), /relay_truncated_total 1\n/);
});

test('a stream that was removed is made again with the same sequences', async ({ stack }) => {
  const traffic = createTraffic(stack.store);
  await traffic.append(60);
  const metrics = createMetrics({ processMetrics: false });
  await stack.relay({ metrics });
  const client = await stack.client();
  await untilStored(client, traffic.expected.length);
  const manager = await client.jetstreamManager();
  await manager.streams.delete(publicStream);
  await traffic.append(10);
  await untilStored(client, traffic.expected.length);
  assert.equal(await streamBodies(client), traffic.expected);
  const text = await metrics.registry.metrics();
  assert.match(text, /relay_stream_damages_total\{damage="recreated"\} 1\n/);
});

test('a stream that is removed while nothing happens is filled again too', async ({ stack }) => {
  const traffic = createTraffic(stack.store);
  await traffic.append(60);
  await stack.relay();
  const client = await stack.client();
  await untilStored(client, traffic.expected.length);
  await (await client.jetstreamManager()).streams.delete(publicStream);
  await untilStored(client, traffic.expected.length);
  assert.equal(await streamBodies(client), traffic.expected);
});

test("somebody else's message is told, and the stream is filled again once it is removed", async ({
  stack,
}) => {
  const traffic = createTraffic(stack.store);
  await traffic.append(20);
  const relay = await stack.relay();
  const client = await stack.client();
  await untilStored(client, traffic.expected.length);
  await client.jetstream().publish('billing.v1.tenant.env.box.box1.opened', 'not the relay');
  await until('it is told', () => /not the relay's/.test(relay.status().error ?? ''));
  await (await client.jetstreamManager()).streams.delete(publicStream);
  await untilStored(client, traffic.expected.length);
  assert.equal(await streamBodies(client), traffic.expected);
  await until('all is well', () => relay.status().error === null);
});

for (const known of ['an old checkpoint', 'no checkpoint'] as const) {
  test(`a stream that has aged out goes on with the next message, with ${known}`, async ({
    stack,
  }) => {
    const traffic = createTraffic(stack.store);
    const client = await stack.client();
    const manager = await client.jetstreamManager();
    const checkpoint = memoryCheckpoint();
    for (const events of [15, 25]) {
      await traffic.append(events);
      const streams = { maximumAgeDays: 1 / (24 * 60 * 60) };
      const relay = await stack.relay({ streams, ...(checkpoint.row ? {} : { checkpoint }) });
      await untilStored(client, traffic.expected.length);
      await until('a checkpoint', () => checkpoint.row !== null);
      await relay.stop();
    }
    await until('all has aged out', async () => {
      return (await manager.streams.info(publicStream)).state.messages === 0;
    });
    const published = traffic.expected.length;
    assert.ok(checkpoint.row && checkpoint.row.sequence < published);
    await traffic.append(20);
    const row = known === 'no checkpoint' ? null : checkpoint.row;
    const relay = await stack.relay({ checkpoint: memoryCheckpoint(row) });
    await untilStored(client, traffic.expected.length);
    assert.equal(await streamBodies(client), traffic.expected.slice(published));
    assert.is(relay.status().sequence, traffic.expected.length);
  });
}

test('a stream that was made from another log is left alone', async ({ stack }) => {
  const other = await startStack();
  const client = await stack.client();
  const traffic = createTraffic(other.store);
  try {
    await traffic.append(10);
    const first = await stack.relay({ store: other.store });
    await untilStored(client, traffic.expected.length);
    await first.stop();
  } finally {
    await other.close();
  }
  // The same streams with the same revisions, but elsewhere in the log.
  await createTraffic(stack.store, 'first').append(10);
  await createTraffic(stack.store).append(30);
  const relay = await stack.relay();
  await until('it is told', () => /do not belong together/.test(relay.status().error ?? ''));
  assert.equal(await streamBodies(client), traffic.expected);
});

test.run();
