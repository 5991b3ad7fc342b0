import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { until } from '../projection/test-world.ts';
import { type OutgoingMessage, publicMessages } from '../relay/message.ts';
import { storedBoxEvent } from '../relay/test-box.ts';
import { type Stack, startStack, streamBodies, untilStored } from '../relay/test-stack.ts';
import { openPublisher } from './nats-publisher.ts';
import { ensureStreams } from './nats-streams.ts';

const test = suite<{ stack: Stack }>('publisher');
const signal = new AbortController().signal;

test.before.each(async (context) => {
  context.stack = await startStack();
});
test.after.each(async (context) => {
  await context.stack.close();
});

const messages = (count: number): OutgoingMessage[] =>
  Array.from({ length: count }, (_, index) => {
    const event = storedBoxEvent(['Watched'], { position: BigInt(index + 1) });
    return publicMessages(event, [
      { type: 'box.counted', resourceId: 'box1', body: { number: index } },
    ])[0]!;
  });

async function open(stack: Stack, answerWithin = 5_000) {
  const nats = await stack.nats();
  const session = await nats.session(signal);
  return { nats, publisher: openPublisher(session, { window: 20, answerWithin }) };
}

/** A publisher where the stream is there. */
async function openOnStream(stack: Stack, answerWithin?: number) {
  const { nats, publisher } = await open(stack, answerWithin);
  await ensureStreams(nats, {}, signal);
  return publisher;
}

test('stores messages in order, however many at once', async ({ stack }) => {
  const publisher = await openOnStream(stack);
  const outcome = await publisher.publish(messages(300), 0);
  assert.equal(outcome, { acknowledged: 300, fault: null, detail: '' });
  const bodies = await streamBodies(await stack.client());
  const numbers = bodies.map((text) => JSON.parse(text).number);
  assert.equal(
    numbers,
    numbers.map((_, index) => index),
  );
});

test('the first, each fifth and the last of a window of twenty are answered', async ({ stack }) => {
  const publisher = await openOnStream(stack);
  const client = await stack.client();
  let answers = 0;
  client.subscribe('_INBOX.>', {
    callback: (_error, message) => {
      if (message.string().includes('"seq"')) answers += 1;
    },
  });
  await client.flush();
  assert.is((await publisher.publish(messages(52), 0)).acknowledged, 52);
  await client.flush();
  assert.is(answers, 1 + 10 + 1);
});

test('a fault between two answers is told by the next one, and nothing after it is stored', async ({
  stack,
}) => {
  const publisher = await openOnStream(stack);
  const all = messages(40);
  await publisher.publish(all.slice(0, 3), 0);
  const repeated = [...all.slice(3, 9), ...all.slice(2, 3), ...all.slice(9)];
  const outcome = await publisher.publish(repeated, 3);
  assert.is(outcome.fault, 'conflict');
  assert.is(outcome.acknowledged, 5);
  assert.is((await streamBodies(await stack.client())).length, 9);
});

test('nothing to publish is no work', async ({ stack }) => {
  const { publisher } = await open(stack);
  assert.is((await publisher.publish([], 7)).fault, null);
});

test('a stream that ends elsewhere is a conflict, and nothing more is stored', async ({
  stack,
}) => {
  const publisher = await openOnStream(stack);
  const all = messages(40);
  await publisher.publish(all.slice(0, 2), 0);
  const outcome = await publisher.publish(all.slice(3), 3);
  assert.is(outcome.fault, 'conflict');
  assert.is(outcome.acknowledged, 0);
  assert.match(outcome.detail, /wrong last sequence: 2/);
  assert.is((await streamBodies(await stack.client())).length, 2);
});

test('a message that is there already is a duplicate, and nothing more is stored', async ({
  stack,
}) => {
  const publisher = await openOnStream(stack);
  const all = messages(4);
  await publisher.publish(all.slice(0, 3), 0);
  const outcome = await publisher.publish(all.slice(2), 2);
  assert.is(outcome.fault, 'duplicate');
  assert.is(outcome.acknowledged, 0);
  // The fourth was under way and has been refused or stored in its right place; never elsewhere.
  const bodies = await streamBodies(await stack.client());
  assert.equal(
    bodies.map((text) => JSON.parse(text).number),
    [0, 1, 2, 3].slice(0, bodies.length),
  );
});

test('no stream at all is a refusal', async ({ stack }) => {
  const { publisher } = await open(stack);
  const { fault, detail } = await publisher.publish(messages(2), 0);
  assert.is(fault, 'refused');
  assert.match(detail, /nobody stores the message: 503/);
});

test('an answer that is none is a refusal', async ({ stack }) => {
  const client = await stack.client();
  client.subscribe('billing.v1.>', {
    callback: (_error, message) => void message.respond('thank you'),
  });
  await client.flush();
  const { publisher } = await open(stack);
  const { fault, detail } = await publisher.publish(messages(1), 0);
  assert.is(fault, 'refused');
  assert.match(detail, /no JSON/);
});

test('an answer that does not come leaves the outcome unknown', async ({ stack }) => {
  const client = await stack.client();
  client.subscribe('billing.v1.>', { callback: () => undefined });
  await client.flush();
  const { publisher } = await open(stack, 50);
  const { fault, detail } = await publisher.publish(messages(1), 0);
  assert.is(fault, 'unknown_outcome');
  assert.match(detail, /no answer within 50 ms/);
});

test('answers to what was given up are not taken for answers to something else', async ({
  stack,
}) => {
  const late: (() => void)[] = [];
  const client = await stack.client();
  client.subscribe('billing.v1.>', {
    callback: (_error, message) => {
      late.push(() => message.respond(JSON.stringify({ stream: 'BILLING', seq: 1 })));
    },
  });
  await client.flush();
  const { publisher } = await open(stack, 50);
  const [first, second] = messages(2);
  await publisher.publish([first!], 0);
  const publishing = publisher.publish([second!], 0);
  await until('both are sent', () => late.length === 2);
  late[0]?.();
  assert.is((await publishing).fault, 'unknown_outcome');
});

test('a lost connection leaves the outcome unknown at once', async ({ stack }) => {
  const publisher = await openOnStream(stack, 600_000);
  const publishing = publisher.publish(messages(20_000), 0);
  await untilStored(await stack.client(), 100);
  await stack.killBroker();
  const { fault, acknowledged } = await publishing;
  assert.is(fault, 'unknown_outcome');
  assert.ok(acknowledged < 20_000);
  assert.is((await publisher.publish(messages(1), 0)).fault, 'unknown_outcome');
});

test.run();
