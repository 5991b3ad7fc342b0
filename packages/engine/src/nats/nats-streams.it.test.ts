import { DiscardPolicy, RetentionPolicy, StorageType } from 'nats';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { publicStream } from '../define/subject.ts';
import { until } from '../projection/test-world.ts';
import { type Stack, startStack } from '../relay/test-stack.ts';
import { nanoseconds } from './nats-connection.ts';
import { ensureStreams, StreamRefused } from './nats-streams.ts';

const test = suite<{ stack: Stack }>('public stream');
const signal = new AbortController().signal;

test.before.each(async (context) => {
  context.stack = await startStack();
});
test.after.each(async (context) => {
  await context.stack.close();
});

const config = async (stack: Stack) => {
  const manager = await (await stack.client()).jetstreamManager();
  return (await manager.streams.info(publicStream)).config;
};

const refusal = async (ensuring: Promise<unknown>): Promise<StreamRefused> => {
  const failure = await ensuring.catch((error) => error);
  assert.instance(failure, StreamRefused);
  return failure as StreamRefused;
};

test('is made once', async ({ stack }) => {
  const nats = await stack.nats();
  assert.is(await ensureStreams(nats, {}, signal), 'created');
  assert.is(await ensureStreams(nats, {}, signal), 'unchanged');
  const { subjects, storage, retention, discard, max_age, duplicate_window, ...rest } =
    await config(stack);
  assert.equal(subjects, ['billing.v1.>']);
  assert.is(storage, StorageType.File);
  assert.is(retention, RetentionPolicy.Limits);
  assert.is(discard, DiscardPolicy.Old);
  assert.is(max_age, 90 * 24 * 60 * 60 * 1e9);
  assert.is(duplicate_window, 120 * 1e9);
  const { deny_delete, deny_purge, allow_direct, republish } = rest;
  assert.equal([deny_delete, deny_purge, allow_direct], [true, true, true]);
  assert.equal(republish, { src: 'billing.v1.>', dest: 'live.billing.v1.>' });
});

test('can be made by two at once', async ({ stack }) => {
  const [left, right] = [await stack.nats(), await stack.nats()];
  await Promise.all([ensureStreams(left, {}, signal), ensureStreams(right, {}, signal)]);
  assert.is(await ensureStreams(left, {}, signal), 'unchanged');
});

test('follows changed limits', async ({ stack }) => {
  const nats = await stack.nats();
  await ensureStreams(nats, {}, signal);
  const changed = { maximumBytes: 2_000_000, maximumAgeDays: 7 };
  assert.is(await ensureStreams(nats, changed, signal), 'updated');
  const { max_bytes, max_age } = await config(stack);
  assert.is(max_bytes, 2_000_000);
  assert.is(max_age, nanoseconds(7 * 24 * 60 * 60 * 1000));
});

test('keeps the size that an operator gave it', async ({ stack }) => {
  const nats = await stack.nats();
  await ensureStreams(nats, {}, signal);
  const manager = await (await stack.client()).jetstreamManager();
  const size = { max_bytes: 5 * 1024 ** 3, max_age: nanoseconds(60_000) };
  await manager.streams.update(publicStream, { ...size, duplicate_window: nanoseconds(60_000) });
  assert.is(await ensureStreams(nats, {}, signal), 'unchanged');
  const { max_bytes, max_age } = await config(stack);
  assert.equal({ max_bytes, max_age }, size);
  assert.is(await ensureStreams(nats, { maximumBytes: 2_000_000 }, signal), 'updated');
  assert.is((await config(stack)).max_age, size.max_age);
});

test('is not made of a stream that can never be like it', async ({ stack }) => {
  const manager = await (await stack.client()).jetstreamManager();
  await manager.streams.add({ name: publicStream, storage: StorageType.Memory, subjects: ['x'] });
  const { message } = await refusal(ensureStreams(await stack.nats(), {}, signal));
  assert.match(message, /settings that cannot be changed.*storage/);
});

test('says what the server has against it', async ({ stack }) => {
  const nats = await stack.nats();
  const tooMuch = await refusal(ensureStreams(nats, { maximumBytes: 1e18 }, signal));
  assert.match(tooMuch.message, /refuses to create.*insufficient storage/);
  const manager = await (await stack.client()).jetstreamManager();
  await manager.streams.add({ name: 'OTHER', subjects: ['billing.>'] });
  const taken = await refusal(ensureStreams(nats, {}, signal));
  assert.match(taken.message, /subjects overlap/);
});

test('is protected from deletions of messages', async ({ stack }) => {
  await ensureStreams(await stack.nats(), {}, signal);
  const client = await stack.client();
  const manager = await client.jetstreamManager();
  await client.jetstream().publish('billing.v1.a.b.c.d.e');
  const deleting = await manager.streams.deleteMessage(publicStream, 1).catch((error) => error);
  assert.match(String(deleting), /not permitted/);
  const purging = await manager.streams.purge(publicStream).catch((error) => error);
  assert.match(String(purging), /not permitted/);
});

test('a connection tells whether it is there, and comes back by itself', async ({ stack }) => {
  const nats = await stack.nats();
  const first = await nats.session(signal);
  assert.is(nats.status().connected, true);
  await stack.killBroker();
  await until('the loss is noticed', () => first.lost.aborted);
  assert.is(nats.status().connected, false);
  assert.match(nats.status().error ?? '', /was lost/);
  const failure = await nats.check().catch((error) => error);
  assert.match(String(failure), /was lost/);
  const given = new AbortController();
  const waiting = nats.session(given.signal).catch((error) => error);
  given.abort(new Error('no patience'));
  assert.match(String(await waiting), /no patience/);
  await stack.startBroker();
  const second = await nats.session(signal);
  assert.is(second.lost.aborted, false);
  assert.is(nats.status().connected, true);
  await nats.close();
  assert.is(second.lost.aborted, true);
  assert.is(nats.status().connected, false);
});

test.run();
