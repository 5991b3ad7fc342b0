import { Readable } from 'node:stream';
import { mock } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { batchesOfCall, type CallOptions } from './call-batches.ts';
import { collect, errorOf } from './sample-events.ts';
import { StoreUnavailable } from './types.ts';

const test = suite('call-batches');

const explain = (error: unknown): unknown => error;

/** A call that counts up, for ever or to an end, and records what is done to it. */
function counting(end = Number.POSITIVE_INFINITY) {
  let produced = 0;
  let cancelled = 0;
  const readable = new Readable({
    objectMode: true,
    read() {
      produced += 1;
      this.push(produced > end ? null : [produced]);
    },
  });
  const open = () => ({
    readable: Promise.resolve(readable),
    cancel: async () => {
      cancelled += 1;
    },
    explain,
  });
  return { readable, open, produced: () => produced, cancelled: () => cancelled };
}

/** A call that says nothing by itself. */
function silent() {
  let cancelled = 0;
  const readable = new Readable({ objectMode: true, read() {} });
  const cancel = async () => {
    cancelled += 1;
  };
  const open = () => ({ readable: Promise.resolve(readable), cancel, explain });
  return { readable, open, cancelled: () => cancelled };
}

const batches = (
  open: CallOptions<number, number>['open'],
  more: Partial<CallOptions<number, number>> = {},
) =>
  batchesOfCall<number, number>({
    what: 'read of numbers',
    open,
    accept: (number) => number,
    signals: [],
    maximum: 10,
    silenceMilliseconds: 60_000,
    ...more,
  });

test('gives every item once and in order', async () => {
  const { open, cancelled } = counting(1_000);
  const numbers = (await collect(batches(open))).flat();
  assert.equal(
    numbers,
    Array.from({ length: 1_000 }, (_, index) => index + 1),
  );
  assert.is(cancelled(), 0);
});

test('takes apart what came together, up to what cannot be accepted', async () => {
  const { readable, open } = silent();
  readable.push([1, 2]);
  readable.push([3, 4, 5]);
  const accepted: number[] = [];
  const accept = (number: number) => {
    accepted.push(number);
    if (number === 4) throw new Error('no 4');
    return number;
  };
  const taken: number[] = [];
  const reading = async () => {
    for await (const batch of batches(open, { accept })) taken.push(...batch);
  };
  assert.match((await errorOf(reading())).message, /no 4/);
  assert.equal(
    [taken, accepted],
    [
      [1, 2, 3],
      [1, 2, 3, 4],
    ],
  );
});

test('leaves out what means nothing', async () => {
  const accept = (number: number) => (number % 2 === 0 ? number : null);
  assert.equal((await collect(batches(counting(6).open, { accept }))).flat(), [2, 4, 6]);
});

test('fails as the error explains itself when the call never comes about', async () => {
  const { open, cancelled } = silent();
  const refused = {
    ...open(),
    readable: Promise.reject(new Error('x')),
    explain: () => ({ type: 'invalid-argument', message: 'no' }),
  };
  const error = await errorOf(collect(batches(() => refused)));
  assert.is(error.message, 'read of numbers: invalid-argument, no');
  assert.is(cancelled(), 1);
});

test('cancels a call that comes about after it was given up, and survives its errors', async () => {
  const { readable, open, cancelled } = silent();
  let begin: (value: Readable) => void = () => {};
  const late = new Promise<Readable>((resolve) => {
    begin = resolve;
  });
  const options = { silenceMilliseconds: 10 };
  const error = await errorOf(collect(batches(() => ({ ...open(), readable: late }), options)));
  assert.instance(error, StoreUnavailable);
  begin(readable);
  await nextTurn();
  readable.emit('error', new Error('late'));
  assert.is(cancelled(), 1);
});

test('cancels the call when the consumer breaks off, returns or throws', async () => {
  const broken = counting();
  for await (const _ of batches(broken.open)) break;
  assert.is(broken.cancelled(), 1);

  const returned = counting();
  const iterator = batches(returned.open);
  await iterator.next();
  await iterator.return();
  assert.is(returned.cancelled(), 1);

  const thrown = counting();
  await errorOf(
    (async () => {
      for await (const _ of batches(thrown.open)) throw new Error('consumer');
    })(),
  );
  assert.is(thrown.cancelled(), 1);
});

test('takes no more from the server than a bounded number while the consumer is busy', async () => {
  const { open, produced } = counting();
  for await (const _ of batches(open, { maximum: 10 })) {
    for (let turn = 0; turn < 50; turn += 1) await nextTurn();
    assert.ok(produced() < 400, `${produced()} were produced`);
    break;
  }
});

