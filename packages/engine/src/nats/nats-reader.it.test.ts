import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { publicStream } from '../define/subject.ts';
import { createLog } from '../operations/log.ts';
import { silentLog as log, until } from '../projection/test-world.ts';
import type { PublicMessage } from '../relay/public-message.ts';
import { boxEvent, boxStream } from '../relay/test-box.ts';
import { createTraffic, type Stack, startStack, untilStored } from '../relay/test-stack.ts';
import { type FollowOptions, followPublicStream, StreamMismatch } from './nats-reader.ts';

const test = suite<{ stack: Stack }>('reader of the public stream');

test.before.each(async (context) => {
  context.stack = await startStack();
});
test.after.each(async (context) => {
  await context.stack.close();
});

const text = ({ body }: PublicMessage): string => new TextDecoder().decode(body);

/** Reads so many messages and leaves. */
async function read(
  stack: Stack,
  messages: number,
  options: Partial<FollowOptions> = {},
): Promise<PublicMessage[]> {
  const signal = new AbortController().signal;
  const taken: PublicMessage[] = [];
  const all = { nats: await stack.nats(), after: null, signal, log, ...options };
  for await (const batch of followPublicStream(all)) {
    assert.ok(batch.length > 0 && batch.length <= (options.maximum ?? 256));
    taken.push(...batch);
    if (taken.length >= messages) break;
  }
  return taken.slice(0, messages);
}

test('gives every message once and in order, in batches', async ({ stack }) => {
  const traffic = createTraffic(stack.store);
  await traffic.append(500, 50);
  await stack.relay();
  const messages = await read(stack, traffic.expected.length, { maximum: 40 });
  assert.equal(messages.map(text), traffic.expected);
  assert.equal(
    messages.map(({ sequence }) => sequence),
    traffic.expected.map((_, index) => index + 1),
  );
});

test('goes on behind any message', async ({ stack }) => {
  const traffic = createTraffic(stack.store);
  await traffic.append(60);
  await stack.relay();
  const all = await read(stack, traffic.expected.length);
  const after = all[40]!;
  const rest = await read(stack, traffic.expected.length - 41, { after });
  assert.equal(rest, all.slice(41));
});

test('tells all about a message', async ({ stack }) => {
  const events = [boxEvent(['Made', { id: 'box1' }], 'request "ü"'), boxEvent(['Emptied'])];
  const { position } = await stack.store.append(boxStream('box1'), events, -1);
  await stack.relay();
  const [made, , emptied] = await read(stack, 3);
  assert.is(made?.correlationId, 'request "ü"');
  assert.is(made?.environmentId, 'env_01');
  const { body, id, ...rest } = emptied!;
  assert.match(id, /^evt_[0-9A-Z]{13}_1$/);
  assert.equal(rest, {
    sequence: 3,
    position,
    index: 1,
    count: 2,
    type: 'box.content.emptied',
    tenantId: 'tenant_01',
    environmentId: 'env_01',
    resourceId: 'box1',
    occurredAt: '2026-11-01T12:00:00.000Z',
    stream: boxStream('box1'),
    revision: 1,
    correlationId: 'req_01',
    isTruncated: false,
  });
  assert.is(JSON.parse(new TextDecoder().decode(body)).event_type, 'box.content.emptied');
});

/** A log that keeps its warnings: a reader that had to start over has told so. */
function listeningLog() {
  const warnings: string[] = [];
  const destination = { write: (line: string) => void warnings.push(line) };
  return { log: createLog({ level: 'warn', name: 'test', destination }), warnings };
}

async function appendLongBodies(stack: Stack, count: number): Promise<number> {
  const label = 'x'.repeat(200_000);
  await stack.store.append(boxStream('box1'), [boxEvent(['Made', { id: 'box1' }])], -1);
  for (let start = 0; start < count; start += 4) {
    const events = Array.from({ length: 4 }, () => boxEvent(['Labelled', { label }]));
    await stack.store.append(boxStream('box1'), events, start);
  }
  return label.length;
}

