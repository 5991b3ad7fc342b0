import type { ChildProcess } from 'node:child_process';
import { readdir, stat, truncate } from 'node:fs/promises';
import { join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { publicStream } from '../define/subject.ts';
import { createMetrics } from '../operations/metrics.ts';
import { kill, until } from '../projection/test-world.ts';
import { collect, forkRelay } from './test-crash.ts';
import {
  createTraffic,
  memoryCheckpoint,
  type Stack,
  startStack,
  streamBodies,
  untilStored,
} from './test-stack.ts';

const test = suite<{ stack: Stack; children: ChildProcess[] }>('relay and broker that are killed');

test.before.each(async (context) => {
  context.stack = await startStack();
  context.children = [];
});
test.after.each(async (context) => {
  for (const child of context.children) await kill(child);
  await context.stack.close();
});

test('no kill -9 of relay or broker loses, repeats or reorders anything', async (context) => {
  const { stack, children } = context;
  const traffic = createTraffic(stack.store);
  const reader = await collect(stack);
  children.push(await forkRelay(stack));
  let writing = true;
  const writer = (async () => {
    while (writing) await traffic.append(12);
  })();
  const client = await stack.client();
  for (let round = 0; round < 6; round += 1) {
    // Each kill comes in the middle of traffic: some messages after the last one.
    await untilStored(client, (reader.sequences.at(-1) ?? 0) + 60);
    const killBroker = round % 3 !== 0;
    const killRelay = round % 3 !== 1;
    if (killBroker) await stack.killBroker();
    if (killRelay) await kill(children[0]!);
    if (killBroker) await stack.startBroker();
    if (killRelay) children[0] = await forkRelay(stack);
  }
  writing = false;
  await writer;
  await untilStored(client, traffic.expected.length);
  assert.equal(await streamBodies(client), traffic.expected);
  await until('the reader has all', () => reader.bodies.length >= traffic.expected.length);
  assert.equal(reader.bodies, traffic.expected);
  assert.equal(
    reader.sequences,
    traffic.expected.map((_, index) => index + 1),
  );
  await reader.stop();
});

/** Cuts off the last part of the stream's newest file, as a power failure would. */
async function tearTail({ directory }: Stack, part: number): Promise<void> {
  const folder = join(directory, 'nats/jetstream/jetstream/$G/streams', publicStream, 'msgs');
  const blocks = (await readdir(folder)).filter((name) => name.endsWith('.blk'));
  const newest = blocks
    .sort((left, right) => Number.parseInt(left, 10) - Number.parseInt(right, 10))
    .at(-1);
  const file = join(folder, newest!);
  const { size } = await stat(file);
  await truncate(file, Math.floor(size * (1 - part)));
}

test('a torn end of the stream is filled again with the same messages', async ({ stack }) => {
  const traffic = createTraffic(stack.store);
  await traffic.append(400);
  const checkpoint = memoryCheckpoint();
  const first = await stack.relay({ checkpoint });
  const client = await stack.client();
  const reader = await collect(stack);
  await untilStored(client, traffic.expected.length);
  await until('the reader has all', () => reader.bodies.length === traffic.expected.length);
  await first.stop();
  await stack.killBroker();
  await tearTail(stack, 0.2);
  await stack.startBroker();
  const manager = await (await stack.client()).jetstreamManager();
  const { state } = await manager.streams.info(publicStream);
  assert.ok(state.last_seq < traffic.expected.length, 'the end is gone');

  await traffic.append(30);
  const metrics = createMetrics({ processMetrics: false });
  await stack.relay({ checkpoint, metrics });
  await untilStored(client, traffic.expected.length);
  assert.equal(await streamBodies(client), traffic.expected);
  assert.match(
    await metrics.registry.metrics(),
    /relay_stream_damages_total\{damage="torn_tail"\} 1\n/,
  );
  await until('the reader has all', () => reader.bodies.length >= traffic.expected.length);
  assert.equal(reader.bodies, traffic.expected);
  await reader.stop();
});

test('a relay that lives through it fills the torn end as soon as the broker is back', async ({
  stack,
}) => {
  const traffic = createTraffic(stack.store);
  await traffic.append(200);
  const relay = await stack.relay();
  const client = await stack.client();
  await untilStored(client, traffic.expected.length);
  await until('caught up', () => relay.status().sequence === traffic.expected.length);
  await stack.killBroker();
  await tearTail(stack, 0.5);
  await stack.startBroker();
  // Nothing new is appended: the loss alone has to be noticed.
  await untilStored(client, traffic.expected.length);
  assert.equal(await streamBodies(client), traffic.expected);
});

test.run();