test('gives what came before an error and then the error', async () => {
  const { readable, open, cancelled } = silent();
  const iterator = batches(open);
  const first = iterator.next();
  readable.push([1]);
  readable.push([2]);
  await nextTurn();
  await nextTurn();
  readable.emit('error', Object.assign(new Error('lost'), { type: 'unavailable' }));
  assert.equal((await first).value, [1, 2]);
  const error = await errorOf(iterator.next());
  assert.instance(error, StoreUnavailable);
  assert.is(error.message, 'read of numbers: unavailable, lost');
  assert.is(cancelled(), 1);
});

test('takes a stream that was never written for an empty one', async () => {
  const { readable, open } = silent();
  const all = collect(batches(open));
  await nextTurn();
  readable.emit('error', Object.assign(new Error('x'), { type: 'stream-not-found' }));
  assert.equal(await all, []);
});

test('ends when the call closes without a word', async () => {
  const { readable, open } = silent();
  const all = collect(batches(open));
  await nextTurn();
  readable.emit('close');
  assert.equal(await all, []);
});

test('survives errors after its end', async () => {
  const { readable, open } = silent();
  const all = collect(batches(open));
  await nextTurn();
  readable.emit('error', new Error('first'));
  await errorOf(all);
  readable.emit('error', new Error('second'));
});

test('stops at an item that cannot be accepted, after those before it', async () => {
  const accept = (number: number) => {
    if (number === 3) throw new Error('unreadable');
    return number;
  };
  const iterator = batches(counting(5).open, { accept });
  assert.equal((await iterator.next()).value, [1, 2]);
  assert.is((await errorOf(iterator.next())).message, 'unreadable');
});

test('throws the reason when a signal aborts, so that nothing looks complete', async () => {
  const controller = new AbortController();
  const { open, cancelled } = silent();
  const all = collect(batches(open, { signals: [controller.signal] }));
  controller.abort(new Error('stop'));
  assert.is((await errorOf(all)).message, 'stop');
  assert.is(cancelled(), 1);
  const never = batches(open, { signals: [controller.signal] });
  assert.is((await errorOf(never.next())).message, 'stop');
});

test('gives nothing more after a signal aborted', async () => {
  const controller = new AbortController();
  const iterator = batches(counting().open, { signals: [controller.signal] });
  await iterator.next();
  controller.abort(new Error('stop'));
  assert.is((await errorOf(iterator.next())).message, 'stop');
});

test('fails when the server sends nothing while it is waited for', async () => {
  const { open, cancelled } = silent();
  const error = await errorOf(collect(batches(open, { silenceMilliseconds: 10 })));
  assert.instance(error, StoreUnavailable);
  assert.is(error.message, 'read of numbers: no answer within 10 ms');
  assert.is(cancelled(), 1);
});

test('fails when a live call never says anything', async () => {
  const { open } = silent();
  const options = { silenceMilliseconds: 10, isLive: true };
  assert.instance(await errorOf(collect(batches(open, options))), StoreUnavailable);
});

test('lets a live call be silent once it has said anything, if only that it has begun', async () => {
  const { readable, open } = silent();
  const accept = (number: number) => (number === 0 ? null : number);
  const iterator = batches(open, { silenceMilliseconds: 10, isLive: true, accept });
  const first = iterator.next();
  readable.push([0]);
  // The watch of another, silent call that began later has run out by then.
  await errorOf(collect(batches(silent().open, { silenceMilliseconds: 20 })));
  readable.push([1]);
  assert.equal((await first).value, [1]);
  await iterator.return();
});

/** Puts a timer that only the test moves on in the place of the next one that is set. */
function timerByHand() {
  let [now, due] = [0, Number.POSITIVE_INFINITY];
  let expire = (): void => {};
  const set = (callback: () => void, milliseconds: number) => {
    const refresh = (): void => {
      due = now + milliseconds;
    };
    refresh();
    expire = callback;
    return { refresh };
  };
  const { mock: replaced } = mock.method(globalThis, 'setTimeout', set as never);
  const pass = (milliseconds: number): void => {
    now += milliseconds;
    if (now >= due) expire();
  };
  return { pass, restore: () => replaced.restore() };
}

test('is not silent while it sends what means nothing', async () => {
  const { readable, open } = silent();
  const accept = (number: number) => (number === 0 ? null : number);
  const timer = timerByHand();
  const first = batches(open, { silenceMilliseconds: 400, accept }).next();
  timer.restore();
  // All of them together take longer than the call may be silent.
  for (let round = 0; round < 4; round += 1) {
    await nextTurn();
    timer.pass(300);
    readable.push([0]);
  }
  readable.push([1]);
  assert.equal((await first).value, [1]);
});

test.run();
