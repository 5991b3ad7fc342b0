import { ConsumerEvents, type ConsumerStatus, type JsMsg } from 'nats';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { unbroken } from './nats-unbroken.ts';

const test = suite('messages without a break');

/** A list that is filled while it is read, and ends when it is told to. */
function openList<Item>() {
  const items: Item[] = [];
  let isEnded = false;
  let wake = Promise.withResolvers<void>();
  const turn = (): void => {
    wake.resolve();
    wake = Promise.withResolvers();
  };
  return {
    add: (item: Item): void => {
      items.push(item);
      turn();
    },
    end: (): void => {
      isEnded = true;
      turn();
    },
    async *[Symbol.asyncIterator](): AsyncGenerator<Item> {
      for (;;) {
        const item = items.shift();
        if (item !== undefined) yield item;
        else if (isEnded) return;
        else await wake.promise;
      }
    },
  };
}

/** A broker's side that is played by hand. */
function consumer() {
  const messages = openList<JsMsg>();
  const statuses = openList<ConsumerStatus>();
  const stop = (): void => {
    messages.end();
    statuses.end();
  };
  return {
    stop,
    deliver: (deliverySequence: number) => messages.add({ info: { deliverySequence } } as JsMsg),
    missHeartbeats: () => statuses.add({ type: ConsumerEvents.HeartbeatsMissed, data: 2 }),
    reading: unbroken({
      stop,
      status: async () => statuses,
      [Symbol.asyncIterator]: () => messages[Symbol.asyncIterator](),
    }),
  };
}

const failureOf = (promise: Promise<unknown>): Promise<string> =>
  promise.then(
    () => 'none',
    (error: Error) => error.message,
  );

const settled = () => new Promise((resolve) => setImmediate(resolve));

test('messages come in order until they are stopped', async () => {
  const { deliver, stop, reading } = consumer();
  deliver(1);
  deliver(2);
  assert.is((await reading.next()).value?.info.deliverySequence, 1);
  assert.is((await reading.next()).value?.info.deliverySequence, 2);
  stop();
  assert.is((await reading.next()).done, true);
});

test('a message that was left out is told', async () => {
  const { deliver, reading } = consumer();
  deliver(1);
  deliver(3);
  await reading.next();
  assert.match(await failureOf(reading.next()), 'left out delivery 2');
});

test('a broker that is silent while the reader waits is told, after what it had sent', async () => {
  const { deliver, missHeartbeats, reading } = consumer();
  deliver(1);
  await reading.next();
  const waiting = failureOf(reading.next());
  await settled();
  missHeartbeats();
  assert.match(await waiting, 'fallen silent');
});

test('heartbeats that are missed while the reader is busy are its own affair', async () => {
  const { deliver, missHeartbeats, reading } = consumer();
  deliver(1);
  await reading.next();
  missHeartbeats();
  await settled();
  deliver(2);
  assert.is((await reading.next()).value?.info.deliverySequence, 2);
});

test.run();
