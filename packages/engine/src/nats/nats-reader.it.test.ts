import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { publicStream } from '../define/subject.ts';
import { createLog } from '../operations/log.ts';
import { silentLog as log, until } from '../projection/test-world.ts';
import type { PublicMessage } from '../relay/public-message.ts';
import { boxEvent, boxStream } from '../relay/test-box.ts';
import { createTraffic, type Stack, startStack, untilStored } from '../relay/test-stack.ts';
import {
  type FollowOptions,
  followPublicStream,
  type PublicBatch,
  StreamMismatch,
} from './nats-reader.ts';

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
    assert.ok(batch.messages.length <= (options.maximum ?? 256));
    assert.ok(options.wanted || batch.messages.length > 0);
    taken.push(...batch.messages);
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
      const arrived = batch.messages.length + 8;
      await until('more have arrived', () => connection.stats().inMsgs - before >= arrived);
      await connection.flush();
      assert.ok(connection.stats().inMsgs - before < 25);
    }
    sequences.push(...batch.messages.map(({ sequence }) => sequence));
    if (sequences.length >= 61) break;
  }
  assert.equal(
    sequences,
    Array.from({ length: 61 }, (_, index) => index + 1),
  );
  assert.equal(warnings, []);
});

/** The places that a reading reaches, until it has reached a sequence. */
async function placesUpTo(stack: Stack, sequence: number, options: Partial<FollowOptions>) {
  const { signal } = new AbortController();
  const messages: PublicMessage[] = [];
  const places: PublicBatch['reached'][] = [];
  const all = { nats: await stack.nats(), after: null, signal, log, ...options };
  for await (const batch of followPublicStream(all)) {
    messages.push(...batch.messages);
    places.push(batch.reached);
    if (batch.reached.sequence >= sequence) break;
  }
  return { messages, places };
}

test('of some subjects only gives their messages, and tells how far it has come past others', async ({
  stack,
}) => {
  const traffic = createTraffic(stack.store);
  await traffic.append(60);
  await stack.relay();
  const total = traffic.expected.length;
  const all = await read(stack, total);
  const wanted = all.filter(({ resourceId }) => resourceId === all[3]?.resourceId);
  const subject = `billing.v1.tenant_01.*.*.${all[3]?.resourceId}.>`;
  const found = await placesUpTo(stack, total, { wanted: [subject] });
  assert.equal(found.messages, wanted);
  const { sequence, position, index } = all.at(-1)!;
  assert.equal({ ...found.places.at(-1) }, { sequence, position, index });
  // It never says that it has passed a message that it has not handed over.
  const after = wanted[1]!;
  const rest = await placesUpTo(stack, total, { wanted: [subject], after });
  assert.equal(rest.messages, wanted.slice(2));
  // Of several subjects an old server sends all messages; none that is wanted is missing.
  const several = await placesUpTo(stack, total, { wanted: [subject, 'billing.v1.nobody.>'] });
  const isWanted = ({ resourceId }: PublicMessage) => resourceId === all[3]?.resourceId;
  assert.equal(several.messages.filter(isWanted), wanted);
});

test('of nothing only tells where the stream ends', async ({ stack }) => {
  const traffic = createTraffic(stack.store);
  await traffic.append(20);
  await stack.relay();
  const [last] = (await read(stack, traffic.expected.length)).slice(-1);
  const found = await placesUpTo(stack, traffic.expected.length, { wanted: [] });
  assert.equal(found.messages, []);
  assert.is(found.places.at(-1)?.position, last?.position);
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