test('long bodies come through without a new start, whatever their number', async ({ stack }) => {
  const length = await appendLongBodies(stack, 120);
  const client = await stack.client();
  await stack.relay();
  await untilStored(client, 121);
  const { log: telling, warnings } = listeningLog();
  const messages = await read(stack, 121, { log: telling });
  assert.ok(messages.slice(1).every(({ body }) => body.length > length));
  assert.equal(warnings, []);
});

test('what arrives while a batch is dealt with is kept, and bounded', async ({ stack }) => {
  await appendLongBodies(stack, 60);
  await stack.relay();
  await untilStored(await stack.client(), 61);
  const { signal } = new AbortController();
  const nats = await stack.nats();
  const { connection } = await nats.session(signal);
  const before = connection.stats().inMsgs;
  const sequences: number[] = [];
  const { log: telling, warnings } = listeningLog();
  const options = { nats, after: null, signal, log: telling, maximum: 10 };
  for await (const batch of followPublicStream(options)) {
    if (sequences.length === 0) {
      // About ten are all that is asked for, beside the first batch, until the next one is taken.
      const arrived = batch.length + 8;
      await until('more have arrived', () => connection.stats().inMsgs - before >= arrived);
      await connection.flush();
      assert.ok(connection.stats().inMsgs - before < 25);
    }
    sequences.push(...batch.map(({ sequence }) => sequence));
    if (sequences.length >= 61) break;
  }
  assert.equal(
    sequences,
    Array.from({ length: 61 }, (_, index) => index + 1),
  );
  assert.equal(warnings, []);
});

test('waits for a stream that is not there yet, and for messages', async ({ stack }) => {
  const traffic = createTraffic(stack.store);
  const reading = read(stack, 1);
  await traffic.append(3);
  await stack.relay();
  assert.equal((await reading).map(text), traffic.expected.slice(0, 1));
});

test('ends when it is told to, also while it waits', async ({ stack }) => {
  await stack.relay();
  const traffic = createTraffic(stack.store);
  await traffic.append(1);
  const abort = new AbortController();
  const nats = await stack.nats();
  const batches = followPublicStream({ nats, after: null, signal: abort.signal, log });
  assert.is((await batches.next()).done, false);
  const waiting = batches.next();
  abort.abort();
  assert.is((await waiting).done, true);
});

const mismatch = async (reading: Promise<unknown>): Promise<StreamMismatch> => {
  const failure = await reading.catch((error) => error);
  assert.instance(failure, StreamMismatch);
  return failure as StreamMismatch;
};

test('another stream in the place of the known one is refused', async ({ stack }) => {
  const traffic = createTraffic(stack.store);
  await traffic.append(20);
  await stack.relay();
  const [, second] = await read(stack, 2);
  const after = { sequence: second!.sequence, position: second!.position + 1n };
  assert.is((await mismatch(read(stack, 1, { after }))).reason, 'recreated');
});

test('messages that are no longer kept are missed and not passed over', async ({ stack }) => {
  const traffic = createTraffic(stack.store);
  await traffic.append(2_000, 100);
  const relay = await stack.relay({ streams: { maximumBytes: 100_000 } });
  const client = await stack.client();
  await untilStored(client, traffic.expected.length);
  const manager = await client.jetstreamManager();
  const first = (await manager.streams.info(publicStream)).state.first_seq;
  assert.ok(first > 10);
  const failure = await mismatch(read(stack, 1, { after: { sequence: first - 2, position: 1n } }));
  assert.is(failure.reason, 'aged_out');
  assert.is(failure.firstSequence, first);
  // Whoever has had all that is gone, and whoever starts again, can go on.
  const [next] = await read(stack, 1, { after: { sequence: first - 1, position: 1n } });
  const [oldest] = await read(stack, 1);
  assert.is(next?.sequence, first);
  assert.is(oldest?.sequence, first);
  assert.is(text(oldest!), traffic.expected[first - 1]);
  assert.is(relay.status().error, null);
});

test.run();
