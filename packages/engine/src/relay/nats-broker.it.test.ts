import { Problem } from '@counterfoil/kernel';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import type { FeedEvent, PublicFeed } from '../define/public-feed.ts';
import { natsBroker } from './nats-broker.ts';
import { boxScope } from './test-box.ts';
import { createTraffic, log, type Stack, startStack, untilStored } from './test-stack.ts';

const test = suite('event feed');
let stack: Stack;
let feed: PublicFeed;
let expected: readonly string[] = [];

test.before(async () => {
  stack = await startStack();
  feed = natsBroker(await stack.nats(), log);
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
      const page = await feed.read(boxScope, after, limit);
      const last = page.events.at(-1);
      assert.is(page.nextPosition, last?.position);
      read.push(...page.events);
      after = page.nextPosition;
      more = page.hasMore;
    }
    assert.equal(bodies(read), expected, `pages of ${limit}`);
  }
});

test('at the end a page is empty and says where to go on', async () => {
  const all = await feed.read(boxScope, null, 1_000);
  const page = await feed.read(boxScope, all.nextPosition, 10);
  assert.equal(page, { events: [], nextPosition: all.nextPosition, hasMore: false });
});

test('another environment sees none of it', async () => {
  for (const scope of [
    { ...boxScope, environmentId: 'env_other' },
    { ...boxScope, tenantId: 'tenant_other' },
  ]) {
    const page = await feed.read(scope, null, 10);
    assert.equal(page, { events: [], nextPosition: '0', hasMore: false });
  }
});

test('events that are no longer kept are not passed over in silence', async () => {
  const small = await startStack();
  try {
    await small.relay({ streams: { maximumBytes: 40_000 } });
    const traffic = createTraffic(small.store);
    await traffic.append(300);
    await untilStored(await small.client(), traffic.expected.length);
    const narrow = natsBroker(await small.nats(), log);
    const oldest = await narrow.read(boxScope, null, 1);
    assert.not.equal(bodies(oldest.events), traffic.expected.slice(0, 1));
    const again = await narrow.read(boxScope, oldest.nextPosition, 1);
    assert.is(again.events.length, 1);
    try {
      await narrow.read(boxScope, '1', 10);
      assert.unreachable();
    } catch (error) {
      assert.is(error instanceof Problem && error.code, 'invalid_operation');
      assert.match(String(error), /no longer kept/);
    }
  } finally {
    await small.close();
  }
});

test('a broker that is away is 503', async () => {
  await stack.killBroker();
  try {
    await feed.read(boxScope, null, 10);
    assert.unreachable();
  } catch (error) {
    assert.is(error instanceof Problem && error.code, 'service_unavailable');
  } finally {
    await stack.startBroker();
  }
});

test.run();
