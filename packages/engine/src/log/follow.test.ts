import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { createOrderCheck, followLog } from './follow.ts';
import { UnreadableEvent } from './incoming-event.ts';
import { collect, errorOf, sampleEvent } from './sample-events.ts';
import { ConsumerTooSlow, type LogItem, type Position } from './types.ts';

const test = suite('follow');

const eventAt = (position: Position): LogItem => ({
  kind: 'event',
  event: { ...sampleEvent(), stream: 'wallet-env_1.w1', revision: Number(position), position },
});
const positionOf = (item: LogItem): Position =>
  item.kind === 'event' ? item.event.position : item.kind === 'checkpoint' ? item.position : -1n;

type Connection = (after: Position) => AsyncIterable<readonly LogItem[]>;

/** Follows a script of connections, one after the other; the last one aborts. */
async function follow(script: readonly Connection[], after?: () => Position | Promise<Position>) {
  const controller = new AbortController();
  const log: string[] = [];
  let handled = 0n;
  let connections = 0;
  const items = followLog({
    connect: (position) => {
      const connection = script[connections];
      connections += 1;
      log.push(`connect ${position}`);
      if (connection) return connection(position);
      controller.abort();
      return nothing();
    },
    after: after ?? (() => handled),
    signal: controller.signal,
    backOff: {
      next: () => {
        log.push('wait');
        return 0;
      },
      reset: () => log.push('reset'),
    },
    onLost: (error) => log.push(`lost: ${error.message}`),
  });
  for await (const batch of items) {
    log.push(`batch ${batch.map(positionOf).join(' ')}`);
    handled = positionOf(batch.at(-1) as LogItem);
  }
  return log;
}

async function* nothing(): AsyncGenerator<readonly LogItem[]> {}

test('subscribes again from where the consumer is, whatever ended the subscription', async () => {
  const log = await follow([
    async function* () {
      yield [eventAt(1n), eventAt(2n)];
      throw new Error('cut');
    },
    async function* () {
      yield [eventAt(3n)];
    },
    () => {
      throw new Error('refused');
    },
  ]);
  assert.equal(log, [
    'connect 0',
    'reset',
    'batch 1 2',
    'lost: cut',
    'wait',
    'connect 2',
    'reset',
    'batch 3',
    'lost: the event store ended the subscription',
    'wait',
    'connect 3',
    'lost: refused',
    'wait',
    'connect 3',
  ]);
});

test('comes back at once, and tells nobody, when more came at once than the store keeps', async () => {
  const cut = () => new ConsumerTooSlow('Consumer too slow');
  const log = await follow([
    async function* () {
      yield [eventAt(1n)];
      throw cut();
    },
    async function* () {
      yield [eventAt(2n)];
      throw cut();
    },
    // One that brought nothing is a loss like every other, so that this never turns in a circle.
    () => {
      throw cut();
    },
  ]);
  assert.equal(log, [
    'connect 0',
    'reset',
    'batch 1',
    'connect 1',
    'reset',
    'batch 2',
    'connect 2',
    'lost: Consumer too slow',
    'wait',
    'connect 2',
  ]);
});

test('waits out an error of the question where to begin', async () => {
  let asked = 0;
  const log = await follow([], () => {
    asked += 1;
    if (asked === 1) throw new Error('database is away');
    return 5n;
  });
  assert.equal(log, ['lost: database is away', 'wait', 'connect 5']);
});

test('stops at an event that must not be passed over', async () => {
  const following = follow([
    async function* () {
      yield [eventAt(1n)];
      throw new UnreadableEvent('wallet-env_1.w1', 2, 'its metadata has no hash');
    },
  ]);
  assert.is(
    (await errorOf(following)).message,
    'wallet-env_1.w1@2 cannot be read: its metadata has no hash',
  );
});

test('does nothing when the signal has aborted already', async () => {
  const items = followLog({
    connect: () => {
      throw new Error('must not connect');
    },
    after: () => 0n,
    signal: AbortSignal.abort(),
    backOff: { next: () => 0, reset: () => {} },
    onLost: () => {},
  });
  assert.equal(await collect(items), []);
});

test('drops what the consumer has and every checkpoint that brings nothing new', () => {
  const inOrder = createOrderCheck(5n);
  assert.is(inOrder(eventAt(5n)), null);
  assert.is(inOrder({ kind: 'checkpoint', position: 5n }), null);
  const event = eventAt(6n);
  assert.is(inOrder(event), event);
  assert.is(inOrder({ kind: 'checkpoint', position: 6n }), null);
  const checkpoint: LogItem = { kind: 'checkpoint', position: 8n };
  assert.is(inOrder(checkpoint), checkpoint);
  assert.equal(inOrder({ kind: 'caught_up' }), { kind: 'caught_up' });
});

test('refuses an event from before one that was handed over', () => {
  const inOrder = createOrderCheck(0n);
  inOrder(eventAt(6n));
  assert.throws(() => inOrder(eventAt(6n)), /position 6 comes after 6/);
  assert.throws(() => inOrder(eventAt(4n)), /position 4 comes after 6/);
});

test.run();
