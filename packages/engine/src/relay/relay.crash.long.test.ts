import type { ChildProcess } from 'node:child_process';
import { randomInt } from 'node:crypto';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { kill, until } from '../projection/test-world.ts';
import { collect, forkRelay } from './test-crash.ts';
import { createTraffic, type Stack, startStack, streamBodies, untilStored } from './test-stack.ts';

/** The proof of relay.crash.it.test.ts at length: two relays, and kills at random moments. */
const test = suite<{ stack: Stack; relays: ChildProcess[] }>(
  'relays and broker that are killed often',
);

const kills = { relay: 24, broker: 12 };

test.before(async (context) => {
  context.stack = await startStack();
  context.relays = [];
});
test.after(async ({ stack, relays }) => {
  for (const relay of relays) await kill(relay);
  await stack.close();
});

type Victim = keyof typeof kills;

/** All kills, in an order that is drawn again each time. */
function drawOrder(): readonly Victim[] {
  const left = Object.entries(kills).flatMap(([victim, count]) =>
    Array.from({ length: count }, () => victim as Victim),
  );
  const order: Victim[] = [];
  while (left.length > 0) order.push(...left.splice(randomInt(left.length), 1));
  return order;
}

test('JetStream holds every event once, without a gap and in order', async ({ stack, relays }) => {
  const traffic = createTraffic(stack.store);
  const reader = await collect(stack);
  relays.push(await forkRelay(stack), await forkRelay(stack));
  let isWriting = true;
  const writer = (async () => {
    while (isWriting) await traffic.append(12);
  })();
  const client = await stack.client();
  for (const victim of drawOrder()) {
    await untilStored(client, (reader.sequences.at(-1) ?? 0) + randomInt(1, 120));
    if (victim === 'broker') {
      await stack.killBroker();
      await stack.startBroker();
      continue;
    }
    const which = randomInt(relays.length);
    const relay = relays[which];
    if (relay) await kill(relay);
    relays[which] = await forkRelay(stack);
  }
  isWriting = false;
  await writer;
  const { length } = traffic.expected;
  await untilStored(client, length);
  assert.equal(await streamBodies(client), traffic.expected);
  await until('the reader has all', () => reader.bodies.length >= length);
  assert.equal(reader.bodies, traffic.expected);
  assert.equal(
    reader.sequences,
    traffic.expected.map((_, index) => index + 1),
  );
  await reader.stop();
  console.log(
    `${kills.relay} kills of two relays, ${kills.broker} of the broker: ${length} messages, ` +
      'none lost, none twice, none out of order',
  );
});

test.run();
